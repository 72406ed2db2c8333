"""The building blocks of a page: sections with a name, tables, lists, fences, ranges.

Blocks are lists of lines without line ends. Cells and items are Markdown already: text of a
project has gone through `escape` before it comes here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compute_budget_planner.markdown.escape import fence_around
from compute_budget_planner.numbers import shown
from compute_budget_planner.results import RangeOut

UNKNOWN = "unknown"
NONE = "–"


@dataclass(frozen=True)
class Section:
    """A generated part of a page: what stands between its two markers, line by line."""

    name: str
    lines: tuple[str, ...]


def section(name: str, *blocks: Sequence[str]) -> Section:
    """Return a section of blocks, one blank line between two of them; empty ones are left out."""
    lines: list[str] = []
    for block in blocks:
        if any(block):
            lines += ["", *block] if lines else block
    return Section(name, tuple(lines))


def joined(*blocks: Sequence[str]) -> list[str]:
    """Return blocks as one, a blank line between two of them; empty ones leave no trace."""
    return list(section("", *blocks).lines)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table; nothing when it has no rows."""
    body = [f"| {' | '.join(row)} |" for row in rows]
    return [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *body] if body else []


def bullets(items: Iterable[str]) -> list[str]:
    """Return a list, empty items left out."""
    return [f"- {item}" for item in items if item]


def titled(title: str, block: Sequence[str]) -> list[str]:
    """Return a block under a line that names it; nothing when the block is empty."""
    return [title, "", *block] if block else []


def fenced(info: str, text: str) -> list[str]:
    """Return text as a fenced block no line of which can close it."""
    fence = fence_around(text)
    return [f"{fence}{info}", *text.split("\n"), fence]


def span(value: RangeOut | None, unit: str = "") -> str:
    """Return `low – expected – high unit`, one number when all three are the same."""
    if value is None:
        return UNKNOWN
    texts = list(dict.fromkeys(map(shown, (value.low, value.expected, value.high))))
    numbers = texts[0] if len(texts) == 1 else _three(value)
    return f"{numbers} {unit}".rstrip()


def number(value: float | None, unit: str = "") -> str:
    """Return a number with its unit, or that it is unknown."""
    return UNKNOWN if value is None else f"{shown(value)} {unit}".rstrip()


def _three(value: RangeOut) -> str:
    return f"{shown(value.low)} – {shown(value.expected)} – {shown(value.high)}"
