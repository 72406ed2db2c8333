"""The reports of `seff` and of jobstats on one job, as pasted text."""

import re
from collections.abc import Sequence

from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.durations import elapsed_hours, slurm_hours

_MARKS = (("Job ID:", "Job Wall-clock time:"), ("Job ID:", "Run Time:", "State:"))

_FIELD = re.compile(
    r"[\s>|#]*(?P<key>State|Nodes|GPUs|Job Wall-clock time|Run Time|Time Limit)\s*:\s*"
    r"(?P<value>\S.*?)\s*$"
)
_GPU_MEMORY = re.compile(r"\(GPU[ #]?\d+\):\s*(\d{1,6}(?:\.\d{1,3})?)\s*(GB|MB|GiB|MiB)\s*/")


def is_report(text: str) -> bool:
    """Tell whether the lines of seff or of jobstats stand in a text."""
    return any(all(mark in text for mark in marks) for marks in _MARKS)


def report_values(file: SourceFile, lines: Sequence[str]) -> tuple[list[DirectValue], bool]:
    """Return the facts of a report, and whether the job completed.

    Elapsed time of a job that did not complete is left out. jobstats writes GB for 2**30 bytes.
    """
    fields: dict[str, tuple[str, str]] = {}
    peak_gib: list[tuple[float, str]] = []
    for number, line in enumerate(lines, start=1):
        if match := _FIELD.match(line[:300]):
            fields.setdefault(match["key"], (match["value"], file.at(number)))
        elif match := _GPU_MEMORY.search(line[:300]):
            factor = 1.0 if match[2].startswith("G") else 1 / 1024
            peak_gib.append((float(match[1]) * factor, file.at(number)))
    finished = fields.get("State", ("", ""))[0].upper().startswith("COMPLETED")
    nothing = ("", file.path)
    elapsed = fields.get("Job Wall-clock time") or fields.get("Run Time", nothing)
    limit, nodes = fields.get("Time Limit", nothing), fields.get("Nodes", nothing)
    gpus = fields.get("GPUs", nothing)
    values: list[DirectValue] = [
        ("wall_clock_hours", _hours(elapsed[0]) if finished else None, elapsed[1]),
        ("time_limit_hours", _limit(limit[0]), limit[1]),
        ("n_nodes", _count(nodes[0]), nodes[1]),
        ("n_gpus", _count(gpus[0]), gpus[1]),
    ]
    if peak_gib and max(peak_gib)[0] > 0:
        values.append(("peak_memory_gib", *max(peak_gib)))
    return values, finished


def _hours(text: str) -> float | None:
    try:
        return elapsed_hours(text) or None
    except ValueError:
        return None


def _limit(text: str) -> float | None:
    try:
        return slurm_hours(text)
    except ValueError:
        return None


def _count(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[1-9]\d{0,5}", text) else None
