"""The lab page as text: one marked block per device measured, a person's words around them.

Marker lines are looked for as lines, so that no open code fence in a person's text hides them.
"""

import re
from collections.abc import Sequence

from compute_budget_planner.errors import FormatError

_TITLE = """\
# Lab guide

Rows of the guide's tables that hold for this project; they win over the shipped ones. Blocks
between marker lines are written by `compute-budget-planner measure`; everything else is yours.
"""


def without_block(text: str, device: str, path: str) -> str:
    """Return the page without the block of a device; the page as it is when it has none.

    Raises:
        FormatError: a marker of the device is doubled or without its other half.
    """
    place = _block(text, device, path)
    return text if place is None else text[: place[0]] + text[place[1] :]


def with_block(text: str, device: str, body: str, path: str) -> str:
    """Return the page with a device's block in its place, at the end when it had none.

    `text` keeps its line ends; the block takes over those of the page.

    Raises:
        FormatError: a marker of the device is doubled or without its other half.
    """
    block = f"{_begin(device)}\n{body.strip()}\n{_end(device)}\n"
    if "\r\n" in text:
        block = block.replace("\n", "\r\n")
    place = _block(text, device, path)
    if place is not None:
        return text[: place[0]] + block + text[place[1] :]
    line_end = "\r\n" if "\r\n" in text else "\n"
    before = text or _TITLE
    gap = "" if before.endswith("\n") else line_end
    return f"{before}{gap}{line_end}{block}"


def table(name: str, source: str, checked: str, rows: Sequence[dict[str, str]]) -> str:
    """Return a captioned table of the guide; `checked` is a date, YYYY-MM-DD."""
    caption = f"Table `{name}`. Source: {source}. Checked: {checked}."
    return f"{caption}\n\n{plain_table(list(rows[0]), [list(row.values()) for row in rows])}"


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _begin(device: str) -> str:
    return f"<!-- compute-budget-planner measure: begin {device} -->"


def _end(device: str) -> str:
    return f"<!-- compute-budget-planner measure: end {device} -->"


def _block(text: str, device: str, path: str) -> tuple[int, int] | None:
    """Return where the block starts and where what follows it does."""
    begins, ends = (
        list(re.finditer(rf"^{re.escape(marker)}[ \t]*\r?(?:\n|\Z)", text, re.MULTILINE))
        for marker in (_begin(device), _end(device))
    )
    if not begins and not ends:
        return None
    if len(begins) == len(ends) == 1 and begins[0].end() <= ends[0].start():
        return begins[0].start(), ends[0].end()
    first = min(marker.start() for marker in (*begins, *ends))
    raise FormatError(
        f"the block of `{device}` does not have exactly one begin and one end marker",
        where=f"{path}:{text.count(chr(10), 0, first) + 1}",
        remedy="Repair the two marker lines, or delete the block with both of them.",
    )
