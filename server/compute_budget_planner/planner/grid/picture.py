"""Predicted loss against size, a line per budget, as a picture."""

from compute_budget_planner.numbers import brief
from compute_budget_planner.results.grid import CellOut, GridResult
from compute_budget_planner.results.picture import Line, Picture


def picture_of_grid(result: GridResult) -> Picture | None:
    """Return loss over parameters with its interval; None where the loss is withheld."""
    lines = []
    for group, budget in enumerate(result.budgets):
        cells = [c for c in result.cells if c.budget_flops == budget.budget_flops]
        if line := _line(cells, f"{brief(budget.budget_flops)} FLOPs", group):
            lines.append(line)
    if not lines:
        return None
    return Picture(
        "Predicted loss by size and budget", "parameters", "loss", tuple(lines), log_x=True
    )


def _line(cells: list[CellOut], label: str, group: int) -> Line | None:
    known = [(c.params_total, c.predicted_loss) for c in cells if c.predicted_loss is not None]
    known.sort(key=lambda pair: pair[0])
    if not known:
        return None
    return Line(
        label=label,
        x=tuple(float(params) for params, _ in known),
        y=tuple(loss.expected for _, loss in known),
        group=group,
        low=tuple(loss.low for _, loss in known),
        high=tuple(loss.high for _, loss in known),
        style="markers",
    )
