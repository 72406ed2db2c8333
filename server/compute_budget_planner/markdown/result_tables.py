"""Rows of a result as tables no wider than a terminal.

What does not fit into one table goes into several that repeat the first column, by which a row
is known. Texts too long for a cell, and what few rows have, follow as notes; what all rows share
is said once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compute_budget_planner.markdown.blocks import NONE
from compute_budget_planner.markdown.escape import escaped
from compute_budget_planner.markdown.labels import column_of, heading_of, unit_of
from compute_budget_planner.markdown.result_cells import cell

WIDEST = 120
"""Characters of the widest line of a table, but for long texts at its end."""

_WIDEST_COLUMN = 60
_NARROWEST_END = 50
_FEWEST_TO_SHARE = 3
_WALLS = 4
_WALL = 3


@dataclass(frozen=True)
class _Column:
    """A column: field, head and cells as they are printed, and whether they are numbers."""

    field: str
    head: str
    cells: tuple[str, ...]
    numeric: bool

    @property
    def width(self) -> int:
        return max(map(len, (self.head, *self.cells)))

    @property
    def sparse(self) -> bool:
        return 2 * self.cells.count(NONE) > len(self.cells)


def tables(rows: Sequence[Mapping[str, object]], meanings: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of rows that have the same fields; `meanings` explains some of them.

    Like everything that yields lines of a result, it ends with an empty one.
    """
    columns = [_column(field, rows) for field in rows[0]]
    if _width(columns[:-1]) + _NARROWEST_END <= WIDEST or _width(columns) <= WIDEST:
        yield from _table(columns)
        return
    key, others = columns[0], columns[1:]
    shared = [c for c in others if len(rows) >= _FEWEST_TO_SHARE and len(set(c.cells)) == 1]
    noted = [c for c in others if c not in shared and (c.width > _WIDEST_COLUMN or c.sparse)]
    tabled = [c for c in others if c not in shared and c not in noted]
    for part in _parts(key, tabled):
        yield from _table(part)
    lines = [
        *(f"- {heading_of(c.field)}: {meanings[c.field]}" for c in tabled if c.field in meanings),
        *(f"- {heading_of(c.field)}, all rows: {_with_unit(c.field, rows[0])}" for c in shared),
    ]
    yield from (*lines, "") if lines else ()
    for column in noted:
        if notes := list(_notes(key, column, rows)):
            yield from (f"{heading_of(column.field)}:", "", *notes, "")


def _column(field: str, rows: Sequence[Mapping[str, object]]) -> _Column:
    return _Column(
        field,
        column_of(field),
        tuple(escaped(cell(row[field])) or NONE for row in rows),
        all(isinstance(row[field], int | float | None) for row in rows)
        and not any(isinstance(row[field], bool) for row in rows),
    )


def _width(columns: Sequence[_Column]) -> int:
    return _WALLS + sum(c.width for c in columns) + _WALL * (len(columns) - 1)


def _parts(key: _Column, columns: Sequence[_Column]) -> Iterator[list[_Column]]:
    """Yield columns table by table, each as full as its width allows, in order."""
    part = [key]
    for column in columns:
        if len(part) > 1 and _width([*part, column]) > WIDEST:
            yield part
            part = [key]
        part.append(column)
    yield part


def _table(columns: Sequence[_Column]) -> Iterator[str]:
    """Yield a Markdown table whose columns line up, numbers to the right.

    Long texts in the last column stick out, so that only their rows wrap.
    """
    widths = [column.width for column in columns]
    widths[-1] = min(widths[-1], WIDEST - _width(columns[:-1]) - _WALL)

    def row_of(texts: Sequence[str]) -> str:
        padded = (
            text.rjust(width) if column.numeric else text.ljust(width)
            for text, column, width in zip(texts, columns, widths, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    yield row_of([column.head for column in columns])
    rules = (
        "-" * (width - 1) + (":" if column.numeric else "-")
        for column, width in zip(columns, widths, strict=True)
    )
    yield f"| {' | '.join(rules)} |"
    yield from map(row_of, zip(*(column.cells for column in columns), strict=True))
    yield ""


def _notes(key: _Column, column: _Column, rows: Sequence[Mapping[str, object]]) -> Iterator[str]:
    for row in rows:
        if row[column.field] not in (None, "", [], {}):
            name = cell(row[key.field])
            # Questions begin with the row's name themselves, to stand alone elsewhere.
            yield f"- {name}: {_with_unit(column.field, row).removeprefix(f'{name}: ')}"


def _with_unit(field: str, row: Mapping[str, object]) -> str:
    return f"{cell(row[field])} {unit_of(field)}".rstrip()
