"""The jobs of a plan in submission order: smoke, required, should-have, optional."""

from collections.abc import Mapping, Sequence

from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.planner.assessing import Assessed
from compute_budget_planner.planner.boards_read import experiment_ids
from compute_budget_planner.planner.jobs import JobSpec, job_block
from compute_budget_planner.planner.present import limit_of
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.limits import walltime_hours
from compute_budget_planner.results import (
    AblationsResult,
    JobBlock,
    SmokeResult,
    VariantOut,
)

_ORDER = ("smoke", "required", "should-have", "optional")


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
    jobs += [block for run in runs if (block := _main_job(workspace, run, ids)) is not None]
    if ablations is not None and baseline is not None:
        for row in ablations.variants:
            cut = sum(c.seeds for c in ablations.cut if c.variant == row.variant)
            if row.basis in ("open", "exists") or cut >= row.seeds:
                continue
            block = _variant_job(workspace, baseline, row, row.seeds - cut, ids)
            jobs += [block] if block is not None else []
    return sorted(jobs, key=lambda job: _ORDER.index(job.priority))


def _main_job(workspace: Workspace, assessed: Assessed, ids: Mapping[str, str]) -> JobBlock | None:
    run, estimate = assessed.assessment.run, assessed.assessment.estimate
    if run is None or estimate is None:
        return None
    limit = run.limits.time_limit_hours
    segments = limit_of(workspace, run, estimate.wall_clock_hours).segments or 1
    spec = JobSpec(
        name=assessed.name,
        priority="required",
        seeds=assessed.seeds,
        walltime_hours=walltime_hours(estimate.wall_clock_hours, limit, workspace.reference),
        expected_hours=estimate.wall_clock_hours.expected,
        gpu_hours=estimate.gpu_hours.expected,
        segments=segments,
        own_outputs=True,
        exp_id=ids.get(assessed.name),
    )
    return job_block(workspace, assessed, run, spec)


def _variant_job(
    workspace: Workspace,
    baseline: Assessed,
    row: VariantOut,
    kept_seeds: int,
    ids: Mapping[str, str],
) -> JobBlock | None:
    """Return the job of a variant: the baseline's command, and what a person must change in it."""
    run, wall, one = baseline.assessment.run, row.wall_clock_hours, row.gpu_hours_one_seed
    if run is None or wall is None or one is None:
        return None
    limit = run.limits.time_limit_hours
    hours = Range(wall.low, wall.expected, wall.high)
    changed = row.changed_variable if row.basis != "baseline" else "nothing"
    spec = JobSpec(
        name=f"ablation-{row.variant}",
        priority=row.priority,
        seeds=kept_seeds,
        walltime_hours=walltime_hours(hours, limit, workspace.reference),
        expected_hours=hours.expected,
        gpu_hours=one.expected,
        segments=limit_of(workspace, run, hours).segments or 1,
        notes=(f"change in the config: {changed}",),
        exp_id=ids.get(row.variant),
    )
    return job_block(workspace, baseline, run, spec)
