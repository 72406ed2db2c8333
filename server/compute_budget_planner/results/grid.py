"""Result of `plan_grid`."""

from typing import Literal

from pydantic import Field

from compute_budget_planner.results.base import NextStep, RangeOut, Result, Rounded
from compute_budget_planner.results.picture import Pictured


class GridBudgetOut(Result):
    """A budget and the optimum of the law there."""

    budget_flops: Rounded
    source: str
    k: Rounded = Field(description="true FLOPs over N·D at the middle, or the k that was given")
    optimum_params: RangeOut | None
    optimum_tokens_per_param: RangeOut | None
    note: str = ""


class CellOut(Result):
    """A cell of the grid: shape, data, cost, prediction, and how it would fail."""

    cell: str
    role: Literal["smaller", "middle", "larger", "higher-budget"]
    budget_flops: Rounded
    n_layers: int
    d_model: int
    n_heads: int
    params_total: int
    params_without_embeddings: int
    tokens: int
    tokens_per_param: Rounded
    optimizer_steps: int
    global_batch_size: int
    unique_tokens: int | None = Field(description="different tokens the cell sees")
    epochs: Rounded | None
    repeated_percent: Rounded | None = Field(description="training tokens seen before")
    generator_coverage_percent: Rounded | None
    effective_tokens: Rounded | None = Field(description="fresh tokens worth as much")
    training_flops: Rounded = Field(description="true FLOPs, recomputation included")
    budget_deviation_percent: Rounded
    six_nd_deviation_percent: Rounded = Field(description="6·N·D against the true FLOPs")
    flags: list[str] = Field(default_factory=list)
    gpu_hours: RangeOut | None
    wall_clock_hours: RangeOut | None
    memory_verdict: str
    predicted_loss: RangeOut | None
    penalty_percent: RangeOut | None = Field(
        description="loss above that of the best cell of the same budget"
    )
    inference_flops_per_token: Rounded
    gpu_seconds_per_million_read: RangeOut = Field(description="tokens of prompts")
    gpu_seconds_per_million_written: RangeOut = Field(description="tokens of answers")
    fails_by: str
    seen_as: str
    then: str


class LawOut(Result):
    """The law behind the predictions, and where it was fitted."""

    law: str
    source: str
    params_low: Rounded
    params_high: Rounded
    tokens_low: Rounded
    tokens_high: Rounded


class MinimumOut(Result):
    """The lowest point of the measured losses of one budget, taken as 6·N·D."""

    budget_flops: Rounded
    sizes: int
    seeds: int = Field(description="least number of seeds of any size")
    status: Literal["interior", "edge", "no minimum", "too few"]
    lowest_params: Rounded = Field(description="the size of least measured loss")
    best_params: Rounded | None = Field(description="lowest point of the parabola")
    best_params_interval: RangeOut | None
    note: str


class FitOut(Result):
    """What the measured losses say: minima, and how the best N and D grow with the budget."""

    minima: list[MinimumOut]
    params_exponent: Rounded | None
    params_exponent_interval: RangeOut | None
    tokens_exponent: Rounded | None
    tokens_exponent_interval: RangeOut | None
    noise_percent: Rounded | None = Field(description="of the loss, about the parabolas")
    note: str


class ScenarioOut(Result):
    """The three answers of one scenario; names of cells, empty where the loss is withheld."""

    scenario: str
    read_tokens: Rounded
    written_tokens: Rounded
    lambda_per_gpu_hour: Rounded = Field(description="loss a GPU-hour of training is worth")
    mu_per_gpu_hour: Rounded = Field(description="loss a GPU-hour of inference is worth")
    training_optimum: str
    deployment_optimum: str = Field(description="cell nearest to the optimum over a life")
    preferred: str = Field(description="cell of least J")
    deployment_params: Rounded | None
    deployment_tokens: Rounded | None
    saving_percent: Rounded | None = Field(
        description="of training and serving FLOPs, against the training optimum"
    )
    reading: str


class ScenarioCellOut(Result):
    """What one cell costs in one scenario; J = loss + λ·training + μ·inference GPU-hours."""

    scenario: str
    cell: str
    training_gpu_hours: RangeOut | None
    inference_flops: Rounded
    inference_gpu_hours: RangeOut
    objective: Rounded | None


class SearchOut(Result):
    """Test-time compute of one cell against the largest cell answering at once."""

    cell: str
    samples: int
    inference_flops_per_answer_token: Rounded
    times_largest_direct: Rounded = Field(description="over one answer of the largest cell")
    samples_at_equal_cost: Rounded = Field(description="samples that cost what that answer does")


class GridResult(Pictured):
    """Result of `plan_grid`."""

    summary: str
    run: str
    status: Literal["planned", "incomplete"]
    missing: list[str] = Field(default_factory=list)
    budgets: list[GridBudgetOut] = Field(default_factory=list)
    cells: list[CellOut] = Field(default_factory=list)
    run_first: list[str] = Field(default_factory=list)
    total_gpu_hours: RangeOut | None = Field(default=None, description="all cells, one seed")
    law: LawOut | None = None
    withheld: str = Field(default="", description="why losses are not predicted")
    measured_fit: FitOut | None = None
    scenarios: list[ScenarioOut] = Field(default_factory=list)
    scenario_cells: list[ScenarioCellOut] = Field(default_factory=list)
    test_time: list[SearchOut] = Field(default_factory=list)
    rules: list[str] = Field(default_factory=list)
    must_not_extrapolate: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    questions: list[str] = Field(default_factory=list)
    next: list[NextStep] = Field(default_factory=list)
