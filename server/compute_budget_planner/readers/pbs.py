"""PBS Professional, OpenPBS and Torque batch scripts (format `pbs`).

Options and resources: `man qsub`, `man pbs_resources`. `select=2:ngpus=4` is two chunks of four
GPUs; `nodes=2:ppn=8:gpus=4` is Torque's older form; a bare walltime is seconds.
"""

import re

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.batch_directives import Directive, read_options, task_count
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.job_reading import Granted, job_reading, whole_number
from compute_budget_planner.readers.prose import is_prose
from compute_budget_planner.readers.shell import read_commands

_MARK = re.compile(r"^#PBS\s", re.MULTILINE)
_FLAGS = frozenset(["V", "h", "I", "X", "z", "f"])
_WALL = re.compile(r"(?:(?:(\d{1,6}):)?(\d{1,6}):)?(\d{1,9})")
_MODELS = ("gpu_model", "gpu_type", "gputype", "gpu_name", "accelerator_model", "gpu_mem")


class PbsReader:
    """Reader of scripts with `#PBS` lines."""

    format = "pbs"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether PBS would find an option."""
        return not is_prose(file) and _MARK.search(file.text) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return allocation, time limit, tasks and the command."""
        options, problems = read_options(file, "PBS", _FLAGS, head_only=True)
        granted = Granted(problems=problems)
        last = {option.name: option for option in options}
        for option in options:
            if option.name == "l":
                for resource in re.split(r",(?=\w+=)", option.value):
                    _resource(file, granted, resource, option.line, reference)
        if "q" in last:
            granted.name_device(last["q"].value, file.at(last["q"].line), reference)
        if granted.whole is None and granted.gpus_per_node is None:
            granted.ask(file.path, "no option of this job asks for GPUs. Give `n_gpus`.")
        if granted.time_limit_hours is None:
            text = "no `walltime`: the queue's own limit applies. Give `time_limit_hours`."
            granted.ask(file.path, text)
        granted.job_name = last["N"].value if "N" in last else ""
        _tasks(file, granted, last)
        script = read_commands(file)
        return job_reading(file, self.format, granted, script, reference)


def _resource(
    file: SourceFile, granted: Granted, text: str, line: int, reference: Reference
) -> None:
    name, _, value = text.strip().partition("=")
    place = file.at(line)
    if name in ("select", "nodes"):
        _chunks(granted, value, place, reference, hosts=name == "nodes")
    elif name == "walltime":
        granted.time_at = place
        granted.time_limit_hours = walltime_hours(value)
        if granted.time_limit_hours is None:
            granted.ask(place, f"`walltime={value[:40]}` takes HH:MM:SS or seconds.")
    elif name in ("ngpus", "gpus") and whole_number(value):
        # Asked for the job as a whole, without chunks: PBS puts it on one host.
        granted.n_nodes, granted.nodes_at = 1, place
        granted.gpus_per_node, granted.gpus_at = whole_number(value), place
    elif name in _MODELS:
        granted.name_device(value, place, reference)
    elif name == "mem":
        granted.mem = value


def _chunks(granted: Granted, text: str, place: str, reference: Reference, *, hosts: bool) -> None:
    """Add up `2:ncpus=8:ngpus=4+1:ncpus=4`; nodes with GPUs count where there are any."""
    nodes, gpus, sizes = 0, 0, set()
    for chunk in text.split("+"):
        first, *parts = chunk.split(":")
        count = whole_number(first)
        if count is None:
            # A chunk without a count is one; `nodes=` may also name the host.
            named_host = hosts and re.fullmatch(r"[A-Za-z][\w.-]*", first) is not None
            parts, count = [first, *parts], int("=" in first or named_host)
        named = {key: value for key, _, value in (part.partition("=") for part in parts)}
        size = whole_number(named.get("ngpus", named.get("gpus", ""))) or 0
        nodes, gpus = nodes + count, gpus + count * size
        sizes.add(size)
        for key, value in named.items():
            if key in _MODELS:
                granted.name_device(value, place, reference)
            elif not value:
                granted.name_device(key, place, reference)
        granted.mem = named.get("mem", granted.mem)
    if not nodes:
        granted.ask(place, f"`{text[:60]}` is no number of chunks. Give `n_nodes` and `n_gpus`.")
        return
    granted.n_nodes, granted.nodes_at = nodes, place
    if gpus:
        granted.n_gpus, granted.gpus_at = gpus, place
        granted.gpus_per_node = sizes.pop() if len(sizes) == 1 else None


def walltime_hours(text: str) -> float | None:
    """Return `HH:MM:SS`, `MM:SS` or seconds in hours; None for another text and for nothing."""
    match = _WALL.fullmatch(text.strip())
    if match is None:
        return None
    hours = int(match[1] or 0) + int(match[2] or 0) / 60 + int(match[3]) / 3600
    return hours or None


def _tasks(file: SourceFile, granted: Granted, last: dict[str, Directive]) -> None:
    for name in ("J", "t"):
        if name in last:
            count = task_count(last[name].value)
            granted.n_runs = count or 1
            if count is None:
                text = f"`-{name} {last[name].value[:60]}` is no array such as `1-10`."
                granted.ask(file.at(last[name].line), text)


READER = PbsReader()
