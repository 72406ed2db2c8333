"""A quantity as a range: 10th, 50th and 90th percentile."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from compute_budget_planner.guide.rows import Quantity

Z80 = 1.2815515655446004
"""Standard normal quantile at 90 %: half the width of a central 80 % range."""


@dataclass(frozen=True, slots=True)
class Range:
    """`low / expected / high`: 10th, 50th and 90th percentile, all finite and not negative."""

    low: float
    expected: float
    high: float

    def __post_init__(self) -> None:
        """Refuse a range that is not one."""
        if not (0 <= self.low <= self.expected <= self.high < math.inf):
            text = f"not a range: {self.low} / {self.expected} / {self.high}"
            raise ValueError(text)

    @classmethod
    def exact(cls, value: float) -> "Range":
        """Return a range without width."""
        return cls(value, value, value)

    @classmethod
    def around(cls, expected: float, log_sigma: float) -> "Range":
        """Return the central 80 % of a log-normal with that median and log deviation."""
        factor = math.exp(Z80 * log_sigma)
        return cls(expected / factor, expected, expected * factor)

    def scaled(self, factor: float) -> "Range":
        """Return the range times a known factor ≥ 0."""
        return Range(self.low * factor, self.expected * factor, self.high * factor)

    def inverse(self, numerator: float = 1.0) -> "Range":
        """Return numerator / range; the ends change places."""
        return Range(numerator / self.high, numerator / self.expected, numerator / self.low)

    def plus(self, other: "Range") -> "Range":
        """Return the sum when both move together (ends add; conservative)."""
        return Range(self.low + other.low, self.expected + other.expected, self.high + other.high)

    @property
    def width(self) -> float:
        """High over low; 1 when exact."""
        return self.high / self.low if self.low > 0 else (1.0 if self.high == 0 else math.inf)


def times(quantity: Quantity, factor: float) -> Range:
    """Return a number of the guide, with its ends, times a factor ≥ 0."""
    return Range(quantity.low * factor, quantity.expected * factor, quantity.high * factor)


def total(ranges: Iterable[Range]) -> Range:
    """Return the sum of ranges that move together."""
    result = Range.exact(0.0)
    for item in ranges:
        result = result.plus(item)
    return result
