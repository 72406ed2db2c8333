"""Repeats of an operation, and the range they give."""

import math
from statistics import quantiles

from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.measuring.backend import Backend, Operation

WARM_UP_CALLS = 2
LEAST_SAMPLES = 5
_MOST_SAMPLES = 30
_MOST_CALLS = 2_000
# Long enough that clock and waiting cost nothing beside it, and that power limits show.
_SAMPLE_SECONDS = 0.1


def spread(samples: list[float]) -> Range:
    """Return 10th, 50th and 90th percentile of at least two samples."""
    tenths = quantiles(samples, n=10, method="inclusive")
    # Interpolation between equal samples may round either way.
    return Range(*sorted((tenths[0], tenths[4], tenths[8])))


def samples(backend: Backend, operation: Operation, budget_seconds: float) -> list[float]:
    """Return seconds per call, one sample each of as many calls as make it long enough.

    At least `LEAST_SAMPLES` are taken, whatever the budget; the calls that warm up libraries,
    caches and clocks are not among them.

    Raises:
        Unmeasurable: the operation does not run here.
    """
    calls = calls_per_sample(backend, operation, budget_seconds)
    found: list[float] = []
    spent = 0.0
    while len(found) < LEAST_SAMPLES or (spent < budget_seconds and len(found) < _MOST_SAMPLES):
        found.append(backend.seconds(operation, calls))
        spent += found[-1] * calls
    return found


def calls_per_sample(backend: Backend, operation: Operation, budget_seconds: float) -> int:
    """Warm an operation up and return how many calls make one sample of it."""
    for _ in range(WARM_UP_CALLS - 1):
        backend.seconds(operation, 1)
    once = max(backend.seconds(operation, 1), 1e-9)
    wanted = min(_SAMPLE_SECONDS, budget_seconds / LEAST_SAMPLES)
    return min(max(1, math.ceil(wanted / once)), _MOST_CALLS)
