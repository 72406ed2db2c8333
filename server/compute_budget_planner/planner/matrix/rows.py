"""The rows of the ablation matrix: from design plans, baseline audits and the caller."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from compute_budget_planner.errors import FactError, RequestError
from compute_budget_planner.guide.reference import Reference, spelling
from compute_budget_planner.planner.matrix.cost_neutral import neutral_values
from compute_budget_planner.planner.sources.gather import Gathered
from compute_budget_planner.planning.ablations import Priority
from compute_budget_planner.readers.change_clauses import Point
from compute_budget_planner.readers.change_values import ChangedFact
from compute_budget_planner.readers.changes import read_change
from compute_budget_planner.readers.contract import Baseline, Variant
from compute_budget_planner.requests import FactInput, VariantInput
from compute_budget_planner.workload.facts import FactValue
from compute_budget_planner.workload.vocabulary import parse_fact

_SENSITIVITY_WORDS = ("sensitiv", "robust", "tuning", "sweep")
_TUNING_FACTS = {"learning_rate"}
_NOT_RUN = {"not-comparable", "citation-only"}
_NEEDS_RUN = "needs-matched-run"


@dataclass(frozen=True)
class MatrixRow:
    """A row to be costed.

    `points` are the sets of changed facts of one seed (several: a sweep; one empty: unchanged;
    none: not readable); `multiplier` is a stated cost in baselines of one seed; `neutral` says
    that the change costs nothing by the guide.
    """

    name: str
    changed_variable: str
    points: tuple[Point, ...]
    multiplier: float | None
    seeds: int | None
    trials: int
    stated: Priority | None
    claims: tuple[str, ...]
    audit_requirement: str
    named_required: bool
    sensitivity: bool
    is_baseline: bool
    source: str
    problem: str
    neutral: bool = False


@dataclass(frozen=True)
class Matrix:
    """All rows, what they share, the number of seeds required, and what is listed without cost."""

    rows: tuple[MatrixRow, ...]
    controls: Mapping[str, FactValue]
    required_seeds: int | None
    excluded: tuple[str, ...]
    questions: tuple[str, ...]


def build_matrix(
    gathered: Gathered, variants: Sequence[VariantInput], reference: Reference
) -> Matrix:
    """Return the matrix of the gathered plans and audits, the caller's variants over them.

    Raises:
        FactError: a variant of the caller changes an unknown or ill-formed fact.
        RequestError: a variant of the caller has both changes and a multiplier.
    """
    rows: dict[str, MatrixRow] = {}
    required = _required_ablations(gathered)
    for variant in (v for reading in gathered.readings.values() for v in reading.variants):
        rows[spelling(variant.name)] = _of_plan(variant, required, reference)
    excluded: list[str] = []
    for baseline in (b for reading in gathered.readings.values() for b in reading.baselines):
        if baseline.requirement in _NOT_RUN and baseline.verdict != _NEEDS_RUN:
            excluded.append(f"{baseline.name} ({baseline.requirement})")
            rows.pop(spelling(baseline.name), None)
            continue
        key = spelling(baseline.name)
        rows[key] = _with_audit(rows.get(key), baseline)
    for given in variants:
        key = spelling(given.name)
        rows[key] = _of_caller(given, rows.get(key), reference)
    controls, questions = _controls(gathered, reference)
    return Matrix(
        tuple(rows.values()), controls, _required_seeds(gathered), tuple(excluded), questions
    )


def baseline_row(source: str) -> MatrixRow:
    """Return the row of the baseline itself, for a matrix that does not list it."""
    return MatrixRow(
        "baseline", "none", ((),), None, None, 0, None, (), "", False, False, True, source, ""
    )


def point_changes(point: Point, known: Mapping[str, FactValue]) -> dict[str, FactValue]:
    """Return a point as plain changes; factors are applied to the baseline's own values."""
    changes: dict[str, FactValue] = {}
    for changed in point:
        if changed.value is not None:
            changes[changed.name] = changed.value
            continue
        base = known.get(changed.name)
        if base is None or isinstance(base, str | bool) or changed.factor is None:
            continue
        scaled = base * changed.factor
        changes[changed.name] = max(1, round(scaled)) if isinstance(base, int) else scaled
    return changes


def _of_plan(variant: Variant, required: set[str], reference: Reference) -> MatrixRow:
    change = read_change(variant.change, reference)
    multiplier = variant.multiplier or change.stated_multiplier
    unread = not change.points and multiplier is None
    neutral = neutral_values(variant.change, reference) if unread else 0
    words = f"{variant.purpose} {variant.name}".lower()
    is_baseline = change.points == ((),) and "baseline" in words
    changed = {fact.name for point in change.points for fact in point}
    return MatrixRow(
        name=variant.name,
        changed_variable=change.changed_variable,
        points=change.points or ((),) * neutral,
        multiplier=multiplier,
        seeds=variant.seeds,
        trials=0,
        stated=Priority(variant.priority) if variant.priority else None,
        claims=variant.claims,
        audit_requirement="",
        named_required=spelling(variant.name) in required,
        sensitivity=any(w in words for w in _SENSITIVITY_WORDS)
        or (bool(changed) and changed <= _TUNING_FACTS),
        is_baseline=is_baseline,
        source=variant.source,
        problem="" if neutral else change.problem,
        neutral=neutral > 0,
    )


def _with_audit(row: MatrixRow | None, baseline: Baseline) -> MatrixRow:
    trials = baseline.trials or 0
    if row is not None:
        return replace(row, audit_requirement=baseline.requirement, trials=trials)
    return MatrixRow(
        name=baseline.name,
        changed_variable=f"method: {baseline.name}",
        points=(),
        multiplier=None,
        seeds=None,
        trials=trials,
        stated=None,
        claims=(),
        audit_requirement=baseline.requirement,
        named_required=False,
        sensitivity=False,
        is_baseline=False,
        source=baseline.source,
        problem=f"what one run of {baseline.name} costs is not known: give `changes` or a "
        "`multiplier` over one seed of the baseline",
    )


def _of_caller(given: VariantInput, row: MatrixRow | None, reference: Reference) -> MatrixRow:
    if given.changes and given.multiplier is not None:
        raise RequestError(
            f"the variant `{given.name}` has both `changes` and a `multiplier`",
            where=f"variants.{given.name}",
            remedy="Give `changes` to have it estimated, or the `multiplier` you know, not both.",
        )
    base = row or _new_row(given.name)
    if given.changes:
        point = tuple(
            ChangedFact(name, value=_parsed(name, raw, given.name, reference))
            for name, raw in given.changes.items()
        )
        shown = ", ".join(f"{fact.name} = {fact.value}" for fact in point)
        base = replace(base, points=(point,), changed_variable=shown, multiplier=None)
        base = replace(base, problem="", neutral=False, is_baseline=False)
    if given.multiplier is not None:
        base = replace(base, points=(), multiplier=given.multiplier, problem="", neutral=False)
    if not base.points and base.multiplier is None and not base.problem:
        base = replace(base, problem="give `changes` or a `multiplier` over the baseline")
    return replace(
        base,
        changed_variable=base.changed_variable or "not stated",
        seeds=given.seeds or base.seeds,
        trials=base.trials if given.tuning_trials is None else given.tuning_trials,
        stated=Priority(given.priority) if given.priority else base.stated,
        claims=tuple(dict.fromkeys([*base.claims, *given.claims])),
    )


def _new_row(name: str) -> MatrixRow:
    row = replace(baseline_row("stated"), name=name)
    if spelling(name) == "baseline":
        return row
    return replace(row, points=(), is_baseline=False, changed_variable="")


def _parsed(name: str, raw: FactInput, variant: str, reference: Reference) -> FactValue:
    where = f"variants.{variant}.changes.{name}"
    try:
        return parse_fact(name, raw, reference, where)
    except FactError as error:
        raise FactError(error.what, where=where, remedy=error.remedy) from error


def _notes(gathered: Gathered, name: str) -> Iterator[str]:
    for reading in gathered.readings.values():
        if reading.variants and name in reading.notes:
            yield str(reading.notes[name])


def _required_ablations(gathered: Gathered) -> set[str]:
    texts = _notes(gathered, "required_ablations")
    return {spelling(word) for text in texts for word in text.replace(";", ",").split(",")}


def _required_seeds(gathered: Gathered) -> int | None:
    """Return the seeds the plans ask for; the largest number when they differ."""
    plans = (reading for reading in gathered.readings.values() if reading.variants)
    counts = [int(f.value) for plan in plans for f in plan.facts if f.name == "seeds"]
    return max(counts) if counts else None


def _controls(
    gathered: Gathered, reference: Reference
) -> tuple[dict[str, FactValue], tuple[str, ...]]:
    """Return the facts all rows share, and what to ask where they cannot be read."""
    controls: dict[str, FactValue] = {}
    questions: list[str] = []
    for text, source in _distinct_controls(gathered):
        change = read_change(text, reference)
        if len(change.points) == 1:
            controls.update({f.name: f.value for f in change.points[0] if f.value is not None})
        elif text:
            questions.append(f"{source}: `Fixed controls` {text!r} cannot be read as facts")
    return controls, tuple(questions)


def _distinct_controls(gathered: Gathered) -> Iterable[tuple[str, str]]:
    found: dict[str, str] = {}
    for reading in gathered.readings.values():
        for variant in reading.variants:
            if variant.controls:
                found.setdefault(variant.controls, variant.source)
    return found.items()
