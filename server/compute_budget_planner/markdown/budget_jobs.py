"""The jobs on the budget page: in submission order, each ready for `/run-experiment`."""

import json
from collections.abc import Sequence

from compute_budget_planner.markdown.blocks import (
    NONE,
    Section,
    fenced,
    joined,
    number,
    section,
    table,
)
from compute_budget_planner.markdown.escape import code, plain
from compute_budget_planner.numbers import shown
from compute_budget_planner.results import JobBlock

_LONGEST_COMMAND = 8_000
_PRIORITY = {"smoke": "smoke", "debug": "smoke", "formal": "required"}
_ORDER = (
    "Smoke → required → should-have → optional; a stage starts when the one before has passed. "
    "No should-have or optional job is costed yet."
)
_APART = {"invocation", "walltime_margin_percent"}


def submission_order(jobs: Sequence[JobBlock]) -> Section:
    """Return the section `Submission Order`: the order as a table, then one block per job."""
    return section(
        "submission-order",
        ["## Submission Order"],
        [_ORDER],
        table(
            ["No.", "Job", "Priority", "GPUs", "Walltime", "Expected GPU-hours"],
            (
                [
                    shown(position),
                    code(job.job_name),
                    _PRIORITY[job.task_class],
                    f"{shown(job.gpus)} × {code(job.gpu_type) or NONE}",
                    code(job.walltime),
                    shown(job.expected_gpu_hours),
                ]
                for position, job in enumerate(jobs, start=1)
            ),
        )
        or ["No job can be written yet."],
        *(_job(position, job) for position, job in enumerate(jobs, start=1)),
    )


def _job(position: int, job: JobBlock) -> list[str]:
    margin = (
        "The time limit is the walltime of each job of the chain."
        if job.walltime_margin_percent is None
        else f"Walltime {number(job.walltime_margin_percent, '%')} above the expected time."
    )
    return joined(
        [f"### {shown(position)}. {code(job.job_name)}"],
        [f"{margin} What `run-experiment` asks for:"],
        fenced("yaml", "\n".join(_fields(job))),
        fenced("text", _line(job.invocation)),
    )


def _line(text: str) -> str:
    """Return a line that stands alone in a fence: it must not be a marker of the page."""
    return plain(text, _LONGEST_COMMAND).replace("<!--", "<! --")


def _fields(job: JobBlock) -> list[str]:
    """Return `name: value` lines of YAML; JSON scalars are YAML that cannot be misread."""
    return [
        f"{name}: {_scalar(value)}"
        for name, value in job.model_dump().items()
        if name not in _APART
    ]


def _scalar(value: object) -> str:
    match value:
        case str():
            return json.dumps(plain(value, _LONGEST_COMMAND), ensure_ascii=False)
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return json.dumps(value)
