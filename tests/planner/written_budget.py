"""Writing the budget of a small project, and reading the page back."""

from compute_budget_planner.planner import write_budget
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.requests import WriteBudgetRequest
from compute_budget_planner.results import BudgetResult


def written(workspace: Workspace, **request: object) -> BudgetResult:
    """Call `write_budget` with arguments as a client gives them."""
    return write_budget(workspace, WriteBudgetRequest.model_validate(request))


def page_of(workspace: Workspace) -> str:
    """Return the page that was written."""
    path = workspace.project.root / workspace.project.budget_path
    return path.read_text(encoding="utf-8")


def prose(page: str) -> str:
    """Return the page without its machine block, which holds every number anyway."""
    return page.partition("<!-- budget:begin machine -->")[0]
