"""`cost_ablations`: the matrix costed, what of it to run, and what is cut."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from compute_budget_planner.errors import RequestError
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.planner.assessing import Assessed, RunInputs, assess_run
from compute_budget_planner.planner.budget.jobs import variant_job_name
from compute_budget_planner.planner.matrix.cost_neutral import RULE
from compute_budget_planner.planner.matrix.rows import (
    Matrix,
    MatrixRow,
    baseline_row,
    build_matrix,
)
from compute_budget_planner.planner.matrix.runs import DoneSeeds, existing_runs, runs_ahead
from compute_budget_planner.planner.matrix.seed_cost import SeedCost, cost_of_seed, times
from compute_budget_planner.planner.matrix.variation import varied
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.ablations import Portion, Priority, Ranked, rank
from compute_budget_planner.requests import VariantInput
from compute_budget_planner.results import RangeOut, VariantOut

BASELINE_WHY = "fixed controls of the matrix"

TUNING = " (tuning)"
"""Ends the name of a row's tuning trials, which are a row of their own."""


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
    seeds = required_seeds or matrix.required_seeds or _stated_seeds(baseline)
    existing = existing_runs(workspace, inputs)
    rows: list[VariantOut] = []
    portions: list[Portion] = []
    for row in matrix.rows:
        main = baseline if row.is_baseline and not matrix.controls else None
        costed, parts = _cost_row(workspace, base, row, seeds, main, existing)
        rows += costed
        portions += parts
    return CostedMatrix(base, bool(matrix.controls), tuple(rows), tuple(portions), matrix)


def _stated_seeds(baseline: Assessed) -> int | None:
    """Return the seeds of the baseline's own run, where somebody or its job says how many."""
    return baseline.seeds if "seeds" in baseline.assessment.resolution.facts else None


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
    main: Assessed | None,
    existing: Mapping[str, DoneSeeds],
) -> tuple[list[VariantOut], list[Portion]]:
    """Return a row, its tuning trials and the portions of both.

    `main` is the main run the row is itself: it has all of that run's seeds, and all required.
    """
    ranked = rank(
        is_baseline=row.is_baseline,
        claims=row.claims,
        named_required=row.named_required,
        audit_requirement=row.audit_requirement,
        stated=row.stated,
        sensitivity=row.sensitivity,
    )
    own_seeds = main.seeds if main is not None else 1
    wanted = max(row.seeds or required_seeds or 1, own_seeds)
    needed = max(required_seeds or wanted, own_seeds)
    names = [row.name, variant_job_name(row.name), *([main.name] if main is not None else [])]
    done = next((existing[name] for name in names if name in existing), None)
    have = 0 if done is None else done.seeds or wanted
    seeds = max(0, wanted - have)
    further = min(seeds, max(0, wanted - max(needed, have)))
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
        rule=f"{ranked.rule}; {RULE}" if row.neutral else ranked.rule,
        basis="open",
        source=row.source,
        question=row.problem,
    )
    if done is not None and seeds == 0:
        nothing = RangeOut(low=0, expected=0, high=0)
        exists = {"gpu_hours": nothing, "gpu_hours_one_seed": nothing, "basis": "exists"}
        note = {"rule": f"has run already ({done.place})", "question": "", "seeds": wanted}
        return [shown.model_copy(update={**exists, **note})], []
    if done is not None:
        left = f"{shown.rule}; {have} of {wanted} seeds have run ({done.place})"
        shown = shown.model_copy(update={"rule": left})
    cost = cost_of_seed(workspace, base, row)
    if isinstance(cost, str):
        question = f"{row.name}: {cost}"
        return [shown.model_copy(update={"question": question})], []
    return _rows_and_portions(shown, cost, ranked, row)


def _rows_and_portions(
    shown: VariantOut, cost: SeedCost, ranked: Ranked, row: MatrixRow
) -> tuple[list[VariantOut], list[Portion]]:
    """Return the row, a row of its own for tuning trials, and the portions of both."""
    one = cost.gpu_hours
    common: dict[str, object] = {
        "cost_multiplier": cost.multiplier,
        "gpu_hours_one_seed": one,
        "wall_clock_hours": cost.wall_clock,
        "runs_per_seed": cost.jobs,
        "n_gpus": cost.n_gpus,
        "memory_verdict": cost.memory,
        "basis": cost.basis,
        "question": "",
    }
    rows = [
        VariantOut.model_validate({**dict(shown), **common, "gpu_hours": times(one, shown.seeds)})
    ]
    first = shown.seeds - shown.further_seeds
    portions = [_portion(row, cost, ranked.priority, first)] if first else []
    if shown.further_seeds:
        later = max(ranked.priority, Priority.SHOULD_HAVE, key=list(Priority).index)
        portions.append(_portion(row, cost, later, shown.further_seeds))
    if row.trials:
        tuning = {
            "variant": f"{row.name}{TUNING}",
            "changed_variable": f"{row.trials} trials before the real run",
            "cost_multiplier": cost.multiplier * row.trials,
            "gpu_hours": times(one, row.trials),
            "gpu_hours_one_seed": times(one, row.trials),
            "seeds": 1,
            "further_seeds": 0,
            "runs_per_seed": cost.jobs * row.trials,
        }
        rows.append(VariantOut.model_validate({**dict(rows[0]), **tuning}))
        part = _portion(row, cost, ranked.priority, row.trials)
        portions.append(replace(part, variant=f"{row.name}{TUNING}", bundle=row.name))
    return rows, portions


def _portion(row: MatrixRow, cost: SeedCost, priority: Priority, seeds: int) -> Portion:
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


def baseline_run(
    workspace: Workspace,
    inputs: RunInputs,
    variants: Sequence[VariantInput],
    name: str | None,
) -> Assessed:
    """Return the run the matrix' baseline is made from.

    Raises:
        RequestError: several runs could be it and none is named.
    """
    if name is not None:
        return assess_run(workspace, inputs, inputs.gathered.named(name))
    candidates = runs_ahead(workspace, inputs, variants)
    if len(candidates) > 1:
        names = ", ".join(f"`{run.name}`" for run in candidates)
        raise RequestError(
            f"the baseline may be any of {names}",
            where="baseline",
            remedy="Name the run the baseline is made from as `baseline`.",
        )
    return assess_run(workspace, inputs, candidates[0] if candidates else None)
