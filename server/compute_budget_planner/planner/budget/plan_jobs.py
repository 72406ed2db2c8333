"""The jobs of a plan in submission order: smoke, required, should-have, optional."""

from collections import Counter
from collections.abc import Mapping, Sequence

from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.numbers import shown, written
from compute_budget_planner.planner.assessing import Assessed
from compute_budget_planner.planner.budget.jobs import JobSpec, job_block, variant_job_name
from compute_budget_planner.planner.memory.boards_read import experiment_ids
from compute_budget_planner.planner.present import limit_of
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.limits import walltime_hours
from compute_budget_planner.results import (
    AblationsResult,
    JobBlock,
    SmokeResult,
    VariantOut,
)
from compute_budget_planner.results.smoke import SUBMISSION_ORDER
from compute_budget_planner.workload.facts import FactValue


def plan_jobs(
    workspace: Workspace,
    runs: Sequence[Assessed],
    smokes: Sequence[SmokeResult],
    ablations: AblationsResult | None,
    baseline: Assessed | None,
) -> list[JobBlock]:
    """Return every job that is to be submitted; what is cut, open or has run is not among them."""
    ids = experiment_ids(workspace)
    jobs = [smoke.job for smoke in smokes if smoke.job is not None]
    counted = _row_of_main_run(ablations)
    for run in runs:
        own = counted if baseline is not None and run.name == baseline.name else None
        block = _main_job(workspace, run, own, ids)
        jobs += [block] if block is not None else []
    submitted = {run.name for run in runs}
    if ablations is not None and baseline is not None:
        for row, seeds in _to_run(ablations):
            if counted is not None and row is counted[0] and baseline.name in submitted:
                continue
            block = _variant_job(workspace, baseline, row, seeds, ids, ablations.controls)
            jobs += [block] if block is not None else []
    return sorted(jobs, key=lambda job: SUBMISSION_ORDER.index(job.priority))


def _to_run(ablations: AblationsResult) -> list[tuple[VariantOut, int]]:
    """Return the rows that are to run, each with the seeds that are not cut."""
    cut = Counter[str]()
    for part in ablations.cut:
        cut[part.variant] += part.seeds
    return [
        (row, row.seeds - cut[row.variant])
        for row in ablations.variants
        if row.basis not in ("open", "exists") and cut[row.variant] < row.seeds
    ]


def _row_of_main_run(ablations: AblationsResult | None) -> tuple[VariantOut, int] | None:
    """Return the row that is the main run itself with its seeds, None when it is not to run.

    A baseline under controls of its own is another run: then the main run is counted beside it.
    """
    if ablations is None or ablations.baseline in {main.run for main in ablations.main_runs}:
        return None
    rows = _to_run(ablations)
    return next(((row, seeds) for row, seeds in rows if row.basis == "baseline"), None)


def _main_job(
    workspace: Workspace,
    assessed: Assessed,
    as_baseline: tuple[VariantOut, int] | None,
    ids: Mapping[str, str],
) -> JobBlock | None:
    """Return the job of a main run, with the seeds of the matrix where it is the baseline."""
    run, estimate = assessed.assessment.run, assessed.assessment.estimate
    if run is None or estimate is None:
        return None
    limit = run.limits.time_limit_hours
    segments = limit_of(workspace, assessed, run, estimate.wall_clock_hours).segments or 1
    spec = JobSpec(
        name=assessed.name,
        priority="required",
        seeds=assessed.seeds if as_baseline is None else as_baseline[1],
        walltime_hours=walltime_hours(estimate.wall_clock_hours, limit, workspace.reference),
        expected_hours=estimate.wall_clock_hours.expected,
        gpu_hours=estimate.gpu_hours.expected,
        segments=segments,
        own_outputs=True,
        exp_id=ids.get(assessed.name) or (ids.get(as_baseline[0].variant) if as_baseline else None),
    )
    return job_block(workspace, assessed, run, spec)


def _variant_job(
    workspace: Workspace,
    baseline: Assessed,
    row: VariantOut,
    kept_seeds: int,
    ids: Mapping[str, str],
    controls: Mapping[str, FactValue],
) -> JobBlock | None:
    """Return the job of a variant: the baseline's command, and what a person must change in it."""
    run, wall, one = baseline.assessment.run, row.wall_clock_hours, row.gpu_hours_one_seed
    if run is None or wall is None or one is None:
        return None
    limit = run.limits.time_limit_hours
    hours = Range(wall.low, wall.expected, wall.high)
    changed = [] if row.basis == "baseline" else [row.changed_variable]
    changed += [f"{name} = {written(value)}" for name, value in controls.items()]
    if controls and baseline.assessment.estimate is not None and row.basis == "baseline":
        steps = baseline.assessment.estimate.steps.optimizer_steps
        changed.append(f"that is {shown(steps)} optimizer steps")
    spec = JobSpec(
        name=variant_job_name(row.variant),
        priority=row.priority,
        seeds=kept_seeds,
        walltime_hours=walltime_hours(hours, limit, workspace.reference),
        expected_hours=hours.expected,
        gpu_hours=one.expected,
        tasks=row.runs_per_seed,
        segments=limit_of(workspace, baseline, run, hours).segments or 1,
        notes=(f"set in the config: {', '.join(changed)}",) if changed else (),
        exp_id=ids.get(row.variant),
    )
    return job_block(workspace, baseline, run, spec)
