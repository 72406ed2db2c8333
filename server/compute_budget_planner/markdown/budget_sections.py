"""The sections of a budget that need little code: one function each, in page order."""

from collections.abc import Sequence

from compute_budget_planner.markdown.blocks import (
    NONE,
    Section,
    bullets,
    number,
    section,
    span,
    table,
    titled,
)
from compute_budget_planner.markdown.budget_plan import BudgetPlan, Envelope, Totals
from compute_budget_planner.markdown.budget_runs import FITS
from compute_budget_planner.markdown.escape import code, escaped
from compute_budget_planner.markdown.machine_block import ChangeEntry
from compute_budget_planner.numbers import shown
from compute_budget_planner.results import EstimateResult, RangeOut

_MULTIPLIER = (
    "The multiplier is one seed of the variant over one seed of its baseline; "
    "GPU-hours are all seeds."
)


def title(plan: BudgetPlan) -> Section:
    """Return the title and what the page is made from."""
    return section(
        "title",
        [f"# Compute Budget: {escaped(plan.project)}"],
        bullets(
            [
                f"Generated: {escaped(plan.generated)}",
                f"Tool version: {escaped(plan.tool_version)}",
                f"Plan source: {', '.join(map(code, plan.plan_sources)) or 'none'}",
                f"Linked claims: {', '.join(map(escaped, plan.claims)) or 'none'}",
                f"Status: {plan.status}",
            ]
        ),
    )


def ablation_matrix(plan: BudgetPlan) -> Section:
    """Return the ablation matrix; the baseline is every main run with all its seeds."""
    return section(
        "ablation-matrix",
        ["## Ablation Matrix"],
        [_MULTIPLIER],
        table(
            [
                "Variant",
                "Changed variable",
                "Cost multiplier",
                "GPU-hours",
                "Priority",
                "Seeds",
                "Wall-clock hours",
            ],
            (
                [
                    f"{code(estimate.run)} (baseline)",
                    NONE,
                    "1×",
                    span(estimate.gpu_hours_all_seeds),
                    "required",
                    shown(estimate.seeds),
                    span(estimate.wall_clock_hours),
                ]
                for estimate in plan.estimates
            ),
        ),
        [escaped(plan.ablations)],
    )


def totals(sums: Totals) -> Section:
    """Return the sums; one seed and all seeds never in one number."""
    later = "not costed yet"
    rows: list[tuple[str, RangeOut | str | None]] = [
        ("Main runs, one seed each", sums.main_one_seed),
        ("Main runs, all seeds", sums.main_all_seeds),
        ("Smoke tests", sums.smokes),
        ("**Required** (main runs with all seeds, smoke tests)", sums.required),
        ("**Should-have** (ablations)", later),
        ("**Optional** (ablations)", later),
    ]
    return section(
        "totals",
        ["## Totals"],
        table(
            ["What", "GPU-hours"],
            ([label, sum_ if isinstance(sum_, str) else span(sum_)] for label, sum_ in rows),
        ),
        ["Recommended minimum run set: the smoke tests, then every main run with all its seeds."],
    )


def alternatives(plan: BudgetPlan) -> Section:
    """Return the cheaper alternatives and what was decided about them."""
    return section(
        "cheaper-alternatives",
        ["## Cheaper Alternatives"],
        [escaped(plan.alternatives)],
        table(
            ["Alternative", "Decision", "Reason"],
            (
                [escaped(d.alternative), d.decision, escaped(d.reason) or NONE]
                for d in plan.decisions
            ),
        ),
    )


def envelope(available: Envelope, estimates: Sequence[EstimateResult], sums: Totals) -> Section:
    """Return what is available and whether the plan fits."""
    return section(
        "resource-envelope",
        ["## Resource Envelope"],
        bullets(
            [
                f"Available: {number(available.available_gpu_hours, 'GPU-hours')}",
                f"Required: {span(sums.required, 'GPU-hours')}",
                _inside(sums.required, available.available_gpu_hours),
                f"GPUs at most: {number(available.max_gpus)}",
                f"Deadline: {escaped(available.deadline)}" if available.deadline else "",
            ]
        ),
        table(
            ["Run", "Time limit (hours)", "Fits", "Jobs in a row", "Usable hours per job"],
            (
                [
                    code(estimate.run),
                    number(limit.time_limit_hours),
                    FITS[limit.fits],
                    number(limit.segments),
                    number(limit.usable_hours_per_segment),
                ]
                for estimate in estimates
                if (limit := estimate.limit)
            ),
        ),
        table(
            [
                "Environment",
                "Scheduler",
                "Time limit (hours)",
                "GPUs at most",
                "GPU types",
                "Source",
            ],
            (
                [
                    code(place.name),
                    escaped(place.scheduler),
                    number(place.time_limit_hours),
                    number(place.max_gpus),
                    ", ".join(map(code, place.gpu_types)) or NONE,
                    code(place.source),
                ]
                for place in available.environments
            ),
        ),
    )


def _inside(required: RangeOut | None, available_gpu_hours: float | None) -> str:
    """Say which end of the range the hours cover; nothing when a side is unknown."""
    if required is None or available_gpu_hours is None:
        return "Whether the plan fits cannot be said before both are known."
    if required.high <= available_gpu_hours:
        return "The plan fits: even the high end is inside the available hours."
    if required.expected <= available_gpu_hours:
        return "The plan probably fits: the expected value is inside, the high end is not."
    if required.low <= available_gpu_hours:
        return "The plan probably does not fit: only the low end is inside the available hours."
    return "The plan does not fit: even the low end is over the available hours."


def disclosure(text: str) -> Section:
    """Return what a paper would say about compute."""
    return section(
        "disclosure",
        ["## Disclosure"],
        *([escaped(line)] for line in (text or "Not written yet.").splitlines() if line.strip()),
    )


def change_log(entries: Sequence[ChangeEntry]) -> Section:
    """Return the log: a line for every time the numbers changed, newest last."""
    return section(
        "change-log",
        ["## Change Log"],
        bullets(f"{escaped(entry.date)}: {escaped(entry.change)}" for entry in entries),
    )


def final_checks(plan: BudgetPlan) -> Section:
    """Return the final checks, and what is still open."""
    boxes = {True: "[x]", False: "[ ] **not passed**", None: "[ ] undecided"}
    return section(
        "final-checks",
        ["## Final Checks"],
        bullets(
            f"{boxes[check.passed]} {escaped(check.name)}: {escaped(check.reason)}"
            for check in plan.checks
        ),
        titled("**Open points:**", bullets(map(escaped, plan.open_points))),
    )
