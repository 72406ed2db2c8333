"""Parts of the page of a plan."""

from compute_budget_planner.markdown.budget import render_budget
from compute_budget_planner.markdown.budget_plan import BudgetPlan


def section_of(name: str, plan: BudgetPlan) -> str:
    """Return the text of a section."""
    return "\n".join(next(s.lines for s in render_budget(plan) if s.name == name))


def rows_of(text: str, column: str) -> list[list[str]]:
    """Return the cells of the first table whose first column has that name, header first."""
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {column} |"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("| ") and not line.startswith("|-"):
            break
        if line.startswith("| "):
            rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return rows


def bullets_below(text: str, title: str) -> list[str]:
    """Return the items of the list under a line that begins with a title."""
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith(title)) + 2
    items = []
    for line in lines[start:]:
        if not line.startswith("- "):
            break
        items.append(line.removeprefix("- "))
    return items
