"""What `plan_grid` takes: the run the grid is made from, and the grid's own arguments."""

from compute_budget_planner.grid_arguments import GridArguments
from compute_budget_planner.requests import RunRequest


class GridRequest(GridArguments, RunRequest):
    """Arguments of `plan_grid`; all optional. `facts` also take `unique_tokens`."""
