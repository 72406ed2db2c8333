"""The lines of a log without what terminals, launchers and job systems put around them."""

import math
import re
from collections.abc import Iterator
from functools import lru_cache

from compute_budget_planner.readers.contract import SourceFile

MAX_LINE = 4_000
"""Characters of a line that are looked at; log lines are shorter, pasted data is not a log."""

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\[\d{1,2}(?:;\d{1,2}){0,3}m")
_PREFIX = re.compile(
    r"\s{0,8}(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z\s"
    r"|\[?(?:rank|default|node|worker-?)\s?\d{1,5}\]?:\s?|\[\d{1,5}\]:?\s(?=\S)|\d{1,5}:\s)",
    re.IGNORECASE,
)


def unadorned(line: str) -> str:
    """Return a line without colours, rank (`0: `, `[rank3]: `) and the job system's time stamp."""
    plain = line[:MAX_LINE]
    if "m" in plain and "[" in plain:
        plain = _COLOUR.sub("", plain)
    match = _PREFIX.match(plain)
    return plain[match.end() :] if match else plain


def log_lines(file: SourceFile, *marks: str) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and plain text of the lines that hold one of `marks`, all without.

    Only line feeds part lines; a bar that redraws itself stays one line.
    """
    for number, line in enumerate(split_lines(file), start=1):
        if not marks or any(mark in line for mark in marks):
            yield number, unadorned(line)


def number_in(text: str) -> float:
    """Return a printed number, also with thousands separators; NaN when it is none."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return math.nan


@lru_cache(maxsize=2)
def split_lines(file: SourceFile) -> tuple[str, ...]:
    """Return the lines of a log, split once for all readers that ask."""
    return tuple(file.text.split("\n"))


def is_log_name(file: SourceFile) -> bool:
    """Tell whether a file may be a log by its name: no source, page, config or table."""
    return not file.name.lower().endswith(_NOT_LOGS)


_NOT_LOGS = (
    *(".md", ".rst", ".py", ".sh", ".ipynb", ".yaml", ".yml", ".json", ".toml", ".csv", ".jsonl"),
    *(".slurm", ".sbatch", ".html", ".cfg", ".ini", ".tex", ".sub", ".pbs", ".lsf"),
)
