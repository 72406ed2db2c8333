"""What can be learned from rates that the Trainer rounds to three decimals."""

import math

from compute_budget_planner.readers.nodes import Node

_HALF_DIGIT = 0.0005
_LEAST_RATE = 0.05
"""Below this, rounding to three decimals shifts a rate by more than 1 %."""


def number_of(node: Node | None) -> float | None:
    """Return a finite number above 0, or None."""
    value = node.scalar if node is not None else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 < value < 1e18 else None


def trustworthy_rate(node: Node | None) -> float | None:
    """Return a rate that rounding has not changed by more than 1 %."""
    rate = number_of(node)
    return rate if rate is not None and rate >= _LEAST_RATE else None


def steps_of(
    runtime_seconds: float,
    steps_per_second: float,
    samples_per_second: float | None,
    dataset_examples: float | None,
    epochs: float | None,
) -> int | None:
    """Return the optimizer steps of a run when its rounded rates leave only one count.

    Several counts may agree with the rounded rate; then whole epochs of a known data set decide:
    steps = epochs × ceil(examples / batch), batch = samples per second / steps per second.
    """
    least = math.ceil((steps_per_second - _HALF_DIGIT) * runtime_seconds)
    most = math.floor((steps_per_second + _HALF_DIGIT) * runtime_seconds)
    if least == most:
        return least
    if samples_per_second is None or dataset_examples is None or epochs is None:
        return None
    batch = round(samples_per_second / steps_per_second)
    if batch < 1 or epochs != round(epochs):
        return None
    steps = round(epochs) * math.ceil(dataset_examples / batch)
    return steps if least <= steps <= most else None
