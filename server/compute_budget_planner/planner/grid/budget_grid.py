"""The grid of a budget: made from one of its runs, and drawn beside the page."""

from collections.abc import Sequence

from compute_budget_planner.errors import RequestError
from compute_budget_planner.grid_arguments import BudgetGrid
from compute_budget_planner.grid_request import GridRequest
from compute_budget_planner.planner.assessing import Assessed, RunInputs, assess_run
from compute_budget_planner.planner.grid.gridding import grid_around
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.plotting.drawing import can_draw, drawn
from compute_budget_planner.project import private_paths
from compute_budget_planner.results.grid import GridResult

PICTURE_NAME = "compute-budget-grid.svg"
"""The file beside the budget that shows the grid."""


def grid_of_budget(
    workspace: Workspace, inputs: RunInputs, runs: Sequence[Assessed], grid: BudgetGrid | None
) -> GridResult | None:
    """Return the grid around a run of the budget, None where none is asked for.

    Raises:
        RequestError: there are several main runs and none is named, the run has no shape to
            vary, or arguments contradict each other.
    """
    if grid is None:
        return None
    run = _around(workspace, inputs, runs, grid.run)
    # Names reach the page, and a refresh starts from what the page holds.
    root = workspace.project.root
    scenarios = [s.model_copy(update={"name": private_paths(s.name, root)}) for s in grid.scenarios]
    request = GridRequest.model_validate(
        {
            **run.arguments,
            **grid.model_dump(exclude={"run", "scenarios"}),
            "scenarios": [s.model_dump() for s in scenarios],
        }
    )
    return grid_around(workspace, request, run)


def picture_text(grid: GridResult | None) -> str:
    """Return the grid as SVG; empty where there is nothing to draw or the extra is missing."""
    if grid is None or grid.picture is None or not can_draw():
        return ""
    return drawn(grid.picture, "svg").decode("utf-8")


def _around(
    workspace: Workspace, inputs: RunInputs, runs: Sequence[Assessed], name: str | None
) -> Assessed:
    if name is not None:
        own = next((run for run in runs if run.name == name), None)
        return own or assess_run(workspace, inputs, inputs.gathered.named(name))
    if len(runs) > 1:
        names = ", ".join(f"`{run.name}`" for run in runs)
        raise RequestError(
            f"the budget has {len(runs)} main runs: {names}",
            where="grid.run",
            remedy="Name the one the grid is made from as `run` of `grid`.",
        )
    return runs[0]
