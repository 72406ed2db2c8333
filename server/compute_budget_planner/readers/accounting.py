"""Slurm's own accounting as users paste it: `sacct` (parsable or as a table), `seff`, jobstats.

Its elapsed time is what was paid for. Memory of `sacct` and `seff` is the host's and never
becomes GPU memory; only jobstats reports the GPU's. Source of the fields: `man sacct`; the
jobstats README of Princeton Research Computing.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compute_budget_planner.errors import FormatError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.accounting_report import is_report, report_values
from compute_budget_planner.readers.contract import (
    Basis,
    Fact,
    Layer,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.durations import elapsed_hours, slurm_hours
from compute_budget_planner.readers.run_log import DEVICE

_TRES_GPUS = re.compile(r"(?:^|,)gres/gpu(?::(?P<type>[\w.-]+))?=(?P<count>\d{1,6})(?=,|$)")
_GRES_GPUS = re.compile(
    r"(?:^|,)(?:gres/)?gpu(?::(?P<type>[A-Za-z][\w.-]*))?[:=](?P<count>\d{1,6})"
)
_RULE = re.compile(r"\s*-{2,}[-\s]*")


@dataclass(frozen=True)
class _Job:
    cells: dict[str, str]
    line: int

    @property
    def state(self) -> str:
        return self.cells.get("state", "").upper().split(" ")[0].rstrip("+")

    @property
    def hours(self) -> float | None:
        try:
            return elapsed_hours(self.cells.get("elapsed", ""))
        except ValueError:
            seconds = self.cells.get("elapsedraw", "")
            return int(seconds) / 3600 if re.fullmatch(r"\d{1,12}", seconds) else None


class AccountingReader:
    """Reports on a job that Slurm ran."""

    format = "slurm_report"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a `sacct` header or the lines of `seff` or jobstats stand in the text."""
        return is_report(file.text) or _header(file) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return elapsed time, GPUs and limit of one job.

        Raises:
            FormatError: a header has no job below it.
        """
        lines = file.lines
        header = _header(file)
        if header is None:
            values, finished = report_values(file, lines)
            problems: tuple[Problem, ...] = ()
        else:
            jobs = _jobs(lines, header)
            if not jobs:
                raise FormatError(
                    "the `sacct` table holds no job",
                    where=file.at(header + 1),
                    remedy="Paste the rows below the header too.",
                )
            job = _chosen(jobs)
            finished = job.state == "COMPLETED"
            values = list(_values(file, job, finished))
            problems = tuple(_problems(file, jobs, job, finished))
        facts, more = direct_facts(values, Basis.MEASURED, Layer.CONFIG, reference)
        return Reading(
            path=file.path,
            format=self.format,
            kind="log",
            measured=facts,
            problems=problems + more,
            finished=finished,
            notes={"peak_memory_kind": DEVICE} if _has_memory(facts) else {},
        )


def _has_memory(facts: tuple[Fact, ...]) -> bool:
    """Tell whether a report, that of jobstats, holds the memory of GPUs."""
    return any(fact.name == "peak_memory_gib" for fact in facts)


def _header(file: SourceFile) -> int | None:
    """Return the index of the header line of a `sacct` table."""
    if "lapsed" not in file.text and "ELAPSED" not in file.text:
        return None
    for index, line in enumerate(file.lines):
        if "lapsed" not in line and "ELAPSED" not in line:
            continue
        words = {word.lower() for word in re.split(r"[|\s]+", line[:2000])}
        if words & {"jobid", "jobidraw"} and words & {"elapsed", "elapsedraw"}:
            return index
    return None


def _jobs(lines: list[str], header: int) -> list[_Job]:
    """Return the allocations below a header; `.batch` and other steps repeat theirs."""
    split = _splitter(lines, header)
    names = [name.lower() for name in split(lines[header])]
    found: list[_Job] = []
    for index in range(header + 1, len(lines)):
        line = lines[index]
        if not line.strip() or _RULE.fullmatch(line):
            continue
        cells = dict(zip(names, split(line), strict=False))
        job = cells.get("jobid") or cells.get("jobidraw", "")
        if re.match(r"\d", job) and "." not in job:
            found.append(_Job(cells, index + 1))
    return found


def _splitter(lines: list[str], header: int) -> Callable[[str], list[str]]:
    if "|" in lines[header]:
        return lambda line: [cell.strip() for cell in line.split("|")]
    following = lines[header + 1] if header + 1 < len(lines) else ""
    if _RULE.fullmatch(following):
        spans = [match.span() for match in re.finditer("-+", following)]
        return lambda line: [line[start:end].strip() for start, end in spans]
    return lambda line: line.split()


def _chosen(jobs: list[_Job]) -> _Job:
    """Return the longest job that completed, else the last one."""
    completed = [job for job in jobs if job.state == "COMPLETED"]
    return max(completed, key=lambda job: job.hours or 0, default=jobs[-1])


def _values(file: SourceFile, job: _Job, finished: bool) -> Iterator[DirectValue]:
    where = file.at(job.line)
    if finished:
        yield "wall_clock_hours", job.hours, where
    nodes = job.cells.get("nnodes") or job.cells.get("allocnodes") or ""
    yield "n_nodes", nodes or None, where
    count, kind = gpus_of_tres(job.cells.get("alloctres") or job.cells.get("reqtres", ""))
    if count is None:
        count, kind = _gpus_of_gres(job.cells.get("allocgres", ""))
        if nodes not in ("", "1"):
            yield "gpus_per_node", count, where
            count = None
    yield "n_gpus", count, where
    yield "gpu", kind, where
    yield "time_limit_hours", _limit_hours(job), where


def gpus_of_tres(text: str) -> tuple[int | None, str | None]:
    """Return GPUs and their type from an `AllocTRES` cell.

    `gres/gpu=2,gres/gpu:a100=2` are the same two GPUs, once by count and once by type.
    """
    whole, typed = None, {}
    for match in _TRES_GPUS.finditer(text):
        if match["type"]:
            typed[match["type"]] = int(match["count"])
        else:
            whole = int(match["count"])
    count = whole if whole is not None else sum(typed.values())
    return count or None, next(iter(typed)) if len(typed) == 1 else None


def _gpus_of_gres(text: str) -> tuple[int | None, str | None]:
    match = _GRES_GPUS.search(text)
    return (int(match["count"]) or None, match["type"]) if match else (None, None)


def _limit_hours(job: _Job) -> float | None:
    minutes = job.cells.get("timelimitraw", "")
    if re.fullmatch(r"\d{1,9}", minutes):
        return int(minutes) / 60 or None
    try:
        return slurm_hours(job.cells.get("timelimit", ""))
    except ValueError:
        return None


def _problems(file: SourceFile, jobs: list[_Job], job: _Job, finished: bool) -> Iterator[Problem]:
    where = file.at(job.line)
    if len(jobs) > 1:
        text = f"{len(jobs)} jobs are listed; the one on this line was read"
        yield Problem(where, text)
    if not finished:
        state = job.state[:30] or "unknown"
        yield Problem(where, f"the job's state is {state}: its elapsed time is no run time")
    seconds, hours = job.cells.get("elapsedraw", ""), job.hours
    if re.fullmatch(r"\d{1,12}", seconds) and hours and abs(int(seconds) / 3600 - hours) > 1e-3:
        yield Problem(where, "Elapsed and ElapsedRaw disagree; Elapsed was used")


READER = AccountingReader()
