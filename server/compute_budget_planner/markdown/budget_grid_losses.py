"""The losses of a grid on the budget page: the law behind the predictions, measured minima."""

from compute_budget_planner.markdown.blocks import (
    NONE,
    bullets,
    fenced,
    joined,
    number,
    span,
    table,
    titled,
)
from compute_budget_planner.markdown.escape import code, escaped
from compute_budget_planner.numbers import shown
from compute_budget_planner.results import RangeOut
from compute_budget_planner.results.grid import FitOut, GridResult, LawOut, MinimumOut

_ALT = "Predicted loss over parameters, a line per budget"
_MINIMA = (
    "Budget (FLOPs, 6·N·D)",
    "Sizes",
    "Least seeds",
    "Minimum",
    "Size of least loss",
    "Lowest point of the parabola",
    "Its interval",
    "Note",
)


def picture(grid: GridResult, picture_name: str) -> list[str]:
    """Return the picture beside the page, or what Mermaid can draw of it."""
    if picture_name:
        return [f"![{_ALT}]({picture_name})"]
    return fenced("mermaid", grid.chart) if grid.chart else []


def losses(grid: GridResult) -> list[str]:
    """Return where predictions come from or why there are none, and what measured losses say."""
    return joined(
        [_law(grid.law)] if grid.law is not None else [],
        [f"Predicted losses are withheld, {escaped(grid.withheld)}."] if grid.withheld else [],
        _measured(grid.measured_fit) if grid.measured_fit is not None else [],
    )


def _law(law: LawOut) -> str:
    return (
        f"Losses are predicted by {code(law.law)} ({escaped(law.source)}), fitted from "
        f"{shown(law.params_low)} to {shown(law.params_high)} parameters and "
        f"{shown(law.tokens_low)} to {shown(law.tokens_high)} tokens; nothing beyond is predicted."
    )


def _measured(fit: FitOut) -> list[str]:
    return joined(
        titled("**Measured losses:**", table(_MINIMA, map(_minimum, fit.minima))),
        bullets(
            [
                _exponent("N*", fit.params_exponent, fit.params_exponent_interval),
                _exponent("D*", fit.tokens_exponent, fit.tokens_exponent_interval),
                f"Noise about the parabolas: {number(fit.noise_percent, '%')} of the loss",
                escaped(fit.note),
            ]
        ),
    )


def _minimum(row: MinimumOut) -> list[str]:
    return [
        shown(row.budget_flops),
        shown(row.sizes),
        shown(row.seeds),
        row.status,
        shown(row.lowest_params),
        number(row.best_params),
        NONE if row.best_params_interval is None else span(row.best_params_interval),
        escaped(row.note) or NONE,
    ]


def _exponent(name: str, value: float | None, interval: RangeOut | None) -> str:
    """Return how the best size grows; nothing where one budget is all there is."""
    if value is None:
        return ""
    between = "" if interval is None else f" ({span(interval)})"
    return f"{name} grows with the budget to the power {shown(value)}{between}"
