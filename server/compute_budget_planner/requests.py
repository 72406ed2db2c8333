"""What the tools take. Closed models: a misspelt argument is refused, not ignored."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StrictBool, StrictInt, StrictStr

from compute_budget_planner.grid_arguments import BudgetGrid

FactInput = StrictBool | StrictInt | Annotated[FiniteFloat, Field(strict=True)] | StrictStr | None
"""A fact as the caller writes it; null withdraws the value a file gives."""


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MeasuredRun(_Closed):
    """An earlier run in its own configuration: its files, its facts, or both."""

    files: list[str] = Field(default_factory=list, description="Logs and configs of that run.")
    facts: dict[str, FactInput] = Field(
        default_factory=dict, description="Its configuration and measured speed as facts."
    )


class InspectRequest(_Closed):
    """Arguments of `inspect_project`."""

    files: list[str] = Field(
        default_factory=list,
        description="Paths inside the project; without any, the known places are searched.",
    )


class RunRequest(_Closed):
    """Arguments every tool about one run takes; all optional."""

    files: list[str] = Field(
        default_factory=list,
        description="Paths inside the project: job scripts, configs, model configs, logs, plans. "
        "Without any, the known places are searched.",
    )
    facts: dict[str, FactInput] = Field(
        default_factory=dict,
        description="Facts by name, such as {'gpu': 'A100-SXM-80GB', 'n_gpus': 8}; they win over "
        "every file, and null withdraws a file's value.",
    )
    run: str | None = Field(
        default=None, description="Name of the run when the files describe several."
    )
    measured_runs: list[MeasuredRun] = Field(
        default_factory=list,
        description="Earlier runs, each in its own configuration, to calibrate against.",
    )
    from_budget: bool = Field(
        default=False, description="Start from the inputs stored in the written budget."
    )


class VariantInput(_Closed):
    """A variant of the ablation matrix as the caller gives it."""

    name: str
    changes: dict[str, FactInput] = Field(
        default_factory=dict, description="Facts this variant changes, such as {'n_layers': 6}."
    )
    multiplier: Annotated[FiniteFloat, Field(gt=0)] | None = Field(
        default=None,
        description="Cost of one seed over one seed of the baseline, where no facts say it.",
    )
    seeds: Annotated[StrictInt, Field(ge=1, le=1000)] | None = Field(
        default=None, description="All seeds; the plan's required number when left out."
    )
    tuning_trials: Annotated[StrictInt, Field(ge=0, le=100_000)] | None = Field(
        default=None, description="Trial runs before the real one."
    )
    priority: Literal["required", "should-have", "optional"] | None = None
    claims: list[str] = Field(default_factory=list, description="Claims that depend on it.")


class Decision(_Closed):
    """What the user decided about a cheaper alternative."""

    alternative: str = Field(description="The alternative, as the budget names it.")
    run: str = Field(default="", description="The main run it is about; all of them when empty.")
    decision: Literal["accepted", "rejected", "open"]
    reason: str = ""


class WriteBudgetRequest(_Closed):
    """Arguments of `write_budget`."""

    files: list[str] = Field(default_factory=list, description="As for estimate_run.")
    facts: dict[str, FactInput] = Field(default_factory=dict, description="As for estimate_run.")
    runs: list[str] = Field(
        default_factory=list,
        description="Names of the main runs (models × data sets); all found runs when empty.",
    )
    measured_runs: list[MeasuredRun] = Field(
        default_factory=list, description="As for estimate_run."
    )
    from_budget: bool = Field(default=False, description="Refresh the written budget.")
    baseline: str | None = Field(
        default=None, description="The run the ablation baseline is made from, of several."
    )
    variants: list[VariantInput] = Field(
        default_factory=list, description="Variants beside those of the plan."
    )
    required_seeds: Annotated[StrictInt, Field(ge=1, le=1000)] | None = Field(
        default=None, description="Seeds the claims need; the plan's number when left out."
    )
    grid: BudgetGrid | None = Field(
        default=None,
        description="A compute-optimal grid to plan with the budget: arguments as for plan_grid.",
    )
    decisions: list[Decision] = Field(
        default_factory=list, description="Decisions on alternatives to record."
    )
    claims: list[str] = Field(default_factory=list, description="Linked claims, such as CLM-001.")
    status: Literal["draft", "approved", "superseded"] = Field(
        default="draft", description="State of the plan."
    )
    dry_run: bool = Field(default=False, description="Show the diff and write nothing.")
    expected_sha256: str | None = Field(
        default=None, description="Write only if the budget on disk still has this hash."
    )


class AblationsRequest(_Closed):
    """Arguments of `cost_ablations`."""

    files: list[str] = Field(
        default_factory=list,
        description="As for estimate_run; design plans and baseline audits give the matrix.",
    )
    facts: dict[str, FactInput] = Field(
        default_factory=dict,
        description="Facts of the baseline, and available_gpu_hours and max_gpus.",
    )
    baseline: str | None = Field(
        default=None, description="The run the baseline is made from, of several."
    )
    runs: list[str] = Field(
        default_factory=list,
        description="Main runs counted as required; all unfinished ones when empty.",
    )
    measured_runs: list[MeasuredRun] = Field(
        default_factory=list, description="As for estimate_run."
    )
    from_budget: bool = Field(default=False, description="Start from the written budget's inputs.")
    variants: list[VariantInput] = Field(
        default_factory=list,
        description="Variants beside those of the plan; one of the same name replaces the plan's.",
    )
    required_seeds: Annotated[StrictInt, Field(ge=1, le=1000)] | None = Field(
        default=None, description="Seeds the claims need; the plan's number when left out."
    )


BoardName = Literal["risk", "decision", "evidence", "action", "handoff", "convention"]


class MemoryRequest(_Closed):
    """Arguments of `update_memory`. It works from the written budget."""

    claims: list[str] = Field(
        default_factory=list, description="Claims that depend on the compute, such as CLM-001."
    )
    boards: list[BoardName] = Field(
        default=["risk", "decision", "evidence"],
        description="Which boards to keep; risk, decision and evidence when left out.",
    )
    create_boards: bool = Field(
        default=False, description="Make a missing board from the template; default false."
    )
    dry_run: bool = Field(default=False, description="Show the diffs and write nothing.")
