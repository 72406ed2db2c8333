"""Result of `check_fairness`."""

from typing import Literal

from pydantic import Field

from compute_budget_planner.results.base import NextStep, Result, Rounded


class BreachOut(Result):
    """A rule that is broken."""

    breach: str
    rule: str
    sides: list[str]
    numbers: str
    means: str
    mend: str


class SideOut(Result):
    """One side of the comparison as it was read."""

    side: str
    role: str
    params_total: Rounded | None
    learning_rate: Rounded | None
    optimizer_steps: Rounded | None
    training_flops: Rounded | None
    tokens: Rounded | None
    unique_tokens: Rounded | None
    seeds: int | None
    tuning_trials: int | None
    source: str


class FairnessResult(Result):
    """Result of `check_fairness`."""

    summary: str
    status: Literal["fair so far", "breaches", "incomplete"]
    breaches: list[BreachOut] = Field(default_factory=list)
    sides: list[SideOut] = Field(default_factory=list)
    rules: list[str] = Field(default_factory=list, description="what every comparison keeps to")
    not_checked: list[str] = Field(default_factory=list, description="nobody said")
    warnings: list[str] = Field(default_factory=list)
    questions: list[str] = Field(default_factory=list)
    next: list[NextStep] = Field(default_factory=list)
