"""How fast the device multiplies square matrices, by precision and size."""

from collections.abc import Iterable
from dataclasses import dataclass

from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.measuring.backend import Backend, Unmeasurable
from compute_budget_planner.measuring.timing import (
    LEAST_SAMPLES,
    WARM_UP_CALLS,
    samples,
    spread,
)

_SIZES = (256, 512, 1024, 2048, 4096, 6144, 8192, 12288, 16384)


@dataclass(frozen=True)
class MatmulRate:
    """TFLOPS (2·size³ per product) of `size × size` matrices."""

    precision: str
    size: int
    tflops: Range


def measure_matmul_rates(
    backend: Backend, precision: str, budget_seconds: float
) -> tuple[list[MatmulRate], str]:
    """Return the rates at rising sizes, and why the next size was not measured (empty: all were).

    A size is left out when its fewest repeats would outlast its share of the budget.
    """
    share = budget_seconds / len(_SIZES)
    found: list[MatmulRate] = []
    for size in _SIZES:
        if found:
            last = found[-1]
            work = 2.0 * size**3 * (LEAST_SAMPLES + WARM_UP_CALLS)
            if work / (last.tflops.expected * 1e12) > max(share, budget_seconds / 3):
                return found, ""
        try:
            # No name holds the operation: the next size finds its memory free.
            seconds = spread(samples(backend, backend.matmul(precision, size), share))
        except Unmeasurable as reason:
            return found, f"{precision} matmul of {size}: {reason}"
        found.append(MatmulRate(precision, size, seconds.inverse(2.0 * size**3 / 1e12)))
    return found, ""


def best_rate(rates: Iterable[MatmulRate], precision: str) -> MatmulRate | None:
    """Return the fastest size of a precision: what the guide calls achievable."""
    own = [rate for rate in rates if rate.precision == precision]
    return max(own, key=lambda rate: rate.tflops.expected) if own else None
