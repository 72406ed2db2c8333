"""Result of `estimate_run`."""

from typing import Literal

from pydantic import Field

from compute_budget_planner.results.base import FactOut, NextStep, RangeOut, Result, Rounded
from compute_budget_planner.workload.facts import FactValue


class ConflictOut(Result):
    """Two places that disagree: the value used and the one overruled."""

    fact: str
    used: FactOut
    overruled: FactOut


class AssumptionOut(Result):
    """A value nobody gave, the plausible ones it stands for, and what it does to the range."""

    fact: str
    value: FactValue
    why: str
    spread: Rounded = Field(description="high / low of GPU-hours this assumption alone causes")


class StepsOut(Result):
    """The steps ledger: whole numbers, counted as the framework counts."""

    examples: int | None = Field(description="samples trained on, repeats included")
    micro_steps: int
    optimizer_steps: int
    tokens: int | None
    epochs: Rounded | None
    rule: str
    notes: list[str] = Field(default_factory=list)


class PartOut(Result):
    """A part of one optimizer step."""

    name: str
    seconds: Rounded
    share_percent: Rounded


class OverheadOut(Result):
    """Wall-clock time that is not a step."""

    name: str
    hours: RangeOut
    meaning: str


class MemoryTermOut(Result):
    """A part of the peak memory of one accelerator."""

    name: str
    gib: Rounded


class MemoryOut(Result):
    """Does it fit: verdict, peak of one accelerator, terms, the smallest change that helps."""

    verdict: Literal["FITS", "TIGHT", "UNCERTAIN", "OOM", "UNKNOWN"]
    peak_gib: RangeOut | None
    capacity_gib: Rounded | None
    terms: list[MemoryTermOut]
    reason: str
    smallest_fix: str
    largest_micro_batch: int | None


class LimitOut(Result):
    """The time limit of one job, and how many jobs in a row the run needs."""

    time_limit_hours: Rounded | None
    fits: Literal["yes", "no", "uncertain", "unknown"]
    segments: int | None = Field(description="jobs in a row, sized for the high end")
    usable_hours_per_segment: Rounded | None
    reason: str


class MfuOut(Result):
    """Model FLOPs utilisation, percent of the dense peak, with its convention."""

    percent: RangeOut
    convention: str


class ParametersOut(Result):
    """Exact counts."""

    total: int
    active: int
    trainable: int


class CalibrationOut(Result):
    """What measured runs did to the prediction."""

    runs: list[str]
    factor: Rounded = Field(description="measured over predicted step time, after weighting")
    reason: str


class EstimateResult(Result):
    """Result of `estimate_run`."""

    summary: str
    run: str
    status: Literal["estimated", "incomplete"]
    missing: list[str] = Field(default_factory=list, description="facts without which no number")
    gpu: str | None = None
    n_gpus: int | None = None
    seeds: int = Field(default=1, description="repetitions of the run with another seed")
    steps: StepsOut | None = None
    step_seconds: RangeOut | None = None
    tokens_per_second: RangeOut | None = Field(default=None, description="of the whole job")
    samples_per_second: RangeOut | None = Field(default=None, description="of the whole job")
    gpu_hours: RangeOut | None = Field(default=None, description="devices × hours, one seed")
    gpu_hours_all_seeds: RangeOut | None = None
    wall_clock_hours: RangeOut | None = None
    breakdown: list[PartOut] = Field(default_factory=list)
    bottleneck: str = ""
    overheads: list[OverheadOut] = Field(default_factory=list)
    memory: MemoryOut | None = None
    checkpoint_gib: Rounded | None = Field(
        default=None, description="a checkpoint to resume from, on disk"
    )
    limit: LimitOut | None = None
    mfu: MfuOut | None = None
    flops_total: Rounded | None = None
    parameters: ParametersOut | None = None
    cost_usd: RangeOut | None = None
    energy_kwh: RangeOut | None = None
    calibration: CalibrationOut | None = None
    facts: dict[str, FactOut] = Field(default_factory=dict)
    conflicts: list[ConflictOut] = Field(default_factory=list)
    assumptions: list[AssumptionOut] = Field(default_factory=list)
    questions: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    narrow_by: str = ""
    next: list[NextStep] = Field(default_factory=list)
