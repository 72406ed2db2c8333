"""Edit a memory board in place, start one from its template, refuse those of another layout."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from compute_budget_planner.errors import RequestError, nearest
from compute_budget_planner.markdown.board_entries import (
    ActionRow,
    ConventionRow,
    EvidenceRow,
    HandoffRow,
    RiskRow,
    TableEntry,
)
from compute_budget_planner.markdown.board_page import bare
from compute_budget_planner.markdown.board_rows import BoardEdit, put_row
from compute_budget_planner.markdown.board_search import subject_of
from compute_budget_planner.markdown.decision_log import (
    LOG,
    PREFIX,
    DecisionBlock,
    append_decision,
)
from compute_budget_planner.markdown.escape import escaped

COUNTERS = {
    "RSK": "risk",
    "EVD": "evidence",
    PREFIX: "decision",
    "ACT": "action",
    "HND": "handoff",
}
"""The counter in `memory/project.yaml` each prefix is counted by; conventions have none."""

LEDGER = "lab/research/experiment-ledger.yaml"
"""A ledger of experiments other tools parse; it is never written."""

Entry = TableEntry | DecisionBlock

BOARDS = (
    RiskRow.table.board,
    LOG,
    EvidenceRow.table.board,
    ActionRow.table.board,
    HandoffRow.table.board,
    ConventionRow.table.board,
)
"""The boards that are written, as paths from the project root."""


@dataclass(frozen=True)
class BoardUpdate:
    """A board with all its entries, what became of each, and counters to be raised by name."""

    text: str
    edits: tuple[BoardEdit, ...]
    counters: Mapping[str, int]


def board_edit(
    board: str, text: str, entries: Sequence[Entry], counters: Mapping[str, int]
) -> BoardUpdate:
    """Return a board (one of `BOARDS`) with these entries put in, one after the other.

    `counters` are the project's, by the names of `COUNTERS`.

    Raises:
        RequestError: the board is not one of ours, an entry belongs to another one, or two
            entries have one subject.
        FormatError: the board has no place for an entry.
    """
    refuse_yaml_boards([board])
    if board not in BOARDS:
        raise RequestError("this board is not written", where=board, remedy=nearest(board, BOARDS))
    edits: list[BoardEdit] = []
    raised: dict[str, int] = {}
    seen: set[str] = set()
    for entry in entries:
        prefix, subject = _known_by(entry, board)
        if bare(subject) in seen:
            raise RequestError(
                f"two entries are about `{subject}`", where=board, remedy="Keep one of them."
            )
        seen.add(bare(subject))
        counter = raised.get(prefix, counters.get(COUNTERS.get(prefix, ""), 0))
        edit = (
            append_decision(text, entry, counter)
            if isinstance(entry, DecisionBlock)
            else put_row(text, entry.table, entry.subject, entry.cells, counter)
        )
        if edit.action == "added":
            raised[prefix] = int(edit.id.rpartition("-")[2])
        edits.append(edit)
        text = edit.text
    named = {COUNTERS[prefix]: value for prefix, value in raised.items() if prefix in COUNTERS}
    return BoardUpdate(text, tuple(edits), named)


def refuse_yaml_boards(paths: Collection[str]) -> None:
    """Refuse a project that keeps its memory as YAML: text would corrupt what tools parse.

    Raises:
        RequestError: one of these paths is a YAML board or the experiment ledger.
    """
    for path in paths:
        if path == LEDGER:
            raise RequestError(
                "this ledger has a schema of its own and is not written",
                where=path,
                remedy="Copy the wall-clock range of the budget into the experiment's "
                "`expected_runtime` before it is approved.",
            )
        if path.startswith("memory/boards/") and path.endswith((".yaml", ".yml")):
            raise RequestError(
                "boards in YAML have a schema of their own and are not written",
                where=path,
                remedy="Record risks, decisions and evidence with the project's own tool; the "
                "figures are in the budget file.",
            )


def from_template(board: str, templates: Mapping[str, str], project_name: str) -> str:
    """Return a new board for a project; `templates` are the shipped pages by file name.

    Raises:
        RequestError: there is no template for this board.
    """
    name = board.rpartition("/")[2]
    if name not in templates:
        raise RequestError(
            "the board does not exist, and there is no template for it",
            where=board,
            remedy="Create it with `research-project-memory`. Templates: "
            + ", ".join(f"`{known}`" for known in sorted(templates))
            + ".",
        )
    return templates[name].replace("{{PROJECT_NAME}}", escaped(project_name))


def _known_by(entry: Entry, board: str) -> tuple[str, str]:
    """Return the prefix and the subject of an entry that belongs to this board."""
    if isinstance(entry, DecisionBlock):
        home, prefix, subject = LOG, PREFIX, entry.title
    else:
        home, prefix, subject = entry.table.board, entry.table.prefix, entry.subject
    if home != board:
        raise RequestError(f"{prefix} entries do not belong here", where=board, remedy=f"`{home}`.")
    return prefix, subject_of(subject)
