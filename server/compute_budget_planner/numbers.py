"""One way to round and to write a number, for every page and every text a tool returns.

The result models round with `rounded`; `shown` rounds nothing, so a number in prose, in a table
and in JSON is the same number.
"""

import math
from decimal import Decimal

_LARGEST_WRITTEN_OUT = 1e15
_SMALLEST_WRITTEN_OUT = 1e-4


def rounded(value: float) -> float:
    """Return a number to three significant digits."""
    return float(f"{value:.3g}")


def brief(value: float) -> str:
    """Return a number rounded and written."""
    return shown(rounded(value))


def written(value: float | str | bool) -> str:
    """Return a fact's value as a config writes it: no separators, no trailing `.0`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 seed`, `3 seeds`."""
    return f"{shown(count)} {noun}" if count == 1 else f"{shown(count)} {noun}s"


def shown(number: float) -> str:
    """Return a number as a person writes it: `1,020,000`, `12.6`, `0.0123`.

    Whole numbers get thousands separators whatever their size. Only floats nobody would write
    out (FLOPs of a run, a learning rate of `2e-5`) keep an exponent.

    Raises:
        ValueError: the number is infinite or not a number.
    """
    if isinstance(number, int):
        return f"{number:,}"
    if not math.isfinite(number):
        text = f"{number} cannot be shown"
        raise ValueError(text)
    size = abs(number)
    if size >= _LARGEST_WRITTEN_OUT or 0 < size < _SMALLEST_WRITTEN_OUT:
        mantissa, exponent = f"{Decimal(repr(number)).normalize():e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    digits = Decimal(repr(number))
    return f"{int(digits):,}" if digits == digits.to_integral_value() else f"{digits:,f}"
