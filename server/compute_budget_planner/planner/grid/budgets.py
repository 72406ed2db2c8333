"""The budgets of a grid in FLOPs, the size in the middle of each, and stand-ins on the way."""

from dataclasses import dataclass

from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.grid_request import GridRequest
from compute_budget_planner.numbers import brief
from compute_budget_planner.planner.assessing import Assessed
from compute_budget_planner.planner.matrix.variation import varied
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.grid import flops_per_token
from compute_budget_planner.planning.grid_shapes import shape_facts, shape_near
from compute_budget_planner.planning.scaling_law import SIX, ScalingLaw
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.facts import FactValue
from compute_budget_planner.workload.overtaken import LENGTHS
from compute_budget_planner.workload.run import TrainingRun

_ROUNDS = 3
_ANY_STEPS = 1000
"""A length for a run whose own does not matter: its speed does not depend on it."""


_TRIAL_PARAMS = 1_000_000_000
"""A model whose speed tells what GPU-hours buy, before the size they buy is known."""

_WHY = "the middle of the grid"


@dataclass(frozen=True)
class Budget:
    """A training budget and who gave it."""

    flops: float
    source: str


def budgets_of(
    workspace: Workspace,
    assessed: Assessed,
    request: GridRequest,
    law: ScalingLaw | None,
    *,
    around_model: bool,
) -> list[Budget]:
    """Return the budgets asked for, lowest first."""
    found = {flops: Budget(flops, "as given") for flops in request.budgets_flops}
    for hours in request.budgets_gpu_hours:
        flops = _bought(workspace, assessed, request, law, hours, around_model)
        source = f"{brief(hours)} GPU-hours at the speed of the middle cell"
        found.setdefault(flops, Budget(flops, source))
    return sorted(found.values(), key=lambda budget: budget.flops)


def own_budget(assessed: Assessed) -> list[Budget]:
    """Return what the run itself costs as the only budget, none when it has no length."""
    run, estimate = assessed.assessment.run, assessed.assessment.estimate
    if run is None or estimate is None or not isinstance(run.model, Architecture):
        return []
    tokens = estimate.steps.examples * (run.data.seq_len or 1)
    return [Budget(flops_per_token(run.model, run) * tokens, "what the run costs")]


def completed(
    workspace: Workspace, request: GridRequest, assessed: Assessed, law: ScalingLaw | None
) -> Assessed:
    """Return the run with stand-ins for what a grid itself decides.

    Without a model that is a usual one of the law's size at the lowest budget. Without a length
    any will do where budgets are given, since every cell gets its own.
    """
    changes: dict[str, FactValue] = {}
    if request.budgets_flops or request.budgets_gpu_hours or request.relative_cells:
        given = assessed.assessment.resolution.facts
        if not any(name in given for name in LENGTHS):
            changes["max_steps"] = _ANY_STEPS
    if "model" in assessed.assessment.resolution.missing and law is not None:
        flops = min(request.budgets_flops, default=None)
        size = request.unit_params if flops is None else law.surface.optimum(flops).params
        if size is None and request.budgets_gpu_hours:
            trial = {**changes, "params_total": _TRIAL_PARAMS}
            timed = varied(workspace.reference, assessed, trial, _WHY)
            if timed.assessment.run is not None:
                budgets = budgets_of(workspace, timed, request, law, around_model=False)
                size = law.surface.optimum(budgets[0].flops).params
        if size is not None:
            changes["params_total"] = round(size)
    return varied(workspace.reference, assessed, changes, _WHY) if changes else assessed


def _bought(
    workspace: Workspace,
    assessed: Assessed,
    request: GridRequest,
    law: ScalingLaw | None,
    hours: float,
    around_model: bool,
) -> float:
    """Return the FLOPs that GPU-hours buy; the middle cell, whose speed counts, follows them."""
    run = assessed.assessment.run
    assert run is not None and isinstance(run.model, Architecture)  # noqa: S101  others are refused
    arch, flops = run.model, 0.0
    for _ in range(1 if around_model else _ROUNDS):
        changes = {**shape_facts(arch), "max_steps": _ANY_STEPS}
        timed = varied(workspace.reference, assessed, changes, "speed of the grid").assessment
        assert timed.estimate is not None and timed.run is not None  # noqa: S101  it has a length
        per_step = timed.run.batch.global_batch_size * (timed.run.data.seq_len or 1)
        gpu_seconds = timed.estimate.step_seconds.expected * timed.run.hardware.n_gpus
        flops = hours * 3600 / gpu_seconds * per_step * flops_per_token(arch, run)
        size = middle_params(run, flops, law, request.k, around_model=around_model)
        arch = shape_near(run.model, size)
    return flops


def middle_params(
    run: TrainingRun, flops: float, law: ScalingLaw | None, k: float | None, *, around_model: bool
) -> float:
    """Return the parameters in the middle of a budget: the model's, or the law's optimum."""
    assert isinstance(run.model, Architecture)  # noqa: S101  the caller has refused all others
    if around_model or law is None:
        return float(count_parameters(run.model).total)
    return law.surface.optimum(flops, k_at(run, flops, law, k, around_model=False)).params


def k_at(
    run: TrainingRun, flops: float, law: ScalingLaw | None, k: float | None, *, around_model: bool
) -> float:
    """Return k of C = k·N·D in the middle of a budget: the given one, or true FLOPs over N·D."""
    assert isinstance(run.model, Architecture)  # noqa: S101  the caller has refused all others
    if k is not None:
        return k
    if around_model or law is None:
        return flops_per_token(run.model, run) / count_parameters(run.model).total
    found = SIX
    for _ in range(_ROUNDS):
        arch = shape_near(run.model, law.surface.optimum(flops, found).params)
        found = flops_per_token(arch, run) / count_parameters(arch).total
    return found
