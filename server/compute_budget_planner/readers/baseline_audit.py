"""`baseline_selection_audit_*.md`: the baselines to run, how fair they are, their tuning trials.

A baseline is put together from the candidate pool, the fairness ledger and the tuning ledger,
which name it alike. What an audit requires becomes a priority only in planning.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from compute_budget_planner.errors import nearest
from compute_budget_planner.guide.reference import Reference, spelling
from compute_budget_planner.readers.contract import (
    Baseline,
    Basis,
    Layer,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.direct_facts import direct_facts
from compute_budget_planner.readers.plan_markdown import (
    EMPTY_CELLS,
    PlanRow,
    Section,
    read_sections,
)
from compute_budget_planner.readers.trial_counts import trial_count

_TITLE = re.compile(
    r"(?mi)^#[ \t]+Baseline Selection Audit\b|^#{1,6}[ \t]+Candidate Baseline Pool[ \t]*$"
)
_REQUIREMENTS = ("must-have", "should-have", "optional", "not-comparable", "citation-only")
_EXCLUDED = ("not-comparable", "citation-only")
_VERDICTS = (
    *("fair", "fair-with-caveat", "needs-matched-run", "not-directly-comparable"),
    *("unverified", "blocked"),
)
_NAME_COLUMN = {
    "candidate baseline pool": "candidate",
    "selected baseline set": "baseline",
    "fairness ledger": "baseline",
    "tuning budget ledger": "method",
    "excluded or citation-only baselines": "baseline",
}
_OURS = {"ours", "our-method", "our-model", "proposed", "proposed-method", "this-work"}
_REMARK = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_MOST_BASELINES = 500


@dataclass
class _Found:
    """A baseline as far as it has been read."""

    name: str
    source: str
    texts: dict[str, str] = field(default_factory=dict)
    trials: int | None = None


class BaselineAuditReader:
    """An audit of the baselines a paper compares with."""

    format = "baseline_audit"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a Markdown file has the audit's title or its pool of candidates."""
        return file.name.lower().endswith(".md") and bool(_TITLE.search(file.text))

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the baselines, and the tuning trials of the paper's own method as a fact.

        Raises:
            FormatError: never; what is missing or unclear is a problem of the reading.
        """
        audit = _Audit(file)
        for section in read_sections(file.text):
            audit.take(section)
        facts, more = direct_facts(audit.own_trials, Basis.CONFIGURED, Layer.CONFIG, reference)
        return Reading(
            path=file.path,
            format=self.format,
            kind="plan",
            facts=facts,
            problems=(*audit.closing_problems(), *more),
            baselines=tuple(audit.baselines()),
        )


class _Audit:
    """The baselines of one audit, filled section by section."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.found: list[_Found] = []
        self.by_name: dict[str, _Found] = {}
        self.by_plain_name: dict[str, list[_Found]] = {}
        self.problems: list[Problem] = []
        self.own_trials: list[tuple[str, object, str]] = []

    def take(self, section: Section) -> None:
        """Read the tables of a section that speaks of baselines."""
        column = _NAME_COLUMN.get(section.title)
        if column is None:
            return
        for row in (row for table in section.tables for row in table.rows):
            name = row.cells.get(column, "")
            if name.lower() in EMPTY_CELLS:
                continue
            if section.title == "tuning budget ledger":
                self._tuning(name, row)
                continue
            texts = self._entry(name, row).texts
            match section.title:
                case "candidate baseline pool":
                    texts |= self._candidate(row)
                case "fairness ledger":
                    texts["verdict"] = self._word(row, "verdict", _VERDICTS)
                case "excluded or citation-only baselines":
                    self._exclude(texts, row)

    def _candidate(self, row: PlanRow) -> dict[str, str]:
        return {
            "role": spelling(_text(row, "role"))[:60],
            "requirement": self._word(row, "requirement", _REQUIREMENTS),
            "comparison": _text(row, "comparison form")[:200],
        }

    def _exclude(self, texts: dict[str, str], row: PlanRow) -> None:
        """Take the section's own statement, unless the pool wants the baseline to be run."""
        wanted = texts.get("requirement", "")
        if wanted in ("", *_EXCLUDED):
            status = spelling(_text(row, "status"))
            texts["requirement"] = status if status in _EXCLUDED else wanted or "not-comparable"
            return
        text = f"a baseline that the pool calls `{wanted}` is listed as excluded; it is kept"
        self.problems.append(Problem(self.file.at(row.line), text))

    def _tuning(self, name: str, row: PlanRow) -> None:
        where = self.file.at(row.line)
        written = _text(row, "trials")
        trials = trial_count(written)
        if written and trials is None:
            text = f"`Trials` is {written[:40]!r}; write a count such as 20, or 4 × 5"
            self.problems.append(Problem(where, text))
        if spelling(_REMARK.sub(" ", name)) in _OURS:
            self.own_trials += [("tuning_trials", trials, where)][len(self.own_trials) :]
            return
        entry = self._entry(name, row)
        entry.trials = trials
        entry.texts["compute_budget"] = _text(row, "compute budget")[:200]

    def _entry(self, name: str, row: PlanRow) -> _Found:
        """Return the baseline of that name, with or without remarks in brackets; add a new one."""
        word, plain = spelling(name), spelling(_REMARK.sub(" ", name))
        if word in self.by_name:
            return self.by_name[word]
        # `GPT-2 (small)` and `GPT-2 (medium)` are two baselines: both carry a remark.
        alike = [e for e in self.by_plain_name.get(plain, ()) if plain in (word, spelling(e.name))]
        if len(alike) == 1:
            return alike[0]
        entry = _Found(name, self.file.at(row.line))
        self.found.append(entry)
        self.by_name[word] = entry
        self.by_plain_name.setdefault(plain, []).append(entry)
        return entry

    def _word(self, row: PlanRow, column: str, known: Iterable[str]) -> str:
        """Return an enumerated cell in its canonical form, empty when it is none."""
        written = _text(row, column)
        word = spelling(_REMARK.sub(" ", written))
        if word in known or not word:
            return word
        text = f"`{column.capitalize()}` is {written[:40]!r}. {nearest(word, known)}"
        self.problems.append(Problem(self.file.at(row.line), text))
        return ""

    def closing_problems(self) -> Iterator[Problem]:
        """Yield what was noted on the way, then what the audit as a whole lacks."""
        yield from self.problems
        if not self.found:
            text = "the audit names no baselines; fill in the table `Candidate Baseline Pool`"
            yield Problem(self.file.at(1), text)
        for entry in self.found[:_MOST_BASELINES]:
            if "requirement" not in entry.texts:
                text = (
                    f"`{entry.name[:60]}` is not in the candidate pool; give its requirement there"
                )
                yield Problem(entry.source, text)
        if len(self.found) > _MOST_BASELINES:
            text = f"only the first {_MOST_BASELINES} of {len(self.found)} baselines were read"
            yield Problem(self.file.path, text)

    def baselines(self) -> Iterator[Baseline]:
        """Yield the baselines in the order in which the audit first names them."""
        for entry in self.found[:_MOST_BASELINES]:
            yield Baseline(
                name=entry.name[:100],
                role=entry.texts.get("role", ""),
                requirement=entry.texts.get("requirement", ""),
                comparison=entry.texts.get("comparison", ""),
                verdict=entry.texts.get("verdict", ""),
                trials=entry.trials,
                compute_budget=entry.texts.get("compute_budget", ""),
                source=entry.source,
            )


def _text(row: PlanRow, column: str) -> str:
    written = row.cells.get(column, "")
    return "" if written.lower() in EMPTY_CELLS else written


READER = BaselineAuditReader()
