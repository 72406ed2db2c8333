"""Ranges: ordered, finite, and closed under the arithmetic of estimates."""

import math

import pytest
from compute_budget_planner.estimation.estimate import LogSpread
from compute_budget_planner.estimation.ranges import Z80, Range, total
from hypothesis import given
from hypothesis import strategies as st

SIZES = st.floats(0, 1e12)
RANGES = st.lists(SIZES, min_size=3, max_size=3).map(lambda ends: Range(*sorted(ends)))
POSITIVE_RANGES = st.lists(st.floats(1e-6, 1e9), min_size=3, max_size=3).map(
    lambda ends: Range(*sorted(ends))
)


@pytest.mark.parametrize(
    "ends",
    [
        (2, 1, 3),
        (1, 3, 2),
        (-1, 0, 1),
        (0, 1, math.inf),
        (math.nan, 1, 2),
        (0, math.nan, 1),
        (0, 1, math.nan),
    ],
)
def test_what_is_not_ordered_and_finite_is_no_range(ends: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="not a range"):
        Range(*ends)


def test_eighty_percent_of_a_log_normal_lie_inside() -> None:
    # The 90th percentile of the standard normal distribution is 1.2816.
    assert pytest.approx(1.2816, abs=5e-5) == Z80
    found = Range.around(10.0, math.log(2) / Z80)
    assert (found.low, found.expected, found.high) == pytest.approx((5, 10, 20))


def test_an_exact_range_has_no_width() -> None:
    assert Range.exact(7) == Range(7, 7, 7)
    assert Range.exact(7).width == 1
    assert Range.exact(0).width == 1
    assert Range(0, 0, 1).width == math.inf


def test_a_spread_may_be_wider_above_than_below() -> None:
    found = LogSpread(down=math.log(2) / Z80, up=math.log(4) / Z80).around(100)
    assert (found.low, found.expected, found.high) == pytest.approx((50, 100, 400))


def test_the_inverse_of_a_duration_is_a_rate_with_its_ends_exchanged() -> None:
    assert Range(2, 4, 8).inverse(16) == Range(2, 4, 8)


def test_sums_add_ends_with_ends() -> None:
    assert total([Range(1, 2, 3), Range(10, 20, 30), Range.exact(5)]) == Range(16, 27, 38)
    assert total([]) == Range.exact(0)


@given(RANGES, RANGES, st.floats(0, 1e6))
def test_sums_and_multiples_stay_ranges(one: Range, other: Range, factor: float) -> None:
    assert one.plus(other) == other.plus(one)
    assert one.plus(Range.exact(0)) == one
    assert one.scaled(factor).expected == one.expected * factor


@given(POSITIVE_RANGES, st.floats(1e-3, 1e3))
def test_scaling_keeps_the_width(found: Range, factor: float) -> None:
    assert found.scaled(factor).width == pytest.approx(found.width)


@given(POSITIVE_RANGES, st.floats(1e-3, 1e3))
def test_two_inversions_return_the_range(found: Range, numerator: float) -> None:
    back = found.inverse(numerator).inverse(numerator)
    assert (back.low, back.expected, back.high) == pytest.approx(
        (found.low, found.expected, found.high)
    )


@given(st.floats(1e-6, 1e9), st.floats(0, 2), st.floats(0, 2))
def test_more_deviation_never_narrows(expected: float, one: float, more: float) -> None:
    narrow, wide = Range.around(expected, one), Range.around(expected, one + more)
    assert wide.low <= narrow.low <= narrow.high <= wide.high
