"""What a budget says, before it is a page: results of the tools and what was decided."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from compute_budget_planner.requests import Decision
from compute_budget_planner.results import (
    AblationsResult,
    AlternativesResult,
    CheckOut,
    EnvironmentOut,
    EstimateResult,
    JobBlock,
    RangeOut,
    SmokeResult,
)
from compute_budget_planner.results.grid import GridResult


@dataclass(frozen=True)
class Totals:
    """GPU-hours of the plan; None where a part of the sum is unknown.

    `main_one_seed` and `main_all_seeds` sum the main runs, `smokes` the smoke tests.
    `required` is what cannot be left out: smoke tests, and all seeds of the main runs and of the
    required ablations, each counted once.
    """

    main_one_seed: RangeOut | None = None
    main_all_seeds: RangeOut | None = None
    smokes: RangeOut | None = None
    required: RangeOut | None = None


@dataclass(frozen=True)
class Envelope:
    """What is available: GPU-hours of the budget and the places jobs can go."""

    available_gpu_hours: float | None = None
    max_gpus: int | None = None
    deadline: str | None = None
    environments: tuple[EnvironmentOut, ...] = ()


@dataclass(frozen=True)
class BudgetPlan:
    """Everything on the page. Texts are plain text, not Markdown; paths are repo-relative.

    `generated` is an ISO date. `jobs` stand in submission order. `inputs` is what the tool needs
    to compute the plan again (JSON values only), `input_sha256` the hash of every file by path.
    `ablations` is None where no matrix is costed; `alternatives` are one result per main run.
    `grid` is None where none is planned; `grid_picture` is the name of the file beside the page
    that shows it, empty where it is not drawn. `fairness_rules` hold for every comparison.
    """

    project: str
    generated: str
    tool_version: str
    status: Literal["draft", "approved", "superseded"]
    plan_sources: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    estimates: tuple[EstimateResult, ...] = ()
    smokes: tuple[SmokeResult, ...] = ()
    jobs: tuple[JobBlock, ...] = ()
    totals: Totals = field(default_factory=Totals)
    envelope: Envelope = field(default_factory=Envelope)
    ablations: AblationsResult | None = None
    alternatives: tuple[AlternativesResult, ...] = ()
    grid: GridResult | None = None
    grid_picture: str = ""
    fairness_rules: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    disclosure: str = ""
    checks: tuple[CheckOut, ...] = ()
    open_points: tuple[str, ...] = ()
    inputs: Mapping[str, object] = field(default_factory=dict)
    input_sha256: Mapping[str, str] = field(default_factory=dict)
