"""The tables of a board, with columns by name.

Tables of real boards are irregular: a blank line or a heading block cuts one in two, columns are
missing, odd or in another order, the rule below the header has too few cells, rows have no outer
pipes. All of that is read; nothing of it is mended.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from compute_budget_planner.markdown.board_page import BoardPage, Heading, bare

EMPTY_CELLS = frozenset({"", "—", "–", "-", "n/a"})
"""What people write into a cell that says nothing."""

_WALL = re.compile(r"(?<!\\)\|")
_RULE_CELL = re.compile(r":?-+:?")
_ID_HEADING = re.compile(r"[A-Z]{2,5}-[\w-]*\d")


@dataclass(frozen=True)
class BoardRow:
    """A row: index of its line, texts of its cells in the order of the file."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class BoardTable:
    """A table: the headings it stands under (outermost first), header names, rows.

    `end` is the index after the last line that hangs together with the header: a row put there is
    shown as part of the table. `rows` holds those of later fragments too.
    """

    sections: tuple[str, ...]
    line: int
    end: int
    header: tuple[str, ...]
    rows: tuple[BoardRow, ...]

    def column(self, name: str) -> int | None:
        """Return the position of a column, None when the table has none of this name."""
        wanted = bare(name)
        return next((i for i, head in enumerate(self.header) if bare(head) == wanted), None)

    def cell(self, row: BoardRow, name: str) -> str:
        """Return the text of a cell; empty when the column or the cell is missing or says `—`."""
        index = self.column(name)
        text = row.cells[index] if index is not None and index < len(row.cells) else ""
        return "" if text.casefold() in EMPTY_CELLS else text


def board_tables(page: BoardPage) -> list[BoardTable]:
    """Return the tables of a page in their order.

    Loose rows join the table above them unless a heading lies between that does not itself open
    a block of an id (`## RSK-004 - …`).
    """
    headings = {heading.line: heading for heading in page.headings}
    found: list[tuple[tuple[Heading, ...], int, list[BoardRow]]] = []
    above: tuple[Heading, ...] = ()
    joinable = False
    for index in sorted(page.row_lines | set(headings)):
        line = page.lines[index]
        if index in headings:
            heading = headings[index]
            if not _ID_HEADING.match(heading.title):
                above = (*(h for h in above if h.level < heading.level), heading)
                joinable = False
        elif _is_rule(line):
            continue
        elif _heads_table(page, index):
            found.append((above, index, []))
            joinable = True
        elif joinable:
            found[-1][2].append(BoardRow(index, cells_of(line)))
    return [_table(page, *table) for table in found]


def cells_of(line: str) -> tuple[str, ...]:
    r"""Return the texts of the cells of a line, still escaped; `\|` is no wall."""
    return tuple(line[start:stop].strip() for start, stop in _spans(line.rstrip("\r\n")))


def with_cells(line: str, changes: Mapping[int, str]) -> str:
    """Return a line with other texts in the cells at these positions; all else stays.

    Cells the line is too short for are added at its end.
    """
    body = line.rstrip("\r\n")
    line_end = line[len(body) :]
    missing = max(changes, default=-1) + 1 - len(_spans(body))
    if missing > 0:
        closed = body.rstrip()
        body = (closed if _closes(closed) else f"{closed} |") + "  |" * missing
    for index in sorted(changes, reverse=True):
        start, stop = _spans(body)[index]
        old, new = body[start:stop], changes[index]
        before = old[: len(old) - len(old.lstrip())] if old.strip() else " "
        after = old[len(old.rstrip()) :] if old.strip() else " "
        if new.endswith("\\") and not after:
            after = " "  # a backslash at a wall would take it down
        body = body[:start] + before + new + after + body[stop:]
    return body + line_end


def _spans(body: str) -> list[tuple[int, int]]:
    walls = [match.start() for match in _WALL.finditer(body)]
    if not body.lstrip().startswith("|"):
        walls.insert(0, -1)
    if not _closes(body.rstrip()):
        walls.append(len(body))
    return [(left + 1, right) for left, right in pairwise(walls)]


def _closes(body: str) -> bool:
    return body.endswith("|") and not body.endswith("\\|")


def _is_rule(line: str) -> bool:
    cells = cells_of(line)
    return bool(cells) and all(_RULE_CELL.fullmatch(cell) for cell in cells)


def _heads_table(page: BoardPage, index: int) -> bool:
    below = index + 1
    return (
        below in page.row_lines and _is_rule(page.lines[below]) and not _is_rule(page.lines[index])
    )


def _table(
    page: BoardPage, above: tuple[Heading, ...], line: int, rows: list[BoardRow]
) -> BoardTable:
    end = line + 2
    while end in page.row_lines and not _heads_table(page, end):
        end += 1
    sections = tuple(heading.title for heading in above)
    return BoardTable(sections, line, end, cells_of(page.lines[line]), tuple(rows))
