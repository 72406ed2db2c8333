"""`experiment_plan_*.md`: the run matrix, the seeds asked for, data, model and compute.

The planner's own form has no priorities; they are assigned later from purposes, claims and
required seeds. A matrix written by hand may have them, with a cost multiplier beside.
"""

import re
from collections.abc import Iterator

from compute_budget_planner.guide.reference import Reference, spelling
from compute_budget_planner.readers.compute_wishes import ceiling_values, compute_values
from compute_budget_planner.readers.contract import (
    Basis,
    Layer,
    Problem,
    Reading,
    SourceFile,
    Variant,
)
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.plan_markdown import (
    EMPTY_CELLS,
    PlanRow,
    PlanTable,
    Section,
    read_sections,
)
from compute_budget_planner.readers.seed_counts import seed_count
from compute_budget_planner.workload.facts import FactValue

_TITLE = re.compile(r"(?mi)^#\s+Experiment Design Plan\b")
_MATRIX = re.compile(r"(?mi)^#+\s*(?:\d+\.\s*)?Run Matrix\s*$")
_SHORT_FORM = re.compile(
    r"(?mi)^[ ]{0,3}\|?[ *`]{0,9}(?:Variant|变体)[ *`]{0,99}"
    r"\|[ *`]{0,9}(?:Changed variable|变更变量)[ *`]{0,99}\|"
)
_SWITCH = {"on": True, "off": False, "✓": True, "✗": False}
_MOST_VARIANTS = 500
_ENGLISH = {
    "变体": "variant",
    "变更变量": "changed variable",
    "成本倍数": "cost multiplier",
    "优先级": "priority",
    "种子": "seeds",
}
_PRIORITIES = {
    **dict.fromkeys(("required", "must-have", "must-run", "必需", "必须", "必要"), "required"),
    **dict.fromkeys(("should-have", "建议", "应有"), "should-have"),
    **dict.fromkeys(("optional", "nice-to-have", "可选"), "optional"),
}
_MULTIPLIER = re.compile(r"[~≈×x]?\s*(\d{1,6}(?:\.\d{1,6})?)\s*[×x]?", re.I)
_CLAIM = re.compile(r"\bCLM-(?:[A-Z]{1,8}-)?\d{1,6}\b")
_CLAIM_COLUMNS = ("purpose", "expected result", "expected", "claim", "claims")


class DesignPlanReader:
    """A plan that says which runs an experiment consists of."""

    format = "design_plan"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a Markdown file has the plan's title, a run matrix or its short form."""
        if not file.name.lower().endswith(".md"):
            return False
        forms = (_TITLE, _MATRIX, _SHORT_FORM)
        return any(form.search(file.text) for form in forms)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the variants, and the facts its bullets state.

        Raises:
            FormatError: never; what is missing is a problem of the reading.
        """
        sections = read_sections(file.text)
        fields = {key: value for section in sections for key, value in section.fields.items()}
        required = seed_count(fields.get("required repeats/seeds", ("", 0))[0])
        variants, problems = _variants(file, sections, required or 1)
        facts, more = direct_facts(
            _unique(_values(file, sections, fields, reference)),
            Basis.CONFIGURED,
            Layer.CONFIG,
            reference,
        )
        return Reading(
            path=file.path,
            format=self.format,
            kind="plan",
            facts=facts,
            problems=(*problems, *more),
            variants=variants,
            notes=_notes(file, fields),
        )


def _values(
    file: SourceFile,
    sections: list[Section],
    fields: dict[str, tuple[str, int]],
    reference: Reference,
) -> Iterator[DirectValue]:
    seeds, line = fields.get("required repeats/seeds", ("", 0))
    yield "seeds", seed_count(seeds), file.at(line)
    data, line = fields.get("dataset/split", ("", 0))
    name = re.split(r"\s/\s|,|;|\(", data)[0].strip()
    yield "dataset", None if name.lower() in EMPTY_CELLS else name[:200], file.at(line)
    model, line = fields.get("model/method", ("", 0))
    words = re.split(r"\s\+\s|,|;|\(|\swith\s", model)[0].strip()
    yield "model", words if reference.find_model(words) else None, file.at(line)
    compute, line = fields.get("compute", ("", 0))
    yield from compute_values(compute, file.at(line), reference)
    for section in sections:
        if section.title.startswith("stop conditions"):
            for text, line in section.texts:
                yield from ceiling_values(text[:1000], file.at(line))


def _unique(values: Iterator[DirectValue]) -> list[DirectValue]:
    """Keep the first statement of each fact."""
    first: dict[str, DirectValue] = {}
    for value in values:
        if value[1] is not None:
            first.setdefault(value[0], value)
    return list(first.values())


def _notes(file: SourceFile, fields: dict[str, tuple[str, int]]) -> dict[str, FactValue]:
    notes: dict[str, FactValue] = {}
    for key, name in (
        ("mode", "mode"),
        ("target claim", "target_claim"),
        ("compute", "compute"),
        ("required ablations", "required_ablations"),
    ):
        text = fields.get(key, ("", 0))[0]
        if text.lower() not in EMPTY_CELLS:
            notes[name] = text[:300]
    status = re.search(r"\b(READY_TO_RUN|NEEDS_(?:BASELINE|METRIC|SCOPE|DATA))\b", file.text)
    if status:
        notes["status"] = status[1]
    return notes


def _variants(
    file: SourceFile, sections: list[Section], required_seeds: int
) -> tuple[tuple[Variant, ...], tuple[Problem, ...]]:
    found: list[Variant] = []
    problems: list[Problem] = []
    for table in _matrices(sections):
        for number, row in enumerate(table.rows, start=1):
            if all(cell.lower() in EMPTY_CELLS for cell in row.cells.values()):
                continue
            variant, more = _variant(file, table, row, number, required_seeds)
            found.append(variant)
            problems += more
    if not found:
        line = next((s.line for s in sections if s.title == "run matrix"), 1)
        text = "the plan lists no runs; fill in the table under `Run Matrix`"
        problems.append(Problem(file.at(line), text))
    if len(found) > _MOST_VARIANTS:
        text = f"only the first {_MOST_VARIANTS} of {len(found)} runs were read"
        problems.append(Problem(file.path, text))
    return tuple(found[:_MOST_VARIANTS]), tuple(problems)


def _matrices(sections: list[Section]) -> Iterator[PlanTable]:
    """Yield the tables under `Run Matrix`, and those of the short form wherever they stand."""
    for section in sections:
        for table in section.tables:
            short = {_ENGLISH.get(column, column) for column in table.columns}
            if section.title == "run matrix" or {"variant", "changed variable"} <= short:
                yield table


def _variant(
    file: SourceFile, table: PlanTable, row: PlanRow, number: int, required_seeds: int
) -> tuple[Variant, list[Problem]]:
    where = file.at(row.line)
    cells = {_ENGLISH.get(column, column): cell for column, cell in row.cells.items()}
    stated = {name: "" if cell.lower() in EMPTY_CELLS else cell for name, cell in cells.items()}
    name = cells.get("run id", "") or cells.get("run", "") or cells.get("variant", "")
    change = cells.get("change", "") or cells.get("changed variable", "") or _factors(table, row)
    seeds = seed_count(stated.get("seeds", ""))
    priority = _PRIORITIES.get(spelling(stated.get("priority", "")), "")
    multiplier = _multiplier(stated.get("cost multiplier", ""))
    problems = [
        Problem(where, f"`{column.capitalize()}` is {cells[column][:40]!r}; {remedy}")
        for column, missing, remedy in (
            ("seeds", seeds is None, "write a count, a list or a range such as 0-4"),
            ("priority", not priority, "write required, should-have or optional"),
            ("cost multiplier", multiplier is None, "write a number above 0 such as 1.5×"),
        )
        if missing and stated.get(column)
    ]
    claims = (c for column in _CLAIM_COLUMNS for c in _CLAIM.findall(stated.get(column, "")))
    variant = Variant(
        name=(name or f"row-{number}")[:100],
        change=change[:300],
        seeds=seeds or required_seeds,
        purpose=cells.get("purpose", "")[:300],
        source=where,
        claims=tuple(dict.fromkeys(claims)),
        priority=priority,
        multiplier=multiplier,
        dataset=re.split(r"\s/\s", stated.get("dataset/split", ""))[0].strip()[:200],
        controls=stated.get("fixed controls", "")[:300],
    )
    return variant, problems


def _multiplier(text: str) -> float | None:
    """Return a cost multiplier above 0: `1.5`, `1.5×`, `~2x`; None when it is none."""
    match = _MULTIPLIER.fullmatch(text.strip())
    return float(match[1]) or None if match else None


def _factors(table: PlanTable, row: PlanRow) -> str:
    """Write the on/off cells of a factorial plan as a change: `attention=off, mixup=on`."""
    states = ((column, row.cells.get(column, "").lower()) for column in table.columns)
    return ", ".join(
        f"{column}={'on' if _SWITCH[state] else 'off'}"
        for column, state in states
        if state in _SWITCH
    )


READER = DesignPlanReader()
