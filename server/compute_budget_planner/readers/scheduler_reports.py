"""The reports LSF and PBS write behind the output of a job (formats `lsf_report`, `pbs_report`).

Run time is what was paid for; turnaround includes the queue. Memory is the host's and never
becomes GPU memory. Sources: IBM's page on the job report of `bsub -o`; `man qstat`, `man
pbs_job_attributes`.
"""

import re
from dataclasses import dataclass, field

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Basis, Layer, Problem, Reading, SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.lsf import lsf_granted
from compute_budget_planner.readers.nnunet_log import is_nnunet, nnunet_log, nnunet_problems
from compute_budget_planner.readers.pbs import walltime_hours
from compute_budget_planner.readers.prose import is_prose

_LSF_MARK = "Resource usage summary:"
_LSF_RUN_TIME = re.compile(r"^\s*Run time\s*:\s*(\d{1,9})\s*sec", re.MULTILINE)
_LSF_EXIT = re.compile(r"^Exited with exit code (\d{1,3})", re.MULTILINE)
_LSF_DONE = re.compile(r"^Successfully completed\.", re.MULTILINE)
_LSF_TERMINATED = re.compile(r"^TERM_(\w+):", re.MULTILINE)
_LSF_QUEUE = re.compile(r"\bin queue <([\w.-]{1,60})>")
_PBS_MARKS = ("Walltime Used", "resources_used.walltime")
_PBS_USED = re.compile(
    r"(?:Walltime Used\s*:|resources_used\.walltime\s*=)\s*(\d{1,6}:\d{2}:\d{2})", re.I
)
_PBS_ASKED = re.compile(
    r"(?:Walltime requested\s*:|Resource_List\.walltime\s*=)\s*(\d{1,6}:\d{2}:\d{2})", re.I
)
_PBS_EXIT = re.compile(r"Exit[ _]Status\s*[:=]\s*(-?\d{1,4})", re.IGNORECASE)
_PBS_VNODE = re.compile(r"\(([\w.-]+(?:\[\d+\])?):([^()]*)\)")
_PBS_TIME_LIMIT = -29


@dataclass
class _Report:
    values: list[DirectValue] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    finished: bool | None = None


class LsfReportReader:
    """Reader of job outputs that end with LSF's resource usage summary."""

    format = "lsf_report"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether LSF's summary stands in the text."""
        found = _LSF_MARK in file.text and _LSF_RUN_TIME.search(file.text) is not None
        return found and not is_prose(file)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return run time, what the echoed script asks for, and what nnU-Net printed."""
        report = _Report()
        run_time = list(_LSF_RUN_TIME.finditer(file.text))[-1]
        code = _LSF_EXIT.search(file.text)
        cause = _LSF_TERMINATED.search(file.text)
        report.finished = _LSF_DONE.search(file.text) is not None and code is None
        if is_nnunet(file.text):
            log = nnunet_log(file)
            report.values += [("framework", "nnu-net", file.path), *log.values]
            report.problems += nnunet_problems(log)
            report.finished = report.finished or (log.finished and cause is None)
        where = _place(file, run_time.start(1))
        if code is not None:
            reason = f" ({cause[1]})" if cause else ""
            after = " after the training was done" if report.finished else ""
            text = f"the job ended with exit code {code[1]}{reason}{after}"
            report.problems.append(Problem(_place(file, code.start()), text))
        if report.finished:
            report.values.append(("wall_clock_hours", int(run_time[1]) / 3600, where))
        else:
            text = "its run time is no duration of a whole training"
            report.problems.append(Problem(where, text))
        _echoed_script(file, report, reference)
        return _reading(file, self.format, report, reference)


def _echoed_script(file: SourceFile, report: _Report, reference: Reference) -> None:
    """Read the `#BSUB` lines that LSF repeats in its report."""
    granted = lsf_granted(file, reference)
    queue = _LSF_QUEUE.search(file.text)
    if queue is not None:
        granted.name_device(queue[1], _place(file, queue.start(1)), reference)
    report.values += [(fact.name, fact.value, fact.source) for fact in granted.as_facts()]


class PbsReportReader:
    """Reader of PBS epilogues and of `qstat -f`."""

    format = "pbs_report"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the used walltime of a PBS job stands in the text."""
        marked = any(mark in file.text for mark in _PBS_MARKS)
        return marked and not is_prose(file) and _PBS_USED.search(file.text) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return walltime used and asked for, and the GPUs of the nodes it ran on."""
        report = _Report()
        used = list(_PBS_USED.finditer(file.text))
        status = _PBS_EXIT.search(file.text)
        code = int(status[1]) if status is not None else None
        report.finished = None if code is None else code == 0
        where = _place(file, used[-1].start(1))
        if len(used) > 1:
            text = f"{len(used)} jobs are reported; the last one was read"
            report.problems.append(Problem(where, text))
        if report.finished:
            report.values.append(("wall_clock_hours", walltime_hours(used[-1][1]), where))
        else:
            cause = " at its time limit" if code == _PBS_TIME_LIMIT else ""
            text = f"the job ended{cause} with exit status {code}: its walltime is no run time"
            report.problems.append(Problem(where, text))
        asked = list(_PBS_ASKED.finditer(file.text))
        if asked:
            place = _place(file, asked[-1].start(1))
            report.values.append(("time_limit_hours", walltime_hours(asked[-1][1]), place))
        _used_nodes(file, report, used[-1].start() if len(used) > 1 else 0)
        return _reading(file, self.format, report, reference)


def _used_nodes(file: SourceFile, report: _Report, start: int) -> None:
    """Add up the GPUs of `(node:ncpus=8:ngpus=4)+(…)`; hosts themselves are not told."""
    gpus, hosts, place = 0, set(), ""
    for match in _PBS_VNODE.finditer(file.text, start):
        count = re.search(r"(?:^|:)ngpus=(\d{1,4})", match[2])
        if count is not None and int(count[1]):
            gpus += int(count[1])
            hosts.add(match[1].partition("[")[0])
            place = place or _place(file, match.start())
    if gpus:
        report.values += [("n_gpus", gpus, place), ("n_nodes", len(hosts), place)]


def _place(file: SourceFile, offset: int) -> str:
    return file.at(file.text.count("\n", 0, offset) + 1)


def _reading(file: SourceFile, name: str, report: _Report, reference: Reference) -> Reading:
    facts, problems = direct_facts(report.values, Basis.MEASURED, Layer.CONFIG, reference)
    return Reading(
        path=file.path,
        format=name,
        kind="log",
        measured=facts,
        problems=(*report.problems, *problems),
        finished=report.finished,
    )


LSF_READER = LsfReportReader()
PBS_READER = PbsReportReader()
