"""What `diagnose_run` and `check_fairness` take: files, facts, and the runs compared."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StrictInt

from compute_budget_planner.requests import FactInput

_MOST_RUNS = 32
DataStructure = Literal["time", "groups"]
SplitRule = Literal["random", "time", "groups", "fixed"]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ComparedRun(_Closed):
    """One of several runs: its logs and configs, its facts, or both."""

    name: str
    files: list[str] = Field(default_factory=list, description="Its logs and configs.")
    facts: dict[str, FactInput] = Field(
        default_factory=dict, description="What its files do not say, such as params_total."
    )


class JudgedRun(ComparedRun):
    """One side of a comparison, and how it was judged."""

    role: Literal["method", "baseline", "cell", ""] = Field(
        default="", description="method, baseline, or cell of a grid."
    )
    validation_data: str = Field(default="", description="What it is validated on.")
    metric: str = Field(default="", description="What it is judged by.")
    checkpoint_rule: str = Field(default="", description="Which checkpoint counts: last, best.")
    trials: Annotated[StrictInt, Field(ge=0, le=1_000_000)] | None = Field(
        default=None, description="Tuning trials; 0 for default settings."
    )


class DiagnoseRequest(_Closed):
    """Arguments of `diagnose_run`; all optional."""

    files: list[str] = Field(
        default_factory=list,
        description="Logs with losses and their configs; a folder of logs is a run. Without any, "
        "the known places are searched.",
    )
    facts: dict[str, FactInput] = Field(
        default_factory=dict, description="Facts of all the runs, such as unique_tokens."
    )
    compared_runs: list[ComparedRun] = Field(
        default_factory=list,
        max_length=_MOST_RUNS,
        description="Several runs, each with its own files and facts, instead of `files`.",
    )
    target_loss: FiniteFloat | None = Field(
        default=None, description="A validation loss that would be good, on the same data."
    )
    validation_split: SplitRule | None = Field(
        default=None, description="How the validation data were split off."
    )
    data_depends_on: list[DataStructure] = Field(
        default_factory=list, description="Whether the data depend on time or come in groups."
    )


class FairnessRequest(_Closed):
    """Arguments of `check_fairness`; all optional."""

    files: list[str] = Field(
        default_factory=list,
        description="A design plan, a baseline audit, configs and jobs. Without any, the known "
        "places are searched.",
    )
    facts: dict[str, FactInput] = Field(
        default_factory=dict, description="Facts all compared runs share."
    )
    baseline: str | None = Field(
        default=None, description="The run the rows of a matrix change, of several."
    )
    compared_runs: list[JudgedRun] = Field(
        default_factory=list,
        max_length=_MOST_RUNS,
        description="The sides of the comparison, beside those the files describe.",
    )
    validation_split: SplitRule | None = Field(
        default=None, description="How the validation data were split off."
    )
    data_depends_on: list[DataStructure] = Field(
        default_factory=list, description="Whether the data depend on time or come in groups."
    )
