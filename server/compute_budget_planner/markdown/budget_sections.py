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
from compute_budget_planner.markdown.budget_plan import BudgetPlan
from compute_budget_planner.markdown.budget_runs import FITS
from compute_budget_planner.markdown.budget_totals import fit
from compute_budget_planner.markdown.escape import code, escaped
from compute_budget_planner.markdown.machine_block import ChangeEntry


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


def envelope(plan: BudgetPlan) -> Section:
    """Return what is available and whether the plan fits."""
    available = plan.envelope
    return section(
        "resource-envelope",
        ["## Resource Envelope"],
        bullets(
            [
                f"Available: {number(available.available_gpu_hours, 'GPU-hours')}",
                f"Required: {span(plan.totals.required, 'GPU-hours')}",
                *fit(plan),
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
                for estimate in plan.estimates
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
