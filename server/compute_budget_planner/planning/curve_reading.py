"""What one loss curve says: level, fall over the last doubling, lowest point, rise, spikes.

Percentages are of the curve's own scale (`scale_of`), so that they mean the same for a loss of
10 and of 0.1. Where the schedule restarts, only the ends of its cycles are compared.
"""

import math
from dataclasses import dataclass
from statistics import median

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.planning.loss_curves import (
    END_OF_CYCLE,
    Curve,
    Spike,
    binned,
    cycle_ends,
    noise_of,
    restarts_of,
    scale_of,
    slope_of,
    spikes_of,
    theil_sen,
    without_spikes,
)

_BINS, _TAIL_BINS = 40, 16
_LAST = 3
_MEDIAN_COST = 1.25
"""Standard error of a median over that of a mean, for normal scatter."""


@dataclass(frozen=True)
class Thresholds:
    """The numbers of table `diagnosis_thresholds`; percentages are of a curve's scale."""

    level_percent: float
    steep_percent: float
    rise_percent: float
    divergence_percent: float
    high_percent: float
    restart_percent: float
    spike_percent: float
    spike_noises: float
    unstable_spikes: float
    noise_multiples: float
    drop_percent: float
    finished_percent: float
    train_points: float
    validation_points: float

    @classmethod
    def of(cls, reference: Reference) -> "Thresholds":
        """Read them from the guide.

        Raises:
            GuideError: one is missing.
        """
        return cls(
            level_percent=reference.value("diagnosis_level_percent"),
            steep_percent=reference.value("diagnosis_steep_percent"),
            rise_percent=reference.value("diagnosis_rise_percent"),
            divergence_percent=reference.value("diagnosis_divergence_percent"),
            high_percent=reference.value("diagnosis_high_percent"),
            restart_percent=reference.value("diagnosis_restart_percent"),
            spike_percent=reference.value("diagnosis_spike_percent"),
            spike_noises=reference.value("diagnosis_spike_noises"),
            unstable_spikes=reference.value("diagnosis_unstable_spikes"),
            noise_multiples=reference.value("diagnosis_noise_multiples"),
            drop_percent=reference.value("diagnosis_drop_percent"),
            finished_percent=reference.value("diagnosis_finished_percent"),
            train_points=reference.value("diagnosis_train_points"),
            validation_points=reference.value("diagnosis_validation_points"),
        )


@dataclass(frozen=True)
class Fall:
    """How fast a loss falls, in percent of its scale per doubling of the steps, 90 % interval."""

    low: float
    expected: float
    high: float
    from_step: float
    to_step: float


@dataclass(frozen=True)
class CurveReading:
    """A curve read. Losses in its own unit, `noise` that of one compared level.

    `fall` is None where too little of the curve is left to tell. `rises` says that the loss is
    above its lowest level by more than noise, and keeps rising from there. `smooth` is the curve in
    bins, from first to last step.
    """

    points: int
    level: float
    noise: float
    scale: float
    fall: Fall | None
    lowest: float
    lowest_step: float
    rise_percent: float
    rises: bool
    spikes: tuple[Spike, ...]
    restarts: tuple[float, ...]
    smooth: Curve

    def at(self, step: float) -> float:
        """Return the level at a step, between levels in a straight line."""
        return interpolated(self.smooth, step)


def interpolated(curve: Curve, step: float) -> float:
    """Return the loss at a step, between points in a straight line, beyond them the nearest."""
    if step <= curve.steps[0]:
        return curve.values[0]
    for i in range(1, len(curve.steps)):
        if step <= curve.steps[i]:
            share = (step - curve.steps[i - 1]) / (curve.steps[i] - curve.steps[i - 1])
            return curve.values[i - 1] + share * (curve.values[i] - curve.values[i - 1])
    return curve.values[-1]


def read_curve(
    raw: Curve, limits: Thresholds, restarts: tuple[float, ...] | None = None
) -> CurveReading:
    """Read a curve of one point or more; `restarts` are those another curve of the run shows."""
    scale = scale_of(raw, limits.drop_percent)
    scatter = noise_of(raw.between(raw.end / 2, raw.end).values)
    least = max(limits.spike_noises * scatter, scale * limits.spike_percent / 100)
    spikes = spikes_of(raw, least)
    curve = without_spikes(raw, spikes, least)
    smooth = binned(curve, _BINS)
    if restarts is None:
        jump = max(limits.noise_multiples * scatter, scale * limits.restart_percent / 100)
        restarts = restarts_of(curve, jump)
    ends = cycle_ends(curve, [step for step in restarts if step < raw.end])
    restarts = restarts if ends.steps else ()
    parts = (len(restarts) + 1) / END_OF_CYCLE if restarts else _BINS
    each = len(curve.steps) / parts
    noise = scatter if each <= 1 else scatter * min(1.0, _MEDIAN_COST / math.sqrt(each))
    compared = ends if restarts else smooth
    level = compared.values[-1] if restarts else median(compared.values[-_LAST:])
    lowest, lowest_step = _lowest(compared)
    rise = level - lowest
    return CurveReading(
        points=len(raw.steps),
        level=level,
        noise=noise,
        scale=scale,
        fall=_fall(curve, compared if restarts else None, scale, noise),
        lowest=lowest,
        lowest_step=lowest_step,
        rise_percent=100 * rise / scale,
        rises=rise > max(limits.rise_percent * scale / 100, limits.noise_multiples * noise)
        and _goes_up(compared, lowest_step),
        spikes=spikes,
        restarts=restarts,
        smooth=_to_the_end(smooth, raw.end),
    )


def _to_the_end(smooth: Curve, end: float) -> Curve:
    """Return a binned curve up to the last step, which lies behind the middle of its last bin."""
    if smooth.end >= end:
        return smooth
    return Curve((*smooth.steps, end), (*smooth.values, smooth.values[-1]))


def _lowest(curve: Curve) -> tuple[float, float]:
    """Return the lowest median of three neighbours and its step; of few points the lowest."""
    if len(curve.values) < _LAST + 2:
        return min(zip(curve.values, curve.steps, strict=True))
    found = [
        (median(curve.values[i - 1 : i + 2]), curve.steps[i])
        for i in range(1, len(curve.values) - 1)
    ]
    return min(found)


def _goes_up(curve: Curve, since: float) -> bool:
    later = [(s, v) for s, v in zip(curve.steps, curve.values, strict=True) if s >= since]
    if len(later) < _LAST:
        return len(later) == 2
    low, _, _ = theil_sen([s for s, _ in later], [v for _, v in later])
    return low > 0


def _fall(curve: Curve, ends: Curve | None, scale: float, noise: float) -> Fall | None:
    """Return the fall over the last half of the steps, or over the last cycles."""
    if ends is None:
        slope = slope_of(binned(curve.between(curve.end / 2, curve.end), _TAIL_BINS))
        if slope is None:
            return None
        low, expected, high = (-100 * s / scale for s in (slope.high, slope.expected, slope.low))
        return Fall(low, expected, high, slope.from_step, slope.to_step)
    recent = ends.between(ends.end / 4, ends.end)
    if len(recent.steps) < 2:
        return None
    # Few ends: the last two with the noise of both, so that the interval is no smaller than that.
    first, last = recent.steps[-2], recent.steps[-1]
    doublings = math.log2(last / first)
    fall = (recent.values[-2] - recent.values[-1]) / doublings
    reach = 1.645 * math.sqrt(2) * noise / doublings
    low, expected, high = (100 * f / scale for f in (fall - reach, fall, fall + reach))
    return Fall(low, expected, high, first, last)
