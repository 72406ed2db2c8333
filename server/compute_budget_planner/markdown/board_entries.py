"""What we write on memory boards with tables: one kind of row each, in the board's own words.

An estimate is never shown as observed: what is planned is `inferred`. Risks begin `open`, and
whatever people make of a row afterwards is theirs (see `board_rows`). Every row has a `subject`,
by which it is found again, and `date` is `YYYY-MM-DD`.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from compute_budget_planner.markdown.board_search import TableKind

_OURSELVES = "compute-budget-planner"


@dataclass(frozen=True)
class RiskRow:
    """A cost that endangers a claim.

    `summary` is one sentence with the figures that severity and probability rest on: as long as
    it stays the same, so do they. `threatens` are claims, `actions` the actions linked.
    """

    table: ClassVar[TableKind] = TableKind(
        board="memory/risk-board.md",
        prefix="RSK",
        text="Summary",
        judged=frozenset({"Severity", "Probability", "Mitigation", "Certainty"}),
        links=frozenset({"Threatens", "Actions"}),
        progress=("open",),
        settled=frozenset({"mitigated", "accepted", "closed"}),
    )

    kind: Literal["execution", "reproducibility", "reviewer"]
    severity: Literal["medium", "high", "fatal"]
    probability: Literal["medium", "high"]
    subject: str
    summary: str
    threatens: tuple[str, ...]
    mitigation: str
    date: str
    actions: tuple[str, ...] = ()

    @property
    def cells(self) -> dict[str, str]:
        """The cells by column; the text cell without its subject."""
        return {
            "Kind": self.kind,
            "Status": "open",
            "Severity": self.severity,
            "Probability": self.probability,
            "Summary": self.summary,
            "Threatens": ", ".join(self.threatens),
            "Mitigation": self.mitigation,
            "Actions": ", ".join(self.actions),
            "Certainty": "inferred",
            "Updated": self.date,
        }


@dataclass(frozen=True)
class EvidenceRow:
    """Compute the paper will cite: `planned` while estimated, `available` once observed.

    `source_paths` are repo paths: the budget, and the logs once there are some.
    """

    table: ClassVar[TableKind] = TableKind(
        board="memory/evidence-board.md",
        prefix="EVD",
        text="Summary",
        judged=frozenset({"Certainty"}),
        links=frozenset({"Source paths", "Supports"}),
        progress=("needed", "pending", "planned", "available"),
        settled=frozenset({"verified", "provisional", "stale", "contradictory", "cut"}),
    )

    status: Literal["planned", "available"]
    subject: str
    summary: str
    source_paths: tuple[str, ...]
    supports: tuple[str, ...]
    date: str

    @property
    def cells(self) -> dict[str, str]:
        """The cells by column; the text cell without its subject."""
        return {
            "Kind": "analysis",
            "Status": self.status,
            "Summary": self.summary,
            "Source paths": ", ".join(self.source_paths),
            "Supports": ", ".join(self.supports),
            "Certainty": "observed" if self.status == "available" else "inferred",
            "Updated": self.date,
        }


@dataclass(frozen=True)
class ActionRow:
    """Something to do about a risk; `links` are the ids it belongs to."""

    table: ClassVar[TableKind] = TableKind(
        board="memory/action-board.md",
        prefix="ACT",
        text="Summary",
        judged=frozenset({"Next step"}),
        links=frozenset({"Links"}),
        progress=("todo",),
        settled=frozenset({"done", "cancelled"}),
    )

    subject: str
    summary: str
    links: tuple[str, ...]
    next_step: str
    date: str
    owner: Literal["user", "agent"] = "agent"

    @property
    def cells(self) -> dict[str, str]:
        """The cells by column; the text cell without its subject."""
        return {
            "Status": "todo",
            "Owner": self.owner,
            "Component": "code",
            "Summary": self.summary,
            "Links": ", ".join(self.links),
            "Next step": self.next_step,
            "Updated": self.date,
        }


@dataclass(frozen=True)
class HandoffRow:
    """Sized jobs handed to `run-experiment`; `linked` are ids, `payload` says what is handed."""

    table: ClassVar[TableKind] = TableKind(
        board="memory/handoff-board.md",
        prefix="HND",
        text="Payload",
        judged=frozenset({"Expected output", "Acceptance check", "Staleness trigger", "Certainty"}),
        links=frozenset({"Source paths", "Linked objects", "Linked IDs"}),
        progress=("proposed", "ready"),
        settled=frozenset({"consumed", "cancelled"}),
    )

    status: Literal["proposed", "ready"]
    subject: str
    payload: str
    source_paths: tuple[str, ...]
    expected_output: str
    linked: tuple[str, ...]
    acceptance_check: str
    staleness_trigger: str
    date: str

    @property
    def cells(self) -> dict[str, str]:
        """The cells by column, of both forms this board is found in."""
        linked = ", ".join(self.linked)
        return {
            "Status": self.status,
            "Producer": _OURSELVES,
            "Consumer": "run-experiment",
            "From": "code",
            "To": "code",
            "Payload": self.payload,
            "Source paths": ", ".join(self.source_paths),
            "Expected output": self.expected_output,
            "Linked objects": linked,
            "Linked IDs": linked,
            "Acceptance check": self.acceptance_check,
            "Staleness trigger": self.staleness_trigger,
            "Certainty": "inferred",
            "Updated": self.date,
        }


@dataclass(frozen=True)
class ConventionRow:
    """A rule about compute that holds in the whole project, such as its GPU-hours."""

    table: ClassVar[TableKind] = TableKind(
        board="memory/project-conventions.md",
        prefix="PC",
        text="Rule",
        needed=("Since",),  # the tables of suspended and expired rules have none
        judged=frozenset({"Notes"}),
    )

    subject: str
    rule: str
    since: str
    notes: str = ""

    @property
    def cells(self) -> dict[str, str]:
        """The cells by column; the text cell without its subject."""
        return {
            "Rule": self.rule,
            "Category": "compute",
            "Since": self.since,
            "Notes": self.notes,
        }


TableEntry = RiskRow | EvidenceRow | ActionRow | HandoffRow | ConventionRow
