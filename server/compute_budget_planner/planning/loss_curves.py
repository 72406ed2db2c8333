"""A loss curve made readable: its noise, its spikes, its restarts, its level and its slope.

Losses scatter, spike and saw with the learning rate, so nothing here is a mean or a fit by least
squares: bins are medians, noise comes from the median absolute deviation of second differences,
and slopes are those of Theil and Sen (Sen 1968, JASA 63:1379) over log2 of the steps, so that one
unit is a doubling of the training done.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

MAD_TO_SIGMA = 1.4826
"""A normal distribution's standard deviation over its median absolute deviation."""

_SECOND_DIFFERENCE = math.sqrt(6)
_Z90 = 1.645
_WINDOW = 5
_MIN_CYCLE = 6

END_OF_CYCLE = 0.15
"""Share of a cycle whose losses are those of its end."""


@dataclass(frozen=True)
class Curve:
    """Losses over steps; `steps` rise and are not negative, `values` are finite."""

    steps: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def end(self) -> float:
        """The last step."""
        return self.steps[-1]

    def between(self, first: float, last: float) -> "Curve":
        """Return the part with first < step ≤ last."""
        kept = [(s, v) for s, v in zip(self.steps, self.values, strict=True) if first < s <= last]
        return Curve(tuple(s for s, _ in kept), tuple(v for _, v in kept))


@dataclass(frozen=True)
class Slope:
    """Change of the loss per doubling of the steps with a 90 % interval, and where it was read."""

    low: float
    expected: float
    high: float
    from_step: float
    to_step: float
    points: int


@dataclass(frozen=True)
class Spike:
    """Losses far above those before and after: where the highest stands, and how far above."""

    step: float
    height: float


def noise_of(values: Sequence[float]) -> float:
    """Return the standard deviation of the scatter of single values about a smooth curve.

    From second differences, which a straight line leaves at zero; 0 for fewer than five values.
    """
    if len(values) < _WINDOW:
        return 0.0
    differences = [a - 2 * b + c for a, b, c in zip(values, values[1:], values[2:], strict=False)]
    middle = median(differences)
    spread = median(abs(d - middle) for d in differences)
    return MAD_TO_SIGMA * spread / _SECOND_DIFFERENCE


def binned(curve: Curve, bins: int) -> Curve:
    """Return medians of steps and losses in equal parts of the way from first to last step."""
    if len(curve.steps) <= bins:
        return curve
    first, width = curve.steps[0], (curve.end - curve.steps[0]) / bins
    parts: dict[int, list[int]] = {}
    for index, step in enumerate(curve.steps):
        parts.setdefault(min(bins - 1, int((step - first) / width)), []).append(index)
    return Curve(
        tuple(median(curve.steps[i] for i in part) for part in parts.values()),
        tuple(median(curve.values[i] for i in part) for part in parts.values()),
    )


def theil_sen(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """Return low, median and high slope; the interval is Sen's from Kendall's variance, 90 %.

    With too few points for the interval it is that of all pairs. `x` rises, two points or more.
    """
    slopes = sorted(
        (y[j] - y[i]) / (x[j] - x[i]) for i in range(len(x)) for j in range(i + 1, len(x))
    )
    n, pairs = len(x), len(slopes)
    reach = _Z90 * math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    low = max(0, math.floor((pairs - reach) / 2))
    high = min(pairs - 1, math.ceil((pairs + reach) / 2))
    return slopes[low], median(slopes), slopes[high]


def slope_of(curve: Curve) -> Slope | None:
    """Return the slope of a curve over log2 of its steps; None below three points past step 0."""
    if len(curve.steps) < 3:
        return None
    used = curve.between(0, curve.end)
    if len(used.steps) < 3:
        return None
    low, expected, high = theil_sen([math.log2(s) for s in used.steps], used.values)
    return Slope(low, expected, high, used.steps[0], used.end, len(used.steps))


def scale_of(curve: Curve, drop_percent: float) -> float:
    """Return what percentages are taken of: the final level, or a share of the whole drop.

    The share keeps losses near zero, or below it, from making every change look large; a billionth
    of the largest loss keeps the percentages finite.
    """
    count = max(1, min(_WINDOW, len(curve.values) // 4))
    first, last = median(curve.values[:count]), median(curve.values[-count:])
    least = max(map(abs, curve.values)) * 1e-9
    return max(abs(last), abs(first - last) * drop_percent / 100, least) or 1.0


def spikes_of(curve: Curve, least_height: float) -> tuple[Spike, ...]:
    """Return the spikes: losses above the medians of the points before and after them.

    A jump that stays, as after a restart of the schedule, is none.
    """
    found: list[Spike] = []
    last_index = -2 * _WINDOW
    for i in range(_WINDOW, len(curve.values) - 2):
        height = max(
            min(
                curve.values[i] - median(curve.values[max(0, i - gap - _WINDOW) : i - gap]),
                curve.values[i] - median(after),
            )
            for gap in (0, _WINDOW - 1)
            if i > gap and (after := curve.values[i + gap + 1 : i + gap + 1 + _WINDOW])
        )
        if height <= least_height:
            continue
        spike = Spike(curve.steps[i], height)
        if i - last_index <= _WINDOW:
            found[-1] = max(found[-1], spike, key=lambda s: s.height)
        else:
            found.append(spike)
        last_index = i
    return tuple(found)


def without_spikes(curve: Curve, spikes: Sequence[Spike], least_height: float) -> Curve:
    """Return the curve without the points of its spikes."""
    if not spikes:
        return curve
    peaks = {spike.step for spike in spikes}
    dropped: set[int] = set()
    for index, step in enumerate(curve.steps):
        if step in peaks:
            before = median(curve.values[max(0, index - 2 * _WINDOW) : index])
            for near in range(max(0, index - _WINDOW), min(len(curve.steps), index + _WINDOW + 1)):
                if curve.values[near] - before > least_height / 2:
                    dropped.add(near)
    kept = [i for i in range(len(curve.steps)) if i not in dropped]
    return Curve(tuple(curve.steps[i] for i in kept), tuple(curve.values[i] for i in kept))


def restarts_of(curve: Curve, least_jump: float) -> tuple[float, ...]:
    """Return the last steps before the loss jumped up, stayed up and then fell back below.

    That is how a warm restart of the learning rate looks (Loshchilov & Hutter 2017,
    arXiv:1608.03983). A jump from which the loss does not come back is no restart.
    """
    values, found = curve.values, []
    index = _MIN_CYCLE
    while index < len(values) - _MIN_CYCLE:
        before = median(values[index - _MIN_CYCLE : index])
        after = median(values[index : index + _MIN_CYCLE])
        if after - before <= least_jump:
            index += 1
            continue
        # The steepest place near by is the jump itself.
        near = range(index, min(index + _MIN_CYCLE, len(values)))
        index = max(near, key=lambda i: values[i] - values[i - 1])
        later = values[index:]
        lowest = min(median(later[i : i + 3]) for i in range(max(1, len(later) - 2)))
        if lowest > before + least_jump / 2:
            break
        found.append(curve.steps[index - 1])
        index += _MIN_CYCLE
    return tuple(found)


def cycle_ends(curve: Curve, restarts: Sequence[float]) -> Curve:
    """Return the level at the end of each cycle of a schedule with restarts.

    A last cycle still above the end of the one before has not been trained out: it is left out.
    """
    steps, levels = [], []
    edges = [0.0, *restarts, curve.end]
    for first, last in pairwise(edges):
        part = curve.between(last - END_OF_CYCLE * (last - first), last)
        if part.values:
            steps.append(last)
            levels.append(median(part.values))
    if len(levels) > 1 and levels[-1] > levels[-2] and _last_cycle_is_short(edges):
        steps, levels = steps[:-1], levels[:-1]
    return Curve(tuple(steps), tuple(levels))


def _last_cycle_is_short(edges: Sequence[float]) -> bool:
    """Tell whether the last cycle is shorter than nine tenths of the one before."""
    return (edges[-1] - edges[-2]) < 0.9 * (edges[-2] - edges[-3])
