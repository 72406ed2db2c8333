"""Numbers are written as a person writes them, and lose nothing."""

import math

import pytest
from compute_budget_planner.numbers import shown
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.0, "0"),
        (7, "7"),
        (1_020_000, "1,020,000"),
        (1_020_000.0, "1,020,000"),
        (15_000_000_000_000, "15,000,000,000,000"),
        (12.6, "12.6"),
        (0.0123, "0.0123"),
        (0.0001, "0.0001"),
        (2e-5, "2e-5"),
        (1.23e22, "1.23e22"),
        (1234.5, "1,234.5"),
        (-3.5, "-3.5"),
    ],
)
def test_a_number_reads_as_a_person_writes_it(number: float, text: str) -> None:
    assert shown(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 10**18))
def test_a_shown_number_is_the_number(number: float) -> None:
    assert type(number)(shown(number).replace(",", "")) == number


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_never_shown(number: float) -> None:
    with pytest.raises(ValueError, match="cannot be shown"):
        shown(number)
