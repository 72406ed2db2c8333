"""Result of `write_budget`."""

from typing import Literal

from pydantic import Field

from compute_budget_planner.results.ablations import AblationsResult
from compute_budget_planner.results.alternatives import AlternativesResult
from compute_budget_planner.results.base import NextStep, RangeOut, Result
from compute_budget_planner.results.estimate import EstimateResult
from compute_budget_planner.results.grid import GridResult
from compute_budget_planner.results.smoke import JobBlock, SmokeResult


class CheckOut(Result):
    """One of the five final checks."""

    name: str
    passed: bool | None = Field(description="null: cannot be decided yet")
    reason: str


class BudgetResult(Result):
    """Result of `write_budget`."""

    summary: str
    path: str
    changed: bool
    dry_run: bool
    sha256: str
    diff: str
    status: Literal["draft", "approved", "superseded"]
    estimates: list[EstimateResult]
    smokes: list[SmokeResult]
    ablations: AblationsResult | None = None
    alternatives: list[AlternativesResult] = Field(default_factory=list)
    grid: GridResult | None = None
    grid_picture: str = Field(
        default="", description="where the grid is drawn, beside the page; empty without the extra"
    )
    jobs: list[JobBlock]
    total_gpu_hours: RangeOut | None = Field(description="all main runs, all seeds")
    required_gpu_hours: RangeOut | None = Field(
        default=None, description="main runs, smoke tests and required ablations, all seeds"
    )
    disclosure: str
    checks: list[CheckOut]
    open_points: list[str]
    changed_files: list[str] = Field(
        default_factory=list, description="inputs that changed since the budget was written"
    )
    dropped_inputs: list[str] = Field(
        default_factory=list,
        description="what the budget before was told and this call does not repeat",
    )
    untracked: str = Field(default="", description="which ignore rule keeps it out of git")
    next: list[NextStep] = Field(default_factory=list)
