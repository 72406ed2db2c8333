"""The speed a log shows once a run has settled: warm-up dropped, slow steps kept apart.

The first steps compile, allocate and fill pipelines; evaluation and saving make single stretches
slow. The median of the stretches after the warm-up is the speed of training itself; the mean of the
same stretches holds evaluation and saving where the log's clock does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

_WARM_UP_STEPS = 20
_WARM_UP_SHARE = 0.1
_SLOWER = 1.02
"""A first stretch this many times slower than the rest still belongs to the warm-up."""

_SETTLED_STEPS = 20
_SETTLED_SECONDS = 60.0


@dataclass(frozen=True)
class Stretch:
    """Steps between two lines of a log, and the seconds each of them took."""

    steps: int
    seconds: float


@dataclass(frozen=True)
class SteadySpeed:
    """Seconds per step after the warm-up: median, 10th and 90th percentile, mean by steps.

    `steps` are those that were timed; `settled` says whether they are enough to go by.
    """

    step_seconds: float
    low: float
    high: float
    mean_seconds: float
    steps: int

    @property
    def settled(self) -> bool:
        """Whether 20 steps, or one minute, were timed after the warm-up."""
        timed_seconds = self.mean_seconds * self.steps
        return self.steps >= _SETTLED_STEPS or timed_seconds >= _SETTLED_SECONDS


def stretches(clock: Iterable[tuple[int, float]], least_seconds: float = 0.0) -> list[Stretch]:
    """Return the stretches between readings (step, seconds since some start).

    Readings nearer than `least_seconds`, as on a clock that shows whole seconds, are joined. A
    clock or counter that goes back was set to zero: nothing is known of the time between. What
    passes while the step stays the same (an evaluation) belongs to no step.
    """
    found = []
    last: tuple[int, float] | None = None
    for step, seconds in clock:
        if last is None or step <= last[0] or seconds < last[1]:
            last = (step, seconds)
        elif seconds - last[1] > least_seconds:
            steps = step - last[0]
            found.append(Stretch(steps, (seconds - last[1]) / steps))
            last = (step, seconds)
    return found


def steady_speed(timed: Sequence[Stretch]) -> SteadySpeed | None:
    """Return the speed after the warm-up, or None when nothing was timed after it.

    The warm-up is the first 20 steps or the first tenth, whichever is shorter, and what follows
    as long as it is slower than all that comes later.
    """
    known = [stretch for stretch in timed if 0 < stretch.seconds < 1e9 and stretch.steps > 0]
    warm_up_steps = min(_WARM_UP_STEPS, _WARM_UP_SHARE * sum(s.steps for s in known))
    passed, first = 0, 0
    while first < len(known) and passed < warm_up_steps:
        passed += known[first].steps
        first += 1
    settled = known[first:]
    while len(settled) > 1 and settled[0].seconds > _SLOWER * median(
        stretch.seconds for stretch in settled[1:]
    ):
        settled = settled[1:]
        if 2 * len(settled) < len(known) - first:
            break
    if not settled:
        return None
    each = [stretch.seconds for stretch in settled]
    deciles = quantiles(each, n=10, method="inclusive") if len(each) > 1 else each * 9
    steps = sum(stretch.steps for stretch in settled)
    whole = sum(stretch.steps * stretch.seconds for stretch in settled)
    return SteadySpeed(median(each), deciles[0], deciles[-1], whole / steps, steps)
