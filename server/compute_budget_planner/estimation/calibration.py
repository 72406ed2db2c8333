"""Measured runs correct the prediction: more when they resemble the plan, less when not.

Each measured run is predicted in its own configuration; measured over predicted step time is a
log correction. Corrections are averaged by precision and shrunk towards none by the spread of
the regime (normal–normal shrinkage).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from compute_budget_planner.estimation.overheads import overheads
from compute_budget_planner.estimation.step import step_time
from compute_budget_planner.estimation.steps import count_steps
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.numbers import brief
from compute_budget_planner.workload.run import TrainingRun

WITHIN_MEASURED_STEPS = frozenset({"data stalls"})
"""Overheads that a measured step holds already: it has waited for its data."""


@dataclass(frozen=True)
class Measured:
    """A measured run: its configuration, seconds per optimizer step, and whether it ended well.

    `whole_run` says that the seconds are the run's duration over its steps, so that compilation,
    evaluation and checkpoints are inside.
    """

    label: str
    run: TrainingRun
    step_seconds: float
    whole_run: bool = False
    finished: bool = False
    peak_memory_gib: float | None = None


@dataclass(frozen=True)
class Calibration:
    """Factor on the predicted step time and the log deviation that remains."""

    factor: float
    sigma: float
    labels: tuple[str, ...]
    reason: str


def calibrate(
    plan: TrainingRun, measured: Sequence[Measured], residual: float, reference: Reference
) -> Calibration | None:
    """Return the correction measured runs give for a plan; None without any."""
    if not measured:
        return None
    weights, logs, kinds = [], [], []
    for item in measured:
        kind = resemblance(plan, item.run)
        deviation = min(residual, reference.value(f"sigma_calibrated_{kind}"))
        predicted = predicted_seconds(item, reference)
        weights.append(1 / deviation**2)
        logs.append(math.log(item.step_seconds / predicted))
        kinds.append(kind)
    # The prior says: no correction. A far run of small weight is drawn towards it; but a measured
    # run may lie farther from the prediction than published ones, which are tuned, do.
    prior = 1 / max(residual, reference.value("sigma_own_run")) ** 2
    mean = sum(w * x for w, x in zip(weights, logs, strict=True)) / (sum(weights) + prior)
    best = min(reference.value(f"sigma_calibrated_{kind}") for kind in kinds)
    nearest = min(kinds, key=["same", "near", "far"].index)
    words = {
        "same": "the same model, device, batch and length",
        "near": "the same model and device in another configuration",
        "far": "another model or device",
    }[nearest]
    return Calibration(
        math.exp(mean),
        min(residual, best),
        tuple(item.label for item in measured),
        f"calibrated on {len(measured)} measured run(s), the nearest of {words}; they took "
        f"{brief(math.exp(_mean(logs, weights)))} times as long as predicted",
    )


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return sum(w * x for w, x in zip(weights, values, strict=True)) / sum(weights)


def predicted_seconds(item: Measured, reference: Reference) -> float:
    """Return what the measured seconds per step are compared with: overheads in or out alike."""
    seconds = step_time(item.run, reference).seconds
    steps = count_steps(item.run)
    if not item.whole_run or steps is None:
        return seconds
    hours = seconds * steps.optimizer_steps / 3600
    lines = overheads(item.run, steps, hours, reference)
    # The clock of a trainer starts after imports and loading.
    beside = WITHIN_MEASURED_STEPS | {"start-up"}
    inside = sum(line.hours.expected for line in lines if line.name not in beside)
    return seconds + inside * 3600 / steps.optimizer_steps


def resemblance(plan: TrainingRun, other: TrainingRun) -> str:
    """Return `same`, `near` or `far`: what a measured run can tell about a plan."""
    same_model = plan.model == other.model
    same_device = plan.hardware.accelerator.name == other.hardware.accelerator.name
    same_kind = plan.numerics.method == other.numerics.method
    if not (same_model and same_device and same_kind):
        return "far"
    alike = (
        plan.data.seq_len == other.data.seq_len
        and plan.batch == other.batch
        and plan.parallelism == other.parallelism
        and plan.numerics == other.numerics
    )
    return "same" if alike else "near"


def proven_peak_gib(plan: TrainingRun, measured: Sequence[Measured]) -> float | None:
    """Return a peak that a finished run of the plan's configuration has shown to be enough.

    That is its measured peak, or the whole device when only its success is known.
    """
    shown = [
        item.peak_memory_gib or item.run.hardware.accelerator.memory_gib
        for item in measured
        if item.finished and resemblance(plan, item.run) == "same"
    ]
    known = [peak for peak in shown if peak is not None]
    return min(known) if known else None


def seen_peak_gib(plan: TrainingRun, measured: Sequence[Measured]) -> float | None:
    """Return the largest peak that runs of the plan's configuration have reached, None unmeasured.

    The plan needs at least as much, whether such a run ended well or is still going on.
    """
    peaks = [
        item.peak_memory_gib
        for item in measured
        if item.peak_memory_gib is not None and resemblance(plan, item.run) == "same"
    ]
    return max(peaks, default=None)
