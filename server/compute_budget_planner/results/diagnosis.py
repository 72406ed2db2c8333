"""Result of `diagnose_run`."""

from typing import Literal

from pydantic import Field

from compute_budget_planner.results.base import NextStep, RangeOut, Result, Rounded
from compute_budget_planner.results.picture import Pictured

KindName = Literal[
    "capacity-limited",
    "overfitting",
    "under-training",
    "converged",
    "unstable",
    "not-yet-readable",
]


class CurveOut(Result):
    """One curve as it was read; percentages are of its final level."""

    curve: Literal["training", "validation"]
    points: int
    level: Rounded = Field(description="loss at the end, noise taken out")
    lowest: Rounded
    lowest_step: Rounded
    rise_percent: Rounded = Field(description="level above the lowest")
    fall_per_doubling: RangeOut | None = Field(
        description="percent per doubling of the steps, 90 % interval"
    )
    fall_from_step: Rounded | None
    fall_to_step: Rounded | None
    noise: Rounded = Field(description="of one level")
    spikes: int
    restarts: int


class RunDiagnosisOut(Result):
    """What one run is, by which evidence, and what would tell more."""

    run: str
    kind: KindName
    candidates: list[KindName] = Field(default_factory=list)
    means: str
    evidence: list[str]
    next_experiment: str
    curves: list[CurveOut]
    epochs: Rounded | None = None
    repeated_percent: Rounded | None = Field(default=None, description="seen before")
    effective_tokens: Rounded | None = Field(default=None, description="fresh tokens worth as much")
    sources: list[str] = Field(default_factory=list)


class StandingOut(Result):
    """One run when it had spent the compute all of them spent."""

    run: str
    params_total: int | None
    step: Rounded
    loss: Rounded
    loss_at_equal_steps: Rounded
    inside_schedule: bool = Field(description="its schedule went on: a hint, no result")


class EqualComputeOut(Result):
    """The runs at equal compute, the best first."""

    flops: Rounded
    steps: Rounded = Field(description="the equal steps")
    order_differs: bool = Field(description="equal steps would order them otherwise")
    standings: list[StandingOut]


class DiagnosisResult(Pictured):
    """Result of `diagnose_run`."""

    summary: str
    status: Literal["diagnosed", "incomplete"]
    runs: list[RunDiagnosisOut] = Field(default_factory=list)
    equal_compute: EqualComputeOut | None = None
    warnings: list[str] = Field(default_factory=list)
    questions: list[str] = Field(default_factory=list)
    next: list[NextStep] = Field(default_factory=list)
