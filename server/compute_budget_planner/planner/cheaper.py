"""`suggest_alternatives`: what would answer the question for less, each estimated anew."""

from collections.abc import Sequence
from dataclasses import dataclass

from compute_budget_planner.errors import FactError
from compute_budget_planner.guide.rows import Accelerator
from compute_budget_planner.numbers import shown
from compute_budget_planner.planner.assessing import Assessed
from compute_budget_planner.planner.matrix.variation import varied
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.levers import Lever, levers
from compute_budget_planner.results import (
    AlternativeOut,
    AlternativesResult,
    NextStep,
    RangeOut,
)
from compute_budget_planner.workload.run import TrainingRun

_LEAST_SAVING_PERCENT = 1.0
_GROUPS = ("free", "lever", "question", "hardware")


@dataclass(frozen=True)
class Saving:
    """What an alternative saves against the run, in percent; negative means dearer."""

    gpu_hours: float
    wall_clock: float
    cost: float | None


def alternatives_of(workspace: Workspace, assessed: Assessed) -> AlternativesResult:
    """Return the alternatives to an assessed run, free ones first, the biggest saving first."""
    assessment = assessed.assessment
    run, estimate = assessment.run, assessment.estimate
    if run is None or estimate is None:
        missing = list(assessment.resolution.missing)
        return AlternativesResult(
            summary=f"No alternatives yet for `{assessed.name}`: {', '.join(missing)} missing.",
            run=assessed.name,
            status="incomplete",
            missing=missing,
            questions=list(assessment.resolution.questions),
            next=[NextStep(tool="estimate_run", arguments=assessed.arguments)],
        )
    largest = assessment.memory.largest_micro_batch if assessment.memory is not None else None
    found: list[AlternativeOut] = []
    rejected: list[str] = []
    devices = _devices(workspace, assessed)
    for lever in levers(run, workspace.reference, devices, largest):
        outcome = _tried(workspace, assessed, lever)
        if isinstance(outcome, str):
            rejected.append(f"{lever.label}: {outcome}")
        else:
            found.append(outcome)
    found.sort(key=lambda a: (_GROUPS.index(a.group), -a.saving_gpu_hours_percent))
    result = AlternativesResult(
        summary="",
        run=assessed.name,
        status="estimated",
        gpu_hours=RangeOut.of(estimate.gpu_hours),
        wall_clock_hours=RangeOut.of(estimate.wall_clock_hours),
        alternatives=found,
        not_worth_listing=rejected,
        questions=_unclear(workspace, devices, run.hardware.accelerator),
        next=[NextStep(tool="write_budget", question="Which alternatives do you accept?")],
    )
    return result.model_copy(update={"summary": _summary(result)})


def _devices(workspace: Workspace, assessed: Assessed) -> tuple[str, ...]:
    if assessed.environment is not None and assessed.environment.gpu_types:
        return assessed.environment.gpu_types
    return tuple(workspace.reference.rows("usual_devices"))


def _unclear(workspace: Workspace, devices: Sequence[str], own: Accelerator) -> list[str]:
    """Return what to ask about devices of the environments that may be several."""
    meant = {name: workspace.reference.find_accelerators(name) for name in devices}
    return [
        f"Which `{name}` do the environments mean: {', '.join(f'`{a.name}`' for a in found)}? "
        "Faster hardware is suggested once `gpu_types` says so."
        for name, found in meant.items()
        if len(found) > 1 and own not in found
    ]


def _tried(workspace: Workspace, assessed: Assessed, lever: Lever) -> AlternativeOut | str:
    """Return the alternative, or why it is not worth listing."""
    try:
        other = varied(
            workspace.reference, assessed, lever.changes, f"alternative: {lever.label}"
        ).assessment
    except FactError as error:
        return f"does not apply ({error.what})"
    base, new = assessed.assessment.estimate, other.estimate
    if base is None or new is None or other.run is None or other.memory is None:
        return "cannot be estimated"
    if other.memory.verdict == "OOM":
        return f"does not fit in memory ({other.memory.reason})"
    row = workspace.reference.row("alternatives", lever.name)
    before, after = RangeOut.of(base.gpu_hours), RangeOut.of(new.gpu_hours)
    wall_before = RangeOut.of(base.wall_clock_hours)
    wall_after = RangeOut.of(new.wall_clock_hours)
    saving = Saving(
        _percent(before.expected, after.expected),
        _percent(wall_before.expected, wall_after.expected),
        _cost_saving(assessed.assessment.run, other.run, before.expected, after.expected),
    )
    falls = _falls(saving)
    if not falls:
        return f"saves nothing ({shown(after.expected)} GPU-hours)"
    group = row.required("group")
    return AlternativeOut(
        alternative=lever.label,
        group=group,
        changes=dict(lever.changes),
        gpu_hours=after,
        wall_clock_hours=wall_after,
        saving_gpu_hours_percent=saving.gpu_hours,
        saving_wall_clock_percent=saving.wall_clock,
        saving_cost_percent=saving.cost,
        falls=falls,
        signal_quality=row.text("signal"),
        misleading_risk=row.text("misleads"),
        watch=row.text("watch"),
        memory_verdict=other.memory.verdict,
        changes_design=group == "question",
    )


def _percent(before: float, after: float) -> float:
    return 100 * (1 - after / before) if before else 0.0


def _cost_saving(
    run: TrainingRun | None, other: TrainingRun, before: float, after: float
) -> float | None:
    """Return the saving in money: at the stated price on one device, at list prices on two."""
    if run is None:
        return None
    own, new = run.hardware.accelerator, other.hardware.accelerator
    if own.name == new.name:
        return _percent(before, after)
    if not own.usd_per_gpu_hour or not new.usd_per_gpu_hour:
        return None
    return _percent(before * own.usd_per_gpu_hour, after * new.usd_per_gpu_hour)


def _falls(saving: Saving) -> list[str]:
    parts = {
        "GPU-hours": saving.gpu_hours,
        "wall-clock": saving.wall_clock,
        "cost": saving.cost or 0.0,
    }
    return [name for name, percent in parts.items() if percent >= _LEAST_SAVING_PERCENT]


def _summary(result: AlternativesResult) -> str:
    if not result.alternatives:
        return f"Nothing cheaper found for `{result.run}` that fits and saves."
    best = _best(result.alternatives)
    text = f"{shown(len(result.alternatives))} alternatives to `{result.run}`: "
    return (
        text
        + "; ".join(
            f"{a.alternative} ({shown(a.saving_gpu_hours_percent)} % fewer GPU-hours)" for a in best
        )
        + "."
    )


def _best(alternatives: Sequence[AlternativeOut]) -> list[AlternativeOut]:
    ranked = sorted(alternatives, key=lambda a: -a.saving_gpu_hours_percent)
    free = [a for a in ranked if a.group == "free" and a.saving_gpu_hours_percent > 0][:2]
    rest = [a for a in ranked if a.group != "free" and a.saving_gpu_hours_percent > 0]
    return [*free, *rest[: 4 - len(free)]]
