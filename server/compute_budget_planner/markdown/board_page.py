"""A memory board as lines: its headings, the lines that may be rows, edits that keep the rest.

Boards are written by many hands. A line is changed or added; every other byte stays, a byte order
mark, mixed line ends and a missing last line end included.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape

from markdown_it import MarkdownIt

_BYTE_ORDER_MARK = "\ufeff"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MARKS = re.compile(r"[\\`*]|(?<!\w)_|_(?!\w)")


@dataclass(frozen=True)
class Heading:
    """A heading outside of lists and quotes: index of its line, level 1 to 6, text."""

    line: int
    level: int
    title: str


@dataclass(frozen=True)
class BoardPage:
    """A page: lines with their line ends, headings, and indices of the lines that may be rows.

    `row_lines` leaves out code, comments, HTML, lists and quotes: what looks like a table there
    is none. Outside of a table that Markdown knows as one, a row begins with `|`.
    """

    byte_order_mark: str
    lines: tuple[str, ...]
    headings: tuple[Heading, ...]
    row_lines: frozenset[int]

    @property
    def text(self) -> str:
        """The page as it was read."""
        return self.byte_order_mark + "".join(self.lines)

    def with_line(self, index: int, line: str) -> str:
        """Return the text with another line (with its line end) in the place of one."""
        return self._joined(*self.lines[:index], line, *self.lines[index + 1 :])

    def with_lines(self, at: int, added: Sequence[str]) -> str:
        """Return the text with lines, given without line ends, before the line `at`.

        They end as the line above does. A page whose last line has no end keeps it that way.
        """
        end = self._line_end(at)
        if at == len(self.lines) and self.lines and not self.lines[-1].endswith("\n"):
            return self._joined(*self.lines, *(end + line for line in added))
        new = (line + end for line in added)
        return self._joined(*self.lines[:at], *new, *self.lines[at:])

    def end_of_section(self, heading: Heading) -> int:
        """Return the index after the last line under a heading, its subheadings included."""
        following = (
            other.line
            for other in self.headings
            if other.line > heading.line and other.level <= heading.level
        )
        return next(following, len(self.lines))

    def _line_end(self, at: int) -> str:
        above = self.lines[at - 1] if at else ""
        if not above.endswith("\n"):
            above = self.lines[0] if self.lines else ""
        return "\r\n" if above.endswith("\r\n") else "\n"

    def _joined(self, *lines: str) -> str:
        return self.byte_order_mark + "".join(lines)


def read_page(text: str) -> BoardPage:
    """Return a board as a page; `text` must have been read without translating line ends."""
    body = text.removeprefix(_BYTE_ORDER_MARK)
    lines = tuple(_LINE.findall(body))
    headings: list[Heading] = []
    row_lines: set[int] = set()
    # To the parser a lone carriage return would be a line end; here only `\n` is.
    parsed = _parser().parse(body.replace("\r\n", "\n").replace("\r", " "))
    for position, token in enumerate(parsed):
        if token.level or token.map is None:
            continue
        start, stop = token.map
        if token.type == "heading_open" and not _opens_row(lines[start]):
            title = parsed[position + 1].content
            headings.append(Heading(start, int(token.tag[1:]), title))
        elif token.type in ("paragraph_open", "heading_open"):
            # A heading that opens with `|` is a row with a `---` right below it.
            row_lines.update(i for i in range(start, stop) if _opens_row(lines[i]))
        elif token.type == "table_open":
            row_lines.update(i for i in range(start, stop) if "|" in lines[i])
    return BoardPage(text[: len(text) - len(body)], lines, tuple(headings), frozenset(row_lines))


def bare(text: str) -> str:
    """Return text for comparison: without marks of Markdown, in lower case, blanks folded."""
    return " ".join(_MARKS.sub("", unescape(text)).casefold().split())


def _opens_row(line: str) -> bool:
    return line.lstrip().startswith("|")


@cache
def _parser() -> MarkdownIt:
    # Only the blocks matter: nothing inside a line is parsed.
    return MarkdownIt("commonmark").enable("table").disable("inline")
