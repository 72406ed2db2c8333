"""What the tools give back. Numbers are rounded once, here, so that prose, tables and JSON agree.

Quantities with uncertainty are ranges `low / expected / high` (10th, 50th, 90th percentile).
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat

from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.numbers import rounded
from compute_budget_planner.workload.facts import Fact, FactValue

Rounded = Annotated[FiniteFloat, AfterValidator(rounded)]


class _Result(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RangeOut(_Result):
    """10th, 50th and 90th percentile."""

    low: Rounded
    expected: Rounded
    high: Rounded

    @classmethod
    def of(cls, value: Range) -> "RangeOut":
        """Round a range for output."""
        return cls(low=value.low, expected=value.expected, high=value.high)


class FactOut(_Result):
    """A fact with how it is known and where it stands."""

    value: FactValue
    basis: str
    source: str

    @classmethod
    def of(cls, fact: Fact) -> "FactOut":
        """Show a fact."""
        return cls(value=fact.value, basis=fact.basis.value, source=fact.source)


class ConflictOut(_Result):
    """Two places that disagree: the value used and the one overruled."""

    fact: str
    used: FactOut
    overruled: FactOut


class AssumptionOut(_Result):
    """A value nobody gave, the plausible ones it stands for, and what it does to the range."""

    fact: str
    value: FactValue
    why: str
    spread: Rounded = Field(description="high / low of GPU-hours this assumption alone causes")


class NextStep(_Result):
    """The tool that continues from here, or the question that blocks."""

    tool: str
    arguments: dict[str, object] = Field(default_factory=dict)
    question: str = ""


class StepsOut(_Result):
    """The steps ledger: whole numbers, counted as the framework counts."""

    examples: int | None = Field(description="samples trained on, repeats included")
    micro_steps: int
    optimizer_steps: int
    tokens: int | None
    epochs: Rounded | None
    rule: str
    notes: list[str] = Field(default_factory=list)


class PartOut(_Result):
    """A part of one optimizer step."""

    name: str
    seconds: Rounded
    share_percent: Rounded


class OverheadOut(_Result):
    """Wall-clock time that is not a step."""

    name: str
    hours: RangeOut
    meaning: str


class MemoryTermOut(_Result):
    """A part of the peak memory of one accelerator."""

    name: str
    gib: Rounded


class MemoryOut(_Result):
    """Does it fit: verdict, peak of one accelerator, terms, the smallest change that helps."""

    verdict: Literal["FITS", "TIGHT", "UNCERTAIN", "OOM", "UNKNOWN"]
    peak_gib: RangeOut | None
    capacity_gib: Rounded | None
    terms: list[MemoryTermOut]
    reason: str
    smallest_fix: str
    largest_micro_batch: int | None


class LimitOut(_Result):
    """The time limit of one job, and how many jobs in a row the run needs."""

    time_limit_hours: Rounded | None
    fits: Literal["yes", "no", "uncertain", "unknown"]
    segments: int | None = Field(description="jobs in a row, sized for the high end")
    usable_hours_per_segment: Rounded | None
    reason: str


class MfuOut(_Result):
    """Model FLOPs utilisation, percent of the dense peak, with its convention."""

    percent: RangeOut
    convention: str


class ParametersOut(_Result):
    """Exact counts."""

    total: int
    active: int
    trainable: int


class CalibrationOut(_Result):
    """What measured runs did to the prediction."""

    runs: list[str]
    factor: Rounded = Field(description="measured over predicted step time, after weighting")
    reason: str


class EstimateResult(_Result):
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


class JobBlock(_Result):
    """The eight things `run-experiment` asks for, and what the plan knows beside them."""

    environment: str
    command: str
    job_name: str
    gpus: int
    gpu_type: str
    walltime: str = Field(description="HH:MM:SS, margin included, within the limit")
    walltime_margin_percent: Rounded
    cpus_per_task: int | None
    mem: str | None
    conda_env: str | None
    output_dir: str
    array: str | None
    special: str
    task_class: Literal["smoke", "debug", "formal"]
    workload_shape: Literal["single-device", "multi-gpu-native", "independent-targets", "pipeline"]
    expected_gpu_hours: Rounded
    exp_id: str | None
    invocation: str = Field(description="the /run-experiment line")


class SmokeResult(_Result):
    """Result of `size_smoke`."""

    summary: str
    run: str
    status: Literal["sized", "incomplete"]
    missing: list[str] = Field(default_factory=list)
    steps: int | None = None
    n_gpus: int | None = None
    data_fraction_percent: Rounded | None = None
    wall_clock_minutes: RangeOut | None = None
    gpu_hours: RangeOut | None = None
    share_of_run_percent: Rounded | None = None
    bound: str = Field(default="", description="the rule that decided the number of steps")
    flags: list[str] = Field(default_factory=list)
    pass_criteria: list[str] = Field(default_factory=list)
    overrides: list[str] = Field(default_factory=list, description="options for the framework")
    expected_step_seconds: RangeOut | None = None
    expected_peak_gib: RangeOut | None = None
    job: JobBlock | None = None
    questions: list[str] = Field(default_factory=list)
    next: list[NextStep] = Field(default_factory=list)


class ProblemOut(_Result):
    """Something in a file that could not be read."""

    source: str
    text: str


class FileOut(_Result):
    """One file: its format, its facts, its problems."""

    path: str
    format: str
    kind: str
    facts: dict[str, FactOut]
    measured: dict[str, FactOut] = Field(default_factory=dict)
    problems: list[ProblemOut] = Field(default_factory=list)


class RunOut(_Result):
    """Files that belong to one run."""

    name: str
    files: list[str]
    prior_logs: list[str]
    n_runs: int
    gaps: list[str]


class EnvironmentOut(_Result):
    """A place jobs can go, with its limits."""

    name: str
    scheduler: str
    time_limit_hours: Rounded | None
    max_gpus: int | None
    gpu_types: list[str]
    source: str


class InspectResult(_Result):
    """Result of `inspect_project`."""

    summary: str
    project: str
    files: list[FileOut]
    runs: list[RunOut]
    boards: dict[str, bool]
    envelope: list[EnvironmentOut]
    gaps: list[str]
    next: list[NextStep] = Field(default_factory=list)


class CheckOut(_Result):
    """One of the five final checks."""

    name: str
    passed: bool | None = Field(description="null: cannot be decided yet")
    reason: str


class BudgetResult(_Result):
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
    jobs: list[JobBlock]
    total_gpu_hours: RangeOut | None = Field(description="all main runs, all seeds")
    disclosure: str
    checks: list[CheckOut]
    open_points: list[str]
    changed_files: list[str] = Field(
        default_factory=list, description="inputs that changed since the budget was written"
    )
    untracked: str = Field(default="", description="which ignore rule keeps it out of git")
    next: list[NextStep] = Field(default_factory=list)
