"""What stands around the output of training: the job's own start and end, or a scheduler's report.

They tell the whole duration, the devices and whether the job succeeded, whatever framework printed
what lies between.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from compute_budget_planner.readers.accounting_report import is_report, report_values
from compute_budget_planner.readers.banners import Banner, find_banner
from compute_budget_planner.readers.contract import Problem, SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.log_lines import split_lines


@dataclass(frozen=True)
class JobFrame:
    """Facts of the job around a log; `finished` is None when nothing frames it.

    `job_ran` says that the job itself wrote its start: what a bar shows is only a part of it.
    """

    values: tuple[DirectValue, ...] = ()
    problems: tuple[Problem, ...] = ()
    job_name: str = ""
    finished: bool | None = None
    job_ran: bool = False


def job_frame(file: SourceFile) -> JobFrame:
    """Return what frames a log: its `Start:` and `End:`, then a report at its end."""
    values: list[DirectValue] = []
    problems: list[Problem] = []
    name, finished, ran = "", None, False
    if "Start" in file.text and (banner := find_banner(split_lines(file))) is not None:
        values += _banner_values(file, banner)
        problems += _banner_problems(file, banner)
        name, finished, ran = banner.job_name, banner.succeeded, True
    if is_report(file.text):
        reported, completed = report_values(file, split_lines(file))
        values += reported
        finished = completed if finished is None else finished
    return JobFrame(tuple(values), tuple(problems), name, finished, ran)


def _banner_values(file: SourceFile, banner: Banner) -> Iterator[DirectValue]:
    yield "wall_clock_hours", banner.duration_hours, file.at(banner.end_line)
    where = file.at(banner.gpus_line)
    yield "gpus_per_node", banner.gpus_on_node, where
    if not banner.several_nodes:
        yield "n_gpus", banner.gpus_on_node, where


def _banner_problems(file: SourceFile, banner: Banner) -> Iterator[Problem]:
    if banner.end is None:
        text = "the job has a `Start:` but no `End:`: it failed, was stopped or still runs"
        yield Problem(file.at(banner.start_line), text)
    elif not banner.succeeded:
        text = f"the job ended with exit code {banner.exit_code}; its duration is not used"
        yield Problem(file.at(banner.end_line), text)
    elif banner.duration_hours is None:
        text = "`Start:` and `End:` cannot be compared; state `wall_clock_hours`"
        yield Problem(file.at(banner.end_line), text)
    if banner.several_nodes:
        text = "`GPUs:` counts one of several nodes; state `n_gpus`"
        yield Problem(file.at(banner.gpus_line or banner.start_line), text)
