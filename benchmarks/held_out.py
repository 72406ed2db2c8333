"""Coefficients fitted without one source each, so that no row is judged by what has seen it.

`held_out.csv` is written by fit.py: source, table, row, column, value.
"""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

from coefficients import Cell, with_values
from compute_budget_planner.guide.reference import Reference

PATH = Path(__file__).with_name("held_out.csv")


def references_by_source(
    reference: Reference, *, shipped: bool = False, path: Path = PATH
) -> Callable[[str], Reference]:
    """Return the reference to judge a source with: fitted without it, or the shipped one."""
    fitted = {} if shipped else read(path)
    references = {source: with_values(reference, values) for source, values in fitted.items()}
    return lambda source: references.get(source, reference)


def read(path: Path = PATH) -> dict[str, dict[Cell, float]]:
    """Return cell values by the source they were fitted without."""
    found: dict[str, dict[Cell, float]] = {}
    with path.open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            cell = Cell(row["table"], row["row"], row["column"])
            found.setdefault(row["source"], {})[cell] = float(row["value"])
    return found


def write(values_by_source: Mapping[str, Mapping[Cell, float]], path: Path = PATH) -> None:
    """Write cell values by the source they were fitted without."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["source", "table", "row", "column", "value"])
        for source, values in sorted(values_by_source.items()):
            for cell, value in values.items():
                writer.writerow([source, *cell, f"{value:.4g}"])
