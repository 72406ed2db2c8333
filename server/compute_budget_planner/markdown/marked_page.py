"""A page as generated parts between marker lines, and a person's text around them.

Markers are whole lines, `<!-- budget:begin NAME -->` and `<!-- budget:end NAME -->`, not nodes of
the Markdown tree: an open code fence in hand-written text would hide all that follows from a
Markdown parser, and the page would be written twice.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from compute_budget_planner.errors import FormatError
from compute_budget_planner.markdown.machine_block import MACHINE, MachineBlock, parse_block

BUDGET_NAME = "compute-budget.md"

_MARKER = re.compile(r"<!-- budget:(begin|end) ([a-z-]+) -->[ \t]*\r?\n?")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BYTE_ORDER_MARK = "\ufeff"
_REMEDY = (
    "Every generated part needs exactly one begin and one end marker, each alone on its line. "
    "Repair them, or delete the whole part with both markers to have it written anew; "
    "indent a marker line that is only quoted."
)


@dataclass(frozen=True)
class Part:
    """A generated part: indices of its two marker lines."""

    begin: int
    end: int


@dataclass(frozen=True)
class MarkedPage:
    """A page: its lines with their line ends, and its generated parts by name."""

    byte_order_mark: str
    lines: tuple[str, ...]
    parts: Mapping[str, Part]

    @property
    def line_end(self) -> str:
        r"""The line end most lines have: `\r\n` or `\n`."""
        windows = sum(line.endswith("\r\n") for line in self.lines)
        return "\r\n" if 2 * windows > len(self.lines) else "\n"

    def inside(self, name: str) -> list[str]:
        """Return the lines between the markers of a part, without line ends."""
        part = self.parts[name]
        inner = self.lines[part.begin + 1 : part.end]
        return [line.removesuffix("\n").removesuffix("\r") for line in inner]


def begin_marker(name: str) -> str:
    """Return the line that opens a generated part."""
    return f"<!-- budget:begin {name} -->"


def end_marker(name: str) -> str:
    """Return the line that closes a generated part."""
    return f"<!-- budget:end {name} -->"


def marked_page(text: str, names: Collection[str], path: str = BUDGET_NAME) -> MarkedPage:
    """Return a page with the parts of these names; markers of other names are a person's text.

    Raises:
        FormatError: a marker is doubled, nested or without its other half.
    """
    body = text.removeprefix(_BYTE_ORDER_MARK)
    lines = tuple(_LINE.findall(body))
    parts: dict[str, Part] = {}
    opened: tuple[str, int] | None = None
    for index, line in enumerate(lines):
        match = _MARKER.fullmatch(line)
        if match is None or match[2] not in names:
            continue
        kind, name = match.groups()
        where = f"{path}:{index + 1}"
        if kind == "begin":
            if opened is not None:
                text = f"part `{name}` begins before part `{opened[0]}` has ended"
                raise FormatError(text, where=where, remedy=_REMEDY)
            if name in parts:
                text = f"part `{name}` is there twice"
                raise FormatError(text, where=where, remedy=_REMEDY)
            opened = (name, index)
        elif opened is None or opened[0] != name:
            text = f"part `{name}` ends here but has not begun"
            raise FormatError(text, where=where, remedy=_REMEDY)
        else:
            parts[name] = Part(opened[1], index)
            opened = None
    if opened is not None:
        text = f"part `{opened[0]}` has no end marker"
        raise FormatError(text, where=f"{path}:{opened[1] + 1}", remedy=_REMEDY)
    return MarkedPage(text[: len(text) - len(body)], lines, parts)


def read_machine_block(text: str, path: str = BUDGET_NAME) -> MachineBlock | None:
    """Return the machine block of a page, None when the page has none.

    Raises:
        FormatError: its markers are broken, or what stands between them is no machine block.
    """
    page = marked_page(text, [MACHINE], path)
    if MACHINE not in page.parts:
        return None
    first_line = page.parts[MACHINE].begin + 2
    return parse_block(page.inside(MACHINE), path=path, first_line=first_line)
