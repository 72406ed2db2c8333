"""Tables of metrics: CSV with a header, as numbers by column."""

import csv
import math
from collections.abc import Iterator, Mapping

from compute_budget_planner.readers.contract import SourceFile

_MOST_COLUMNS = 2_000


def header_of(file: SourceFile) -> tuple[str, ...]:
    """Return the column names of the first line; spaces that pad them are dropped."""
    first = file.text[:20_000].split("\n", maxsplit=1)[0]
    return tuple(name.strip().strip('"') for name in first.split(",")[:_MOST_COLUMNS])


def rows_of(file: SourceFile) -> Iterator[tuple[int, Mapping[str, float]]]:
    """Yield line and numbers of every row; empty cells and texts are left out.

    A row that cannot be split, as at the cut of a sampled file, is passed over.
    """
    names = header_of(file)
    lines = file.text.split("\n")[1:]
    reader = csv.reader(lines)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            continue
        row = {}
        for name, text in zip(names, cells, strict=False):
            value = _number(text)
            if value is not None:
                row[name] = value
        yield reader.line_num + 1, row


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
