"""Result of `suggest_alternatives`."""

from typing import Literal

from pydantic import Field

from compute_budget_planner.results.base import NextStep, RangeOut, Result, Rounded
from compute_budget_planner.workload.facts import FactValue


class AlternativeOut(Result):
    """A cheaper way, re-estimated. Savings are in percent of the run; negative means dearer."""

    alternative: str
    group: Literal["free", "lever", "question", "hardware"]
    changes: dict[str, FactValue]
    gpu_hours: RangeOut
    wall_clock_hours: RangeOut
    saving_gpu_hours_percent: Rounded
    saving_wall_clock_percent: Rounded
    saving_cost_percent: Rounded | None = Field(description="at the guide's list prices")
    falls: list[Literal["GPU-hours", "wall-clock", "cost"]]
    signal_quality: str
    misleading_risk: str
    watch: str
    memory_verdict: str
    changes_design: bool
    decision: Literal["accepted", "rejected", "open"] = "open"
    reason: str = ""


class AlternativesResult(Result):
    """Result of `suggest_alternatives`."""

    summary: str
    run: str
    status: Literal["estimated", "incomplete"]
    missing: list[str] = Field(default_factory=list)
    gpu_hours: RangeOut | None = None
    wall_clock_hours: RangeOut | None = None
    alternatives: list[AlternativeOut] = Field(default_factory=list)
    not_worth_listing: list[str] = Field(
        default_factory=list, description="tried, but it does not fit or saves nothing"
    )
    questions: list[str] = Field(default_factory=list)
    next: list[NextStep] = Field(default_factory=list)
