"""Numbers of the guide's tables, to be read, replaced for a trial and written back.

A coefficient is a cell: table, first cell of its row, column.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from compute_budget_planner.guide.reference import Reference


class Cell(NamedTuple):
    """The place of a number in the guide."""

    table: str
    row: str
    column: str


def read(reference: Reference, cell: Cell) -> float:
    """Return the number in a cell."""
    return reference.row(cell.table, cell.row).required_number(cell.column)


def with_values(reference: Reference, values: Mapping[Cell, float]) -> Reference:
    """Return the reference with other numbers in some cells; ends of a range make way."""
    tables = {name: dict(rows) for name, rows in reference.tables.items()}
    for cell, value in values.items():
        row = tables[cell.table][cell.row]
        cells = {**row.cells, cell.column: repr(float(value))}
        if cell.column == "expected":
            cells = {**cells, "low": "", "high": ""}
        tables[cell.table][cell.row] = replace(row, cells=cells)
    return Reference(tables)


def write(page: Path, values: Mapping[Cell, float], digits: int = 3) -> None:
    """Write numbers into the tables of a page; every other byte of it stays.

    Ends of a range are moved where the new expected value would lie outside.
    """
    lines = page.read_text(encoding="utf-8").split("\n")
    for cell, value in values.items():
        header, at = _find(lines, cell)
        names = _cells(lines[header])
        texts = _cells(lines[at])
        texts[names.index(cell.column)] = brief(value, digits)
        if cell.column == "expected" and "low" in names:
            low, high = names.index("low"), names.index("high")
            if texts[low] and float(texts[low]) > value:
                texts[low] = brief(value, digits)
            if texts[high] and float(texts[high]) < value:
                texts[high] = brief(value, digits)
        lines[at] = "|" + "|".join(f" {text} " if text else " " for text in texts) + "|"
    page.write_text("\n".join(lines), encoding="utf-8")


def brief(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits and no exponent."""
    text = f"{float(f'{value:.{digits}g}'):.6f}".rstrip("0")
    return text.rstrip(".")


def _find(lines: list[str], cell: Cell) -> tuple[int, int]:
    start = next(n for n, text in enumerate(lines) if text.startswith(f"Table `{cell.table}`"))
    header = next(n for n in range(start, len(lines)) if lines[n].startswith("|"))
    for n in range(header, len(lines)):
        if not lines[n].startswith("|"):
            break
        if _cells(lines[n])[0] == cell.row:
            return header, n
    message = f"table {cell.table} has no row {cell.row}"
    raise KeyError(message)


def _cells(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<!\\)\|", text.strip().strip("|"))]
