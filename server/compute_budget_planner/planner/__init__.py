"""The tools as plain functions: request model in, result model out."""

from compute_budget_planner.planner.assessing import assess_request
from compute_budget_planner.planner.budgeting import write_budget
from compute_budget_planner.planner.inspecting import inspect_project
from compute_budget_planner.planner.present import present
from compute_budget_planner.planner.smoking import smoke_of
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.requests import RunRequest
from compute_budget_planner.results import EstimateResult, SmokeResult

__all__ = [
    "Workspace",
    "estimate_run",
    "inspect_project",
    "open_workspace",
    "size_smoke",
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
