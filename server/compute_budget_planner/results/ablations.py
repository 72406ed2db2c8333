"""Result of `cost_ablations`."""

from typing import Literal

from pydantic import Field

from compute_budget_planner.results.base import NextStep, RangeOut, Result, Rounded
from compute_budget_planner.workload.facts import FactValue

PriorityName = Literal["required", "should-have", "optional"]


class VariantOut(Result):
    """A row of the matrix. GPU-hours cover all seeds and tuning trials of the row.

    `basis` is `re-estimated`, `stated` (a multiplier somebody gave), `baseline`, `reference` (the
    guide says that the change costs nothing), `exists` (it has run already and costs nothing) or
    `open` (its change cannot be read: `question` asks).
    """

    variant: str
    changed_variable: str
    cost_multiplier: Rounded | None = Field(
        description="one seed of the variant over one seed of the baseline"
    )
    gpu_hours: RangeOut | None
    priority: PriorityName
    seeds: int
    further_seeds: int = Field(default=0, description="seeds beyond the required number")
    tuning_trials: int = 0
    runs_per_seed: int = Field(default=1, description="points of a sweep, or tuning trials")
    gpu_hours_one_seed: RangeOut | None = None
    wall_clock_hours: RangeOut | None = Field(
        default=None, description="of one run, the longest of a sweep"
    )
    n_gpus: int | None = None
    claims: list[str] = Field(default_factory=list)
    rule: str = Field(description="what gave the priority")
    basis: Literal["baseline", "re-estimated", "stated", "reference", "exists", "open"]
    memory_verdict: str = ""
    source: str = ""
    question: str = ""


class MainRunOut(Result):
    """A main run; it counts as required."""

    run: str
    seeds: int
    gpu_hours: RangeOut | None = Field(description="all seeds")


class PriorityTotalOut(Result):
    """GPU-hours of one priority, ablations only."""

    priority: PriorityName
    gpu_hours_one_seed: RangeOut
    gpu_hours: RangeOut = Field(description="all seeds")


class CutOut(Result):
    """What is not run under the hours at hand."""

    variant: str
    priority: PriorityName
    seeds: int
    gpu_hours: RangeOut
    claims: list[str]
    effect: str


class AblationsResult(Result):
    """Result of `cost_ablations`."""

    summary: str
    baseline: str
    controls: dict[str, FactValue] = Field(
        default_factory=dict, description="what all rows share, such as a shorter training"
    )
    variants: list[VariantOut]
    main_runs: list[MainRunOut]
    totals: list[PriorityTotalOut]
    required_gpu_hours: RangeOut | None = Field(
        description="required variants and main runs, all seeds"
    )
    all_gpu_hours: RangeOut | None = Field(description="everything, all seeds")
    available_gpu_hours: Rounded | None
    verdict: Literal["fits", "over", "unknown"]
    shortfall_gpu_hours: Rounded = Field(description="what required lacks; 0 when it fits")
    minimum_run_set: list[str]
    kept: list[str]
    cut: list[CutOut]
    elapsed_hours: Rounded | None = Field(description="until all kept runs are done")
    max_gpus: int | None = Field(description="accelerators in use at once")
    excluded: list[str] = Field(default_factory=list, description="listed with 0 GPU-hours")
    questions: list[str] = Field(default_factory=list)
    next: list[NextStep] = Field(default_factory=list)

    @property
    def uncosted_required(self) -> list[str]:
        """Required variants whose cost nobody knows: sums of what is required lack them."""
        return [
            row.variant
            for row in self.variants
            if row.basis == "open" and row.priority == "required"
        ]
