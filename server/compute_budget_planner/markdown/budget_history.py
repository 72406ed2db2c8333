"""The headline numbers of a budget, and what a refresh changed about them."""

from collections.abc import Iterator, Mapping

from compute_budget_planner.markdown.budget_plan import BudgetPlan
from compute_budget_planner.markdown.machine_block import (
    ChangeEntry,
    Headline,
    MachineBlock,
    Quantities,
)
from compute_budget_planner.numbers import shown
from compute_budget_planner.results import RangeOut

FIRST_VERSION = "first version"
_GRID = "compute-optimal grid"
_PLAN = "whole plan"
_NOT_THERE = "none"


def headline(plan: BudgetPlan) -> Headline:
    """Return the numbers that make a budget another budget when they change."""
    numbers: Headline = {}
    for estimate in plan.estimates:
        memory, limit = estimate.memory, estimate.limit
        numbers[estimate.run] = _known(
            {
                "gpus": estimate.n_gpus,
                "seeds": estimate.seeds,
                "optimizer_steps": estimate.steps.optimizer_steps if estimate.steps else None,
                "gpu_hours": estimate.gpu_hours,
                "gpu_hours_all_seeds": estimate.gpu_hours_all_seeds,
                "wall_clock_hours": estimate.wall_clock_hours,
                "cost_usd": estimate.cost_usd,
                "memory_verdict": memory.verdict if memory else None,
                "peak_gib": memory.peak_gib if memory else None,
                "jobs_in_a_row": limit.segments if limit else None,
            }
        )
    for smoke in plan.smokes:
        numbers[f"smoke test of {smoke.run}"] = _known(
            {
                "steps": smoke.steps,
                "gpus": smoke.n_gpus,
                "wall_clock_minutes": smoke.wall_clock_minutes,
                "gpu_hours": smoke.gpu_hours,
            }
        )
    if plan.grid is not None and plan.grid.cells:
        numbers[_GRID] = _known(
            {"cells": len(plan.grid.cells), "gpu_hours_one_seed": plan.grid.total_gpu_hours}
        )
    totals, matrix = plan.totals, plan.ablations
    by_priority = {t.priority: t.gpu_hours for t in matrix.totals} if matrix else {}
    numbers[_PLAN] = _known(
        {
            "main_gpu_hours_one_seed": totals.main_one_seed,
            "main_gpu_hours_all_seeds": totals.main_all_seeds,
            "smoke_gpu_hours": totals.smokes,
            "required_gpu_hours": totals.required,
            "should_have_gpu_hours": by_priority.get("should-have"),
            "optional_gpu_hours": by_priority.get("optional"),
            "available_gpu_hours": plan.envelope.available_gpu_hours,
            "verdict": matrix.verdict if matrix else None,
        }
    )
    return numbers


def updated_log(previous: MachineBlock | None, now: Headline, date: str) -> list[ChangeEntry]:
    """Return the change log with a new line if a headline number changed."""
    if previous is None:
        return [ChangeEntry(date=date, change=FIRST_VERSION)]
    changes = "; ".join(_changes(previous.headline, now))
    new = [ChangeEntry(date=date, change=changes)] if changes else []
    return [*previous.change_log, *new]


def _changes(before: Headline, now: Headline) -> Iterator[str]:
    """Yield what changed: `NAME: gpu_hours 8 – 10 – 13 → 9 – 11 – 14, seeds 1 → 3`."""
    for name in dict.fromkeys([*before, *now]):
        old, new = before.get(name), now.get(name)
        if new is None:
            yield f"{name}: removed"
        elif old is None:
            yield f"{name}: added"
        else:
            keys = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key)]
            moves = (f"{key} {_text(old.get(key))} → {_text(new.get(key))}" for key in keys)
            if keys:
                yield f"{name}: {', '.join(moves)}"


def _known(values: Mapping[str, RangeOut | float | str | None]) -> Quantities:
    return {
        key: [value.low, value.expected, value.high] if isinstance(value, RangeOut) else value
        for key, value in values.items()
        if value is not None
    }


def _text(value: list[float] | float | str | None) -> str:
    if isinstance(value, list):
        return " – ".join(map(shown, value))
    if isinstance(value, str):
        return value
    return _NOT_THERE if value is None else shown(value)
