"""From the facts of one run to its whole assessment: time, memory, ranges, calibration.

This is the one entrance to the estimating: resolve, settle, try the assumptions, calibrate,
estimate.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from compute_budget_planner.estimation.calibration import (
    WITHIN_MEASURED_STEPS,
    Calibration,
    Measured,
    calibrate,
    proven_peak_gib,
    seen_peak_gib,
)
from compute_budget_planner.estimation.device_count import enough_devices
from compute_budget_planner.estimation.estimate import Estimate, LogSpread, estimate
from compute_budget_planner.estimation.memory import MemoryEstimate, estimate_memory
from compute_budget_planner.estimation.plausibility import sift
from compute_budget_planner.estimation.ranges import Z80, Range
from compute_budget_planner.estimation.steps import count_steps
from compute_budget_planner.estimation.uncertainty import (
    Uncertainty,
    residual_sigma,
    settle,
    uncertainty,
)
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.facts import Fact
from compute_budget_planner.workload.resolve import Resolution, resolve
from compute_budget_planner.workload.run import TrainingRun

_EDGE = 0.98
"""Share of the capacity above which allocations are retried."""


@dataclass(frozen=True)
class Assessment:
    """All about one run; without a run only `resolution` says anything.

    `settled` are the choices nobody made, taken because the usual ones would not fit in memory.
    """

    resolution: Resolution
    run: TrainingRun | None
    uncertainty: Uncertainty | None
    calibration: Calibration | None
    estimate: Estimate | None
    memory: MemoryEstimate | None
    settled: tuple[Fact, ...] = ()


def assess(
    facts: Sequence[Fact],
    reference: Reference,
    *,
    name: str = "run",
    withdrawn: Iterable[str] = (),
    measured: Sequence[Measured] = (),
    carried: Calibration | None = None,
) -> Assessment:
    """Assess a run from its facts.

    `carried` is the calibration of the run this one is a variant of: it is taken over as it is,
    so that the two differ by what was changed alone.

    Raises:
        FactError: facts contradict each other, or name something the guide does not know.
    """
    gone = tuple(withdrawn)

    def resolve_with(extra: Sequence[Fact]) -> Resolution:
        return resolve([*extra, *facts], reference, name=name, withdrawn=gone)

    resolution = resolve_with([])
    many = enough_devices(resolution, resolve_with, reference)
    if many:
        facts = [*many, *facts]
        resolution = resolve_with([])
    resolution, settled = settle(resolution, resolve_with, reference)
    run = resolution.run
    if run is None:
        return Assessment(resolution, None, None, None, None, None)
    steps = count_steps(run)
    residual = residual_sigma(run, reference)
    plausible, questions = sift(measured, reference)
    resolution = replace(resolution, questions=(*resolution.questions, *questions))
    calibration = carried or calibrate(run, plausible, residual, reference)
    sigma = residual if calibration is None else calibration.sigma
    spread = uncertainty(
        resolution, lambda extra: resolve_with([*extra, *settled]), reference, sigma
    )
    step_spread = spread.spread
    if calibration is not None:
        step_spread = _narrowed(step_spread, calibration)
    memory = estimate_memory(
        run,
        reference,
        spread.others,
        proven_peak_gib(run, measured),
        seen_peak_gib(run, measured),
    )
    timed = None
    if steps is not None:
        factor = 1.0 if calibration is None else calibration.factor
        within_steps = () if calibration is None else WITHIN_MEASURED_STEPS
        if calibration is None:
            slowdown = tight_slowdown(memory, reference)
            factor = slowdown.expected
            step_spread = _slowed(step_spread, slowdown)
        timed = estimate(run, steps, step_spread, reference, factor, within_steps)
    return Assessment(resolution, run, spread, calibration, timed, memory, settled)


def tight_slowdown(memory: MemoryEstimate, reference: Reference) -> Range:
    """Return the factor on time near the edge of memory, where the allocator retries.

    The expected value slows only within two percent of the capacity; where the high end comes
    as near, the slow end of the range knows it.
    """
    capacity = memory.capacity_gib
    if capacity is None or memory.verdict != "TIGHT":
        return Range.exact(1.0)
    slow = reference.quantity("tight_slowdown")
    edge = capacity * _EDGE
    return Range(
        1.0,
        slow.expected if memory.peak.expected >= edge else 1.0,
        slow.high if memory.peak.high >= edge else 1.0,
    )


def _slowed(spread: LogSpread, slowdown: Range) -> LogSpread:
    beside = math.log(slowdown.high / slowdown.expected) / Z80
    return LogSpread(spread.down, math.hypot(spread.up, beside))


def _narrowed(spread: LogSpread, calibration: Calibration) -> LogSpread:
    """Return the spread after calibration.

    What is assumed about the plan was as true of the measured run: a run that resembles the
    plan has measured the assumptions too, so they widen only as far as it does not.
    """
    own = calibration.sigma
    kept = min(1.0, own / 0.2)

    def end(value: float) -> float:
        assumed = math.sqrt(max(0.0, value * value - own * own))
        return math.sqrt(own * own + (assumed * kept) ** 2)

    return LogSpread(end(spread.down), end(spread.up))
