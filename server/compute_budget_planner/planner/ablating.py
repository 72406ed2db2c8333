"""`cost_ablations`: the matrix costed, what of it to run, and what is cut."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compute_budget_planner.errors import FactError, RequestError
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.planner.assessing import Assessed, RunInputs, assess_run
from compute_budget_planner.planner.boards_read import finished_runs
from compute_budget_planner.planner.matrix import (
    Matrix,
    MatrixRow,
    baseline_row,
    build_matrix,
    point_changes,
)
from compute_budget_planner.planner.variation import varied
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.ablations import Portion, Priority, Ranked, rank
from compute_budget_planner.requests import VariantInput
from compute_budget_planner.results import RangeOut, VariantOut

BASELINE_WHY = "fixed controls of the matrix"


@dataclass(frozen=True)
class CostedMatrix:
    """The rows with their costs, and the portions that are kept or cut."""

    baseline: Assessed
    own_controls: bool
    rows: tuple[VariantOut, ...]
    portions: tuple[Portion, ...]
    matrix: Matrix


def cost_matrix(
    workspace: Workspace,
    inputs: RunInputs,
    baseline: Assessed,
    variants: Sequence[VariantInput],
    required_seeds: int | None,
) -> CostedMatrix:
    """Cost every row of the matrix against the baseline run.

    Raises:
        RequestError: there is no matrix, or the baseline cannot be estimated.
        FactError: a variant of the caller changes an unknown or ill-formed fact.
    """
    matrix = build_matrix(inputs.gathered, variants, workspace.reference)
    if not matrix.rows:
        raise RequestError(
            "there is no ablation matrix",
            where="variants",
            remedy="Pass `variants`, or a design plan with a run matrix among `files`.",
        )
    if not any(row.is_baseline for row in matrix.rows):
        matrix = replace(matrix, rows=(baseline_row("added: no row is the baseline"), *matrix.rows))
    base = _controlled(workspace, baseline, matrix)
    if base.assessment.estimate is None:
        lacking = ", ".join(f"`{n}`" for n in base.assessment.resolution.missing)
        raise RequestError(
            f"the baseline `{baseline.name}` cannot be estimated: {lacking} missing",
            where="facts",
            remedy=" ".join(base.assessment.resolution.questions),
        )
    seeds = required_seeds or matrix.required_seeds
    existing = _existing(workspace, inputs)
    rows: list[VariantOut] = []
    portions: list[Portion] = []
    for row in matrix.rows:
        costed, parts = _cost_row(workspace, base, row, seeds, existing)
        rows += costed
        portions += parts
    return CostedMatrix(base, bool(matrix.controls), tuple(rows), tuple(portions), matrix)


def _controlled(workspace: Workspace, baseline: Assessed, matrix: Matrix) -> Assessed:
    """Return the baseline under the matrix' controls, such as a shorter training."""
    if not matrix.controls:
        return baseline
    return varied(workspace.reference, baseline, matrix.controls, BASELINE_WHY)


def _cost_row(
    workspace: Workspace,
    base: Assessed,
    row: MatrixRow,
    required_seeds: int | None,
    existing: dict[str, str],
) -> tuple[list[VariantOut], list[Portion]]:
    ranked = rank(
        is_baseline=row.is_baseline,
        claims=row.claims,
        named_required=row.named_required,
        audit_requirement=row.audit_requirement,
        stated=row.stated,
        sensitivity=row.sensitivity,
    )
    seeds = row.seeds or required_seeds or 1
    further = max(0, seeds - (required_seeds or seeds))
    shown = VariantOut(
        variant=row.name,
        changed_variable=row.changed_variable,
        cost_multiplier=None,
        gpu_hours=None,
        priority=ranked.priority.value,
        seeds=seeds,
        further_seeds=further,
        tuning_trials=row.trials,
        claims=list(row.claims),
        rule=ranked.rule,
        basis="open",
        source=row.source,
        question=row.problem,
    )
    if row.name in existing:
        nothing = RangeOut(low=0, expected=0, high=0)
        done = {"gpu_hours": nothing, "gpu_hours_one_seed": nothing, "basis": "exists"}
        note = {"rule": f"has run already ({existing[row.name]})", "question": ""}
        return [shown.model_copy(update={**done, **note})], []
    cost = _one_seed(workspace, base, row)
    if isinstance(cost, str):
        question = f"{row.name}: {cost}"
        return [shown.model_copy(update={"question": question})], []
    return _rows_and_portions(shown, cost, ranked, row)


@dataclass(frozen=True)
class _Cost:
    """One seed of a row: GPU-hours, hours of one job, jobs, devices, memory, how it is known."""

    gpu_hours: RangeOut
    wall_clock: RangeOut
    multiplier: float
    jobs: int
    n_gpus: int
    memory: str
    basis: str


def _one_seed(workspace: Workspace, base: Assessed, row: MatrixRow) -> _Cost | str:
    """Return the cost of one seed, or the question that blocks it."""
    estimate, run = base.assessment.estimate, base.assessment.run
    assert estimate is not None and run is not None  # noqa: S101  checked by cost_matrix
    memory = base.assessment.memory.verdict if base.assessment.memory is not None else ""
    own = RangeOut.of(estimate.gpu_hours)
    wall = RangeOut.of(estimate.wall_clock_hours)
    if row.points == ((),):
        return _Cost(own, wall, 1.0, 1, run.hardware.n_gpus, memory, "baseline")
    if row.multiplier is not None and not row.points:
        scaled = RangeOut.of(estimate.gpu_hours.scaled(row.multiplier))
        hours = RangeOut.of(estimate.wall_clock_hours.scaled(row.multiplier))
        return _Cost(scaled, hours, row.multiplier, 1, run.hardware.n_gpus, memory, "stated")
    if not row.points:
        return row.problem
    known = base.assessment.resolution.facts
    values = {name: fact.value for name, fact in known.items()}
    hours_sum, walls, verdicts, n_gpus = Range.exact(0.0), [], [], run.hardware.n_gpus
    for point in row.points:
        changes = point_changes(point, values)
        if len(changes) < len({fact.name for fact in point}) and not changes:
            return "the baseline does not say the value this row changes by a factor"
        try:
            other = varied(workspace.reference, base, changes, f"variant {row.name}").assessment
        except FactError as error:
            return f"{error.what}. {error.remedy}"
        if other.estimate is None or other.run is None or other.memory is None:
            return f"it cannot be estimated: {', '.join(other.resolution.missing)} missing"
        hours_sum = hours_sum.plus(other.estimate.gpu_hours)
        walls.append(other.estimate.wall_clock_hours)
        verdicts.append(other.memory.verdict)
        n_gpus = other.run.hardware.n_gpus
    longest = max(walls, key=lambda w: w.expected)
    return _Cost(
        RangeOut.of(hours_sum),
        RangeOut.of(longest),
        hours_sum.expected / estimate.gpu_hours.expected,
        len(row.points),
        n_gpus,
        _worst(verdicts),
        "re-estimated",
    )


def _worst(verdicts: Sequence[str]) -> str:
    order = ("OOM", "UNCERTAIN", "UNKNOWN", "TIGHT", "FITS")
    return min(verdicts, key=order.index)


def _rows_and_portions(
    shown: VariantOut, cost: _Cost, ranked: Ranked, row: MatrixRow
) -> tuple[list[VariantOut], list[Portion]]:
    """Return the row, a row of its own for tuning trials, and the portions of both."""
    one = cost.gpu_hours
    common: dict[str, object] = {
        "cost_multiplier": cost.multiplier,
        "gpu_hours_one_seed": one,
        "wall_clock_hours": cost.wall_clock,
        "n_gpus": cost.n_gpus,
        "memory_verdict": cost.memory,
        "basis": cost.basis,
        "question": "",
    }
    rows = [
        VariantOut.model_validate({**dict(shown), **common, "gpu_hours": _times(one, shown.seeds)})
    ]
    first = shown.seeds - shown.further_seeds
    portions = [_portion(row, cost, ranked.priority, first)]
    if shown.further_seeds:
        later = max(ranked.priority, Priority.SHOULD_HAVE, key=list(Priority).index)
        portions.append(_portion(row, cost, later, shown.further_seeds))
    if row.trials:
        tuning = {
            "variant": f"{row.name} (tuning)",
            "changed_variable": f"{row.trials} trials before the real run",
            "cost_multiplier": cost.multiplier * row.trials,
            "gpu_hours": _times(one, row.trials),
            "gpu_hours_one_seed": _times(one, row.trials),
            "seeds": 1,
            "further_seeds": 0,
        }
        rows.append(VariantOut.model_validate({**dict(rows[0]), **tuning}))
        part = _portion(row, cost, ranked.priority, row.trials)
        portions.append(replace(part, variant=f"{row.name} (tuning)"))
    return rows, portions


def _times(value: RangeOut, count: int) -> RangeOut:
    return RangeOut(low=value.low * count, expected=value.expected * count, high=value.high * count)


def _portion(row: MatrixRow, cost: _Cost, priority: Priority, seeds: int) -> Portion:
    one = cost.gpu_hours
    return Portion(
        variant=row.name,
        priority=priority,
        seeds=seeds,
        runs=cost.jobs * seeds,
        gpu_hours=Range(one.low * seeds, one.expected * seeds, one.high * seeds),
        hours_of_one=cost.wall_clock.expected,
        n_gpus=cost.n_gpus,
        claims=row.claims,
    )


def _existing(workspace: Workspace, inputs: RunInputs) -> dict[str, str]:
    """Return the rows that have run already, by name, with the place that says so."""
    done = finished_runs(workspace)
    for run in inputs.gathered.runs:
        finished = [p for p in run.prior_logs if inputs.gathered.readings[p].finished]
        if finished:
            done.setdefault(run.name, finished[0])
    return done


def baseline_run(workspace: Workspace, inputs: RunInputs, name: str | None) -> Assessed:
    """Return the run the matrix' baseline is made from.

    Raises:
        RequestError: several runs could be it and none is named.
    """
    runs = inputs.gathered.runs
    if name is not None:
        return assess_run(workspace, inputs, inputs.gathered.named(name))
    ahead = [
        run
        for run in runs
        if not any(inputs.gathered.readings[log].finished for log in run.prior_logs)
    ]
    candidates = ahead or list(runs)
    if len(candidates) > 1:
        names = ", ".join(f"`{run.name}`" for run in candidates)
        raise RequestError(
            f"the baseline may be any of {names}",
            where="baseline",
            remedy="Name the run the baseline is made from as `baseline`.",
        )
    return assess_run(workspace, inputs, candidates[0] if candidates else None)
