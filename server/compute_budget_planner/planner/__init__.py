"""The tools as plain functions: request model in, result model out."""

from compute_budget_planner.planner.assessing import assess_request, run_inputs
from compute_budget_planner.planner.budget.budgeting import taken_decisions, write_budget
from compute_budget_planner.planner.budget.plan import decided, main_runs
from compute_budget_planner.planner.budget.plan_totals import number_of
from compute_budget_planner.planner.budget.stored import stored_request
from compute_budget_planner.planner.cheaper import alternatives_of
from compute_budget_planner.planner.inspecting import inspect_project
from compute_budget_planner.planner.matrix.ablating import baseline_run, cost_matrix
from compute_budget_planner.planner.matrix.result import ablations_result
from compute_budget_planner.planner.memory.remembering import update_memory
from compute_budget_planner.planner.present import present
from compute_budget_planner.planner.smoking import smoke_of
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.requests import AblationsRequest, RunRequest
from compute_budget_planner.results import (
    AblationsResult,
    AlternativesResult,
    EstimateResult,
    SmokeResult,
)

__all__ = [
    "Workspace",
    "cost_ablations",
    "estimate_run",
    "inspect_project",
    "open_workspace",
    "size_smoke",
    "suggest_alternatives",
    "update_memory",
    "write_budget",
]


def estimate_run(workspace: Workspace, request: RunRequest) -> EstimateResult:
    """Estimate one run: GPU-hours, wall-clock, memory and limit, with everything they rest on.

    Raises:
        PlannerError: an input cannot be used, or several runs fit.
    """
    return present(workspace, assess_request(workspace, request))


def size_smoke(workspace: Workspace, request: RunRequest) -> SmokeResult:
    """Size the smoke test of one run.

    Raises:
        PlannerError: an input cannot be used, or several runs fit.
    """
    return smoke_of(workspace, assess_request(workspace, request))


def suggest_alternatives(workspace: Workspace, request: RunRequest) -> AlternativesResult:
    """Suggest what would answer the question for less, each alternative estimated anew.

    Raises:
        PlannerError: an input cannot be used, or several runs fit.
    """
    found = alternatives_of(workspace, assess_request(workspace, request))
    return decided(found, taken_decisions(workspace, []))


def cost_ablations(workspace: Workspace, request: AblationsRequest) -> AblationsResult:
    """Cost the ablation matrix, choose what of it to run, and list what is cut.

    Raises:
        PlannerError: there is no matrix, or an input cannot be used.
    """
    variants = list(request.variants)
    if request.from_budget:
        given = {variant.name for variant in variants}
        stored = stored_request(workspace).request
        variants = [v for v in stored.variants if v.name not in given] + variants
    inputs = run_inputs(
        workspace,
        request.files,
        request.facts,
        request.measured_runs,
        from_budget=request.from_budget,
    )
    baseline = baseline_run(workspace, inputs, variants, request.baseline)
    costed = cost_matrix(workspace, inputs, baseline, variants, request.required_seeds)
    mains = main_runs(workspace, inputs, variants, request.runs)
    counted = [
        present(workspace, run) for run in mains if run.name != baseline.name or costed.own_controls
    ]
    most = number_of([baseline], "max_gpus")
    return ablations_result(
        costed,
        counted,
        number_of([baseline], "available_gpu_hours"),
        None if most is None else int(most),
        request.model_dump(mode="json", exclude_defaults=True),
    )
