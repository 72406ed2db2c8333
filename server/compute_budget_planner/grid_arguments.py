"""What a grid is made of, its run aside: budgets, cells, law, scenarios, losses."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StrictInt

Positive = Annotated[FiniteFloat, Field(gt=0, le=1e28)]
Count = Annotated[FiniteFloat, Field(ge=1, le=1e20)]
Unit = Annotated[FiniteFloat, Field(gt=0, le=1e6)]
NotNegative = Annotated[FiniteFloat, Field(ge=0, le=1e20)]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RelativeCell(_Closed):
    """A cell in relative units, such as 2 units of parameters on 8 units of tokens."""

    params: Unit
    tokens: Unit


class Scenario(_Closed):
    """One view of what serving will ask for, and what a GPU-hour is worth in loss.

    J = loss + lambda × training GPU-hours + mu × inference GPU-hours.
    """

    name: str
    read_tokens: NotNegative = Field(default=0, description="Tokens of prompts served in all.")
    written_tokens: NotNegative = Field(default=0, description="Tokens of answers served in all.")
    lambda_per_gpu_hour: NotNegative = Field(
        default=0, description="Loss one GPU-hour of training is worth."
    )
    mu_per_gpu_hour: NotNegative = Field(
        default=0, description="Loss one GPU-hour of inference is worth."
    )


class MeasuredLoss(_Closed):
    """The validation loss a run reached."""

    params: Count
    tokens: Count
    loss: Annotated[FiniteFloat, Field(ge=1e-6, le=1e6)]
    seed: StrictInt = 0


class GridArguments(_Closed):
    """The grid's own arguments; all optional."""

    budgets_flops: list[Positive] = Field(
        default_factory=list, max_length=8, description="Training budgets in FLOPs."
    )
    budgets_gpu_hours: list[Positive] = Field(
        default_factory=list,
        max_length=8,
        description="Training budgets in GPU-hours on the run's hardware.",
    )
    around: Literal["optimum", "model"] | None = Field(
        default=None,
        description="What the middle cell is: the law's optimum, the default where budgets or no "
        "model are given, or the run's model.",
    )
    cells_per_budget: Annotated[StrictInt, Field(ge=1, le=9)] | None = Field(
        default=None, description="Sizes per budget; three when left out."
    )
    higher_budget_factor: Annotated[FiniteFloat, Field(ge=1, le=1e4)] | None = Field(
        default=None, description="Budget of the trend cell over the highest; 1 for none."
    )
    relative_cells: list[RelativeCell] = Field(
        default_factory=list,
        max_length=16,
        description="Cells in relative units instead of the usual ones.",
    )
    unit_params: Count | None = Field(default=None, description="Parameters of one relative unit.")
    unit_tokens: Count | None = Field(default=None, description="Tokens of one relative unit.")
    k: Annotated[FiniteFloat, Field(ge=0.01, le=1000)] | None = Field(
        default=None, description="k of C = k·N·D; true FLOPs are counted when left out."
    )
    law: str | None = Field(
        default=None, description="A law of table `scaling_laws`, or none to withhold predictions."
    )
    generator_tokens: Count | None = Field(
        default=None, description="Different tokens the generator of synthetic data can produce."
    )
    scenarios: list[Scenario] = Field(
        default_factory=list, max_length=8, description="Served volumes and weights."
    )
    test_time_samples: list[Annotated[StrictInt, Field(ge=1, le=1_000_000)]] = Field(
        default_factory=list,
        max_length=8,
        description="Answers or search steps per query at test time.",
    )
    measured_losses: list[MeasuredLoss] = Field(
        default_factory=list, max_length=2000, description="Losses to fit."
    )


class BudgetGrid(GridArguments):
    """A grid in the budget: made from one of its runs, with the budget's files and facts."""

    run: str | None = Field(
        default=None, description="The run the grid is made from, of several main runs."
    )
