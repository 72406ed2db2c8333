"""How often loops run what stands in them, as far as their lists tell."""

import re
from collections.abc import Iterable, Sequence

_MOST = 10**6


def loop_runs(values: Sequence[str]) -> int | None:
    """Return how many values a `for` goes through; ranges count, unknown ones give None."""
    runs = 0
    for value in values:
        if match := re.fullmatch(r"\{(\d{1,9})\.\.(\d{1,9})\}", value):
            runs += abs(int(match[2]) - int(match[1])) + 1
        elif match := re.fullmatch(r"\$\(seq (?:(\d{1,9}) )?(\d{1,9})\)", value):
            runs += max(0, int(match[2]) - int(match[1] or 1) + 1)
        elif "$" in value or "*" in value:
            return None
        else:
            runs += 1
    return runs or None


def within(loops: Iterable[int | None]) -> int | None:
    """Return how often nested loops run together, None when one of them does not say."""
    runs = 1
    for count in loops:
        if count is None:
            return None
        runs = min(runs * count, _MOST)
    return runs
