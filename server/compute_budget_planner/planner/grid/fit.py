"""Measured losses fitted, and said with what they do not show."""

from collections.abc import Sequence

from compute_budget_planner.grid_arguments import MeasuredLoss
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.planning.law_fit import (
    BudgetMinimum,
    Interval,
    LawFit,
    MeasuredPoint,
    fit_law,
)
from compute_budget_planner.planning.scaling_law import SIX
from compute_budget_planner.results import RangeOut
from compute_budget_planner.results.grid import FitOut, MinimumOut

_NOTES = {
    "interior": "",
    "edge": "The minimum lies at the edge of the cells: it is no minimum until a cell beyond it "
    "is worse.",
    "no minimum": "The losses do not curve upwards: noise, or cells too close together.",
    "too few": "A minimum needs three sizes at one budget.",
}


def fit_out(losses: Sequence[MeasuredLoss], reference: Reference) -> FitOut:
    """Fit measured losses and return minima, exponents and what is doubtful about them."""
    points = [MeasuredPoint(m.params, m.tokens, m.loss, m.seed) for m in losses]
    fit = fit_law(points, reference.value("same_budget_percent"))
    params, tokens = fit.params_exponent, fit.tokens_exponent
    return FitOut(
        minima=[_minimum_out(minimum) for minimum in fit.minima],
        params_exponent=None if params is None else params.expected,
        params_exponent_interval=_range(params),
        tokens_exponent=None if tokens is None else tokens.expected,
        tokens_exponent_interval=_range(tokens),
        noise_percent=fit.noise_percent,
        note=_note(fit),
    )


def _minimum_out(minimum: BudgetMinimum) -> MinimumOut:
    notes = [_NOTES[minimum.status]]
    if minimum.seeds == 1:
        notes.append("One seed: the minimum may be luck.")
    return MinimumOut.model_validate(
        {
            "budget_flops": SIX * minimum.nd_product,
            "sizes": minimum.sizes,
            "seeds": minimum.seeds,
            "status": minimum.status,
            "lowest_params": minimum.lowest_params,
            "best_params": None if minimum.params is None else minimum.params.expected,
            "best_params_interval": _range(minimum.params),
            "note": " ".join(note for note in notes if note),
        }
    )


def _note(fit: LawFit) -> str:
    interior = sum(m.status == "interior" for m in fit.minima)
    notes = []
    if interior < 2:
        notes.append("Exponents need interior minima at two budgets or more.")
    if interior and fit.noise_percent is None:
        notes.append("No interval: a fourth size or a second seed would show the noise.")
    return " ".join(notes)


def _range(interval: Interval | None) -> RangeOut | None:
    if interval is None or interval.low is None or interval.high is None:
        return None
    return RangeOut(low=interval.low, expected=interval.expected, high=interval.high)
