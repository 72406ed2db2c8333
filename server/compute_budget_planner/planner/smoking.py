"""`size_smoke`: the smoke test of a run, with its own job."""

import math

from compute_budget_planner.estimation.estimate import Estimate
from compute_budget_planner.estimation.memory import verdict_of
from compute_budget_planner.estimation.memory_terms import memory_terms
from compute_budget_planner.estimation.overheads import startup_hours
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.estimation.step import step_time
from compute_budget_planner.estimation.steps import rows_in_dataset
from compute_budget_planner.guide.reference import Reference, spelling
from compute_budget_planner.planner.assessing import Assessed, budget_arguments
from compute_budget_planner.planner.budget.jobs import JobSpec, job_block
from compute_budget_planner.planner.sentences import smoke_summary
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.criteria import pass_criteria
from compute_budget_planner.planning.limits import walltime_hours
from compute_budget_planner.planning.smoke import (
    Bound,
    SmokeInputs,
    SmokeRules,
    SmokeSize,
    size_smoke,
)
from compute_budget_planner.planning.smoke_run import on_devices, smoke_run
from compute_budget_planner.results import JobBlock, NextStep, RangeOut, SmokeResult
from compute_budget_planner.workload.run import TrainingRun


def smoke_of(workspace: Workspace, assessed: Assessed) -> SmokeResult:
    """Return the smoke test of an assessed run."""
    assessment = assessed.assessment
    run, estimate = assessment.run, assessment.estimate
    if run is None or estimate is None:
        result = SmokeResult(
            summary="",
            run=assessed.name,
            status="incomplete",
            missing=list(assessment.resolution.missing),
            questions=list(assessment.resolution.questions),
            next=[NextStep(tool="estimate_run", arguments=assessed.arguments)],
        )
        return result.model_copy(update={"summary": smoke_summary(result)})
    reference = workspace.reference
    rules = SmokeRules.of(reference)
    small = smoke_run(run, reference)
    step, startup = _durations(run, small, estimate, reference)
    size = size_smoke(_inputs(small, estimate, step, startup), rules)
    if size.bound is Bound.RUN_ITSELF:
        # Nothing smaller is worth a job of its own: the run is watched from its start.
        small = run
        step, startup = _durations(run, small, estimate, reference)
        size = size_smoke(_inputs(small, estimate, step, startup), rules)
    seconds = startup.plus(step.scaled(size.steps))
    peak = _peak(assessed, small, reference)
    verdict = verdict_of(peak, small.hardware.accelerator.memory_gib, reference)
    overrides = _overrides(run, size, reference)
    result = SmokeResult(
        summary="",
        run=assessed.name,
        status="sized",
        steps=size.steps,
        n_gpus=small.hardware.n_gpus,
        data_fraction_percent=_data_percent(small, size.steps),
        wall_clock_minutes=RangeOut.of(seconds.scaled(1 / 60)),
        gpu_hours=RangeOut.of(seconds.scaled(small.hardware.n_gpus / 3600)),
        share_of_run_percent=100 * size.share,
        bound=size.bound.value,
        flags=_flags(small, size, rules, holds=verdict != "OOM"),
        pass_criteria=pass_criteria(small, step, peak),
        overrides=overrides,
        expected_step_seconds=RangeOut.of(step),
        expected_peak_gib=RangeOut.of(peak),
        job=None
        if size.bound is Bound.RUN_ITSELF
        else _job(workspace, assessed, small, size, seconds, overrides),
        next=[NextStep(tool="write_budget", arguments=budget_arguments(assessed))],
    )
    return result.model_copy(update={"summary": smoke_summary(result)})


def _peak(assessed: Assessed, small: TrainingRun, reference: Reference) -> Range:
    """Return the smoke test's peak memory, over what is assumed about the run as well."""
    uncertainty = assessed.assessment.uncertainty
    others = uncertainty.others if uncertainty is not None else ()
    runs = [small, *(on_devices(other, small.hardware.n_gpus) for other in others)]
    peaks = [memory_terms(run, reference).peak for run in runs]
    return Range(min(p.low for p in peaks), peaks[0].expected, max(p.high for p in peaks))


def _job(
    workspace: Workspace,
    assessed: Assessed,
    small: TrainingRun,
    size: SmokeSize,
    seconds: Range,
    overrides: list[str],
) -> JobBlock:
    hours = seconds.scaled(1 / 3600)
    walltime = walltime_hours(hours, small.limits.time_limit_hours, workspace.reference)
    spec = JobSpec(
        name=f"{assessed.name}-smoke",
        priority="smoke",
        seeds=1,
        walltime_hours=walltime,
        expected_hours=hours.expected,
        gpu_hours=size.gpu_hours,
        options=" ".join(overrides),
    )
    return job_block(workspace, assessed, small, spec)


def _durations(
    run: TrainingRun, small: TrainingRun, estimate: Estimate, reference: Reference
) -> tuple[Range, Range]:
    """Return seconds of a smoke step and of its start-up."""
    step = _smoke_step(run, small, estimate, reference)
    return step, startup_hours(small, reference).scaled(3600)


def _smoke_step(
    run: TrainingRun, small: TrainingRun, estimate: Estimate, reference: Reference
) -> Range:
    """Return seconds of a smoke step: the run's own range, moved by the smaller group."""
    ratio = step_time(small, reference).seconds / step_time(run, reference).seconds
    return estimate.step_seconds.scaled(ratio)


def _inputs(small: TrainingRun, estimate: Estimate, step: Range, startup: Range) -> SmokeInputs:
    return SmokeInputs(
        total_steps=estimate.steps.optimizer_steps,
        run_gpu_hours=estimate.gpu_hours.expected,
        n_gpus=small.hardware.n_gpus,
        step_seconds=step.expected,
        step_seconds_high=step.high,
        startup_seconds=startup.expected,
        startup_seconds_high=startup.high,
    )


def _data_percent(small: TrainingRun, steps: int) -> float | None:
    rows = rows_in_dataset(small)
    if not rows:
        return None
    return min(100.0, 100 * steps * small.batch.global_batch_size / rows)


def _flags(small: TrainingRun, size: SmokeSize, rules: SmokeRules, *, holds: bool) -> list[str]:
    flags = []
    if size.bound is Bound.RUN_ITSELF:
        flags.append("the run is so short that its own first steps are the smoke test")
    if size.too_few_steps:
        flags.append(
            f"only {size.steps} steps remain below the caps; {rules.min_steps} would show a slope"
        )
    if size.startup_dominates:
        flags.append("start-up is more than half of it: shorten the set-up first")
    if size.over_thirty_minutes:
        flags.append("the slow end exceeds 30 minutes: set-up or a single step is too slow")
    if not holds:
        flags.append("no group of the planned GPUs holds the run: make it fit in memory first")
    elif small.hardware.n_gpus > 1 and size.bound is not Bound.RUN_ITSELF:
        flags.append(
            f"one GPU cannot hold the run; {small.hardware.n_gpus} are the smallest group that can"
        )
    return flags


def _overrides(run: TrainingRun, size: SmokeSize, reference: Reference) -> list[str]:
    """Return the options that shorten the run to the smoke test in its own framework."""
    framework = spelling(run.schedule.framework)
    row = reference.rows("smoke_overrides").get(framework)
    if row is None:
        return []
    save = max(1, math.ceil(size.steps / 2))
    log = max(1, size.steps // 20)
    options = row.required("options").strip("`")
    return [options.format(steps=size.steps, save=save, log=log)]
