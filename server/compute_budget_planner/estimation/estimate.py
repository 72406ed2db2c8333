"""One run: steps, time, GPU-hours, energy and cost, before assumptions widen them."""

import math
from collections.abc import Collection
from dataclasses import dataclass

from compute_budget_planner.estimation.device_rate import dense_peak_tflops
from compute_budget_planner.estimation.overheads import Overhead, overheads
from compute_budget_planner.estimation.ranges import Range, total
from compute_budget_planner.estimation.step import flops_per_step, step_time
from compute_budget_planner.estimation.step_time import StepTime
from compute_budget_planner.estimation.steps import StepsLedger, count_steps
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.run import TrainingRun


@dataclass(frozen=True)
class LogSpread:
    """Log deviations below and above the expected value."""

    down: float
    up: float

    def around(self, expected: float) -> Range:
        """Return the 80 % range around an expected value."""
        return Range(
            Range.around(expected, self.down).low, expected, Range.around(expected, self.up).high
        )


@dataclass(frozen=True)
class Estimate:
    """Everything about the time of one run with one seed."""

    steps: StepsLedger
    step: StepTime
    step_seconds: Range
    overheads: tuple[Overhead, ...]
    wall_clock_hours: Range
    gpu_hours: Range
    flops_total: float
    mfu_percent: Range
    mfu_convention: str
    cost_usd: Range | None
    energy_kwh: Range | None


def point_gpu_hours(run: TrainingRun, reference: Reference) -> float | None:
    """Return expected GPU-hours of the steps alone; None when the length is not known."""
    steps = count_steps(run)
    if steps is None:
        return None
    seconds = step_time(run, reference).seconds * steps.optimizer_steps
    return seconds / 3600 * run.hardware.n_gpus


def estimate(
    run: TrainingRun,
    steps: StepsLedger,
    spread: LogSpread,
    reference: Reference,
    factor: float = 1.0,
    within_steps: Collection[str] = (),
) -> Estimate:
    """Estimate a run whose step time spreads by `spread` and is corrected by `factor`.

    `within_steps` names the overheads that the corrected step time holds already.

    Raises:
        FactError: the guide lacks a rate of the device.
    """
    predicted = step_time(run, reference)
    step = StepTime(
        predicted.seconds * factor,
        {name: seconds * factor for name, seconds in predicted.parts.items()},
        predicted.bottleneck,
    )
    step_seconds = spread.around(step.seconds)
    step_hours = step.seconds * steps.optimizer_steps / 3600
    beside = overheads(run, steps, step_hours, reference)
    lines = tuple(line for line in beside if line.name not in within_steps)
    wall = step_seconds.scaled(steps.optimizer_steps / 3600).plus(total(o.hours for o in lines))
    flops_step, convention = flops_per_step(run)
    peak = dense_peak_tflops(run.hardware.accelerator, run.numerics.precision) * 1e12
    at_peak = flops_step / (peak * run.hardware.n_gpus)
    gpu_hours = wall.scaled(run.hardware.n_gpus)
    price = run.hardware.usd_per_gpu_hour
    return Estimate(
        steps=steps,
        step=step,
        step_seconds=step_seconds,
        overheads=lines,
        wall_clock_hours=wall,
        gpu_hours=gpu_hours,
        flops_total=flops_step * steps.optimizer_steps,
        mfu_percent=step_seconds.inverse(100 * at_peak),
        mfu_convention=f"{convention}; of the dense 16-bit peak"
        if run.numerics.precision == "fp8"
        else f"{convention}; of the dense {run.numerics.precision} peak",
        cost_usd=gpu_hours.scaled(price) if price else None,
        energy_kwh=_energy(run, gpu_hours, reference),
    )


def _energy(run: TrainingRun, gpu_hours: Range, reference: Reference) -> Range | None:
    """Return kWh at the meter: TDP × share × server factor × PUE × GPU-hours."""
    watts = run.hardware.accelerator.tdp_watts
    if not watts:
        return None
    names = ("power_share_of_tdp", "server_power_factor", "pue")
    quantities = [reference.quantity(name) for name in names]
    factor = math.prod(q.expected for q in quantities) * watts / 1000
    return gpu_hours.scaled(factor)
