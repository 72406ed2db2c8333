"""The jobs on the budget page: in submission order, each ready for `/run-experiment`."""

import json

from compute_budget_planner.markdown.blocks import (
    NONE,
    Section,
    fenced,
    joined,
    section,
    table,
)
from compute_budget_planner.markdown.budget_plan import BudgetPlan
from compute_budget_planner.markdown.escape import code, plain
from compute_budget_planner.numbers import counted, shown
from compute_budget_planner.results import AblationsResult, JobBlock
from compute_budget_planner.results.smoke import SUBMISSION_ORDER

_LONGEST_COMMAND = 8_000
_ORDER = "Smoke → required → should-have → optional; a stage starts when the one before has passed."
_BLOCKS = (
    "One block per job with what `run-experiment` asks for. The margin is what the walltime has "
    "over the expected time; a job of a chain takes the whole time limit. Jobs with an array "
    "count all its tasks in the GPU-hours."
)
_APART = {"invocation", "walltime_margin_percent"}
_MAY_BE_LEFT_OUT = {"cpus_per_task", "mem", "array", "exp_id"}


def submission_order(plan: BudgetPlan) -> Section:
    """Return the section `Submission Order`: the order as a table, then one block per job."""
    jobs = sorted(plan.jobs, key=lambda job: SUBMISSION_ORDER.index(job.priority))
    return section(
        "submission-order",
        ["## Submission Order"],
        [_ORDER],
        table(
            ["No.", "Job", "Priority", "GPUs", "Walltime", "Margin (%)", "Expected GPU-hours"],
            (
                [
                    shown(position),
                    code(job.job_name),
                    job.priority,
                    f"{shown(job.gpus)} × {code(job.gpu_type) or NONE}",
                    code(job.walltime),
                    "chain"
                    if job.walltime_margin_percent is None
                    else shown(job.walltime_margin_percent),
                    shown(job.expected_gpu_hours),
                ]
                for position, job in enumerate(jobs, start=1)
            ),
        )
        or ["No job can be written yet."],
        [_not_among_them(plan.ablations)],
        [_BLOCKS] if jobs else [],
        *(_job(position, job) for position, job in enumerate(jobs, start=1)),
    )


def _not_among_them(matrix: AblationsResult | None) -> str:
    """Say which rows of the matrix have no job, and why."""
    if matrix is None:
        return "No should-have or optional job is costed yet."
    why = {
        "Cut": [f"{code(c.variant)} ({counted(c.seeds, 'seed')})" for c in matrix.cut],
        "Open": [code(row.variant) for row in matrix.variants if row.basis == "open"],
        "Run already": [code(row.variant) for row in matrix.variants if row.basis == "exists"],
    }
    texts = [f"{reason}: {', '.join(names)}" for reason, names in why.items() if names]
    return f"Not submitted. {'. '.join(texts)}." if texts else ""


def _job(position: int, job: JobBlock) -> list[str]:
    return joined(
        [f"### {shown(position)}. {code(job.job_name)}"],
        fenced("text", _line(job.invocation)),
        fenced("yaml", "\n".join(_fields(job))),
    )


def _line(text: str) -> str:
    """Return a line that stands alone in a fence: it must not be a marker of the page."""
    return plain(text, _LONGEST_COMMAND).replace("<!--", "<! --")


def _fields(job: JobBlock) -> list[str]:
    """Return `name: value` lines of YAML; JSON scalars are YAML that cannot be misread.

    The eight things `run-experiment` asks for always stand, null where the project does not say.
    """
    return [
        f"{name}: {_scalar(value)}"
        for name, value in job.model_dump().items()
        if name not in _APART and not (value is None and name in _MAY_BE_LEFT_OUT)
    ]


def _scalar(value: object) -> str:
    match value:
        case str():
            return json.dumps(plain(value, _LONGEST_COMMAND), ensure_ascii=False)
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return json.dumps(value)
