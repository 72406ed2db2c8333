"""Loss curves of logs: ordered, finite, and thin enough to be handed on."""

import math
from collections.abc import Iterable

from compute_budget_planner.readers.contract import LossSeries

MOST_POINTS = 5_000
_MOST_BROKEN = 100
TRAIN, VALIDATION = "train", "validation"


def loss_series(
    name: str, points: Iterable[tuple[float, float]], source: str, unit: str = "steps"
) -> tuple[LossSeries, ...]:
    """Return a curve of (step, loss) points, or nothing when no loss is finite.

    Of two losses at one step the later counts (a resumed run, another rank); the first and the
    last point are always kept.
    """
    placed = [(int(s), float(v)) for s, v in points if math.isfinite(s) and 0 <= s < 1e15]
    by_step = {step: value for step, value in placed if math.isfinite(value)}
    broken = sorted({step for step, value in placed if not math.isfinite(value)})
    if not by_step:
        return ()
    steps = sorted(by_step)
    if len(steps) > MOST_POINTS:
        last = len(steps) - 1
        steps = [steps[round(i * last / (MOST_POINTS - 1))] for i in range(MOST_POINTS)]
    values = tuple(by_step[step] for step in steps)
    return (LossSeries(name, tuple(steps), values, source, unit, tuple(broken[:_MOST_BROKEN])),)
