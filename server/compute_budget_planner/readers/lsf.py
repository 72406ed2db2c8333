"""IBM Spectrum LSF batch scripts (format `lsf`).

Options and their meaning: `man bsub`. `-gpu num=N` counts per host unless `num=N/task`; `-W` is
minutes or hours:minutes; memory of `rusage` is host memory.
"""

import re

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.batch_directives import Directive, read_options, task_count
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.job_reading import Granted, job_reading, whole_number
from compute_budget_planner.readers.prose import is_prose
from compute_budget_planner.readers.shell import read_commands

_MARK = re.compile(r"^#BSUB\s", re.MULTILINE)
_FLAGS = frozenset(["x", "I", "Is", "Ip", "K", "r", "rn", "N", "B", "H"])
_WALL = re.compile(r"(?:(\d{1,6}):)?(\d{1,6})(?:/\S+)?")
_SPAN = re.compile(r"span\[\s*(hosts|ptile)\s*=\s*(\d{1,6})\s*\]")
_OLD_GPUS = re.compile(r"\bngpus(?:_excl_p|_excl_t|_shared|_physical)?\s*=\s*(\d{1,6})")


class LsfReader:
    """Reader of scripts with `#BSUB` lines."""

    format = "lsf"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether LSF would find an option in a script."""
        head = file.text[:2000]
        report = "LSBATCH: User input" in file.text or "Sender: LSF" in head
        return not is_prose(file) and not report and _MARK.search(file.text) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return allocation, time limit, tasks and the command."""
        granted = lsf_granted(file, reference)
        known = {"LSB_MAX_NUM_PROCESSORS": granted.cpus, "LSB_DJOB_NUMPROC": granted.cpus}
        script = read_commands(file, {name: value for name, value in known.items() if value})
        return job_reading(file, self.format, granted, script, reference)


def lsf_granted(file: SourceFile, reference: Reference) -> Granted:
    """Return what the `#BSUB` lines of a text ask for."""
    options, problems = read_options(file, "BSUB", _FLAGS, head_only=False)
    last = {option.name: option for option in options}
    granted = Granted(problems=problems)
    needs = [option for option in options if option.name == "R"]
    if "n" in last:
        granted.cpus = last["n"].value.partition(",")[0]
    _hosts(file, granted, needs, last.get("n"))
    _gpus(file, granted, last.get("gpu"), needs, reference)
    if "q" in last:
        granted.name_device(last["q"].value, file.at(last["q"].line), reference)
    for need in needs:
        for selected in re.findall(r"select\[([^\]]*)\]", need.value):
            granted.name_device(re.sub(r"[^\w.-]+", " ", selected), file.at(need.line), reference)
    _wall(file, granted, last.get("W"))
    if "J" in last:
        _name(file, granted, last["J"])
    return granted


def _hosts(
    file: SourceFile, granted: Granted, needs: list[Directive], slots: Directive | None
) -> None:
    """Count hosts by `span`; a job of one slot is on one host."""
    count = whole_number(slots.value.rpartition(",")[2]) if slots is not None else 1
    for need in needs:
        if match := _SPAN.search(need.value):
            granted.nodes_at = file.at(need.line)
            size = int(match[2])
            if match[1] == "hosts":
                granted.n_nodes = size
            elif count is not None and size:
                granted.n_nodes = -(-count // size)
            return
    if count == 1:
        granted.n_nodes = 1
        granted.nodes_at = file.at(slots.line if slots is not None else None)


def _gpus(
    file: SourceFile,
    granted: Granted,
    option: Directive | None,
    needs: list[Directive],
    reference: Reference,
) -> None:
    if option is None:
        for need in needs:
            if (match := _OLD_GPUS.search(need.value)) and whole_number(match[1]):
                granted.gpus_per_node, granted.gpus_at = int(match[1]), file.at(need.line)
                _ask_hosts(granted)
                return
        granted.ask(file.path, "no option of this job asks for GPUs. Give `n_gpus`.")
        return
    place = granted.gpus_at = file.at(option.line)
    parts = [part.partition("=") for part in re.split(r":(?=\w+=)", option.value)]
    named = {key.strip(): value for key, _, value in parts}
    number, _, scope = named.get("num", "1").partition("/")
    count = whole_number(number)
    if count is None:
        text = f"`-gpu num={number[:40]}` is no count of at least 1. Give `n_gpus`."
        granted.ask(place, text)
    elif scope == "task":
        tasks = whole_number(granted.cpus or 1)
        granted.n_gpus = count * tasks if tasks is not None else None
        if granted.n_gpus and granted.n_nodes and granted.n_gpus % granted.n_nodes == 0:
            granted.gpus_per_node = granted.n_gpus // granted.n_nodes
    else:
        granted.gpus_per_node = count
        _ask_hosts(granted)
    granted.name_device(named.get("gmodel", "").partition("#")[0], place, reference)


def _ask_hosts(granted: Granted) -> None:
    if granted.n_nodes is None:
        text = f"{granted.cpus} slots without `span` may lie on several hosts. Give `n_nodes`."
        granted.ask(granted.gpus_at, text)


def _wall(file: SourceFile, granted: Granted, option: Directive | None) -> None:
    if option is None:
        text = "no `-W`: the queue's own limit applies. Give `time_limit_hours`."
        granted.ask(file.path, text)
        return
    granted.time_at = file.at(option.line)
    match = _WALL.fullmatch(option.value)
    hours = int(match[1] or 0) + int(match[2]) / 60 if match else 0
    if hours > 0:
        granted.time_limit_hours = hours
    else:
        text = f"`-W` is `{option.value[:40]}`. It takes minutes or hours:minutes."
        granted.ask(granted.time_at, text)


def _name(file: SourceFile, granted: Granted, option: Directive) -> None:
    name, bracket, tasks = option.value.partition("[")
    granted.job_name = name
    if bracket:
        count = task_count(re.sub(r"\].*", "", tasks))
        granted.n_runs = count or 1
        if count is None:
            text = f"`-J {option.value[:60]}` is no array such as `name[1-10]%2`."
            granted.ask(file.at(option.line), text)


READER = LsfReader()
