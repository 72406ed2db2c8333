"""What a grid stands on, and the cells it wishes for."""

from collections.abc import Sequence
from dataclasses import dataclass

from compute_budget_planner.errors import RequestError
from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.grid_request import GridRequest
from compute_budget_planner.planner.assessing import Assessed
from compute_budget_planner.planner.grid.budgets import Budget, middle_params
from compute_budget_planner.planner.grid.cells import reason_of_kind
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.grid import Wish, budget_wishes, ratios, relative_wishes
from compute_budget_planner.planning.scaling_law import SIX, ScalingLaw
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import TrainingRun


@dataclass(frozen=True)
class Ground:
    """What a grid stands on. `law` gives the middle, `predicting` is None where it predicts not."""

    workspace: Workspace
    request: GridRequest
    assessed: Assessed
    run: TrainingRun
    law: ScalingLaw | None
    around_model: bool

    @property
    def predicting(self) -> ScalingLaw | None:
        """The law, where it describes this kind of run."""
        return None if reason_of_kind(self.run) else self.law


def wishes_of(ground: Ground, budgets: Sequence[Budget]) -> list[Wish]:
    """Return the cells wished for: relative ones, or sizes around the middle of each budget.

    Raises:
        RequestError: relative cells lack a unit.
    """
    request, reference = ground.request, ground.workspace.reference
    if request.relative_cells:
        return _relative(ground, budgets)
    spacing = reference.value("grid_spacing")
    count = request.cells_per_budget or round(reference.value("grid_cells_per_budget"))
    wishes: list[Wish] = []
    for number, budget in enumerate(budgets, start=1):
        middle = _middle(ground, budget.flops)
        wishes += budget_wishes(number, budget.flops, middle, ratios(count, spacing))
    factor = request.higher_budget_factor or reference.value("grid_higher_budget")
    if factor > 1:
        highest = budgets[-1].flops
        size = _middle(ground, highest * factor)
        if ground.around_model:
            # The optimum grows about as the square root of the budget, whatever the law.
            size *= factor**0.5
        name = f"b{len(budgets) + 1}-n1"
        wishes.append(Wish(name, highest * factor, size, "higher-budget"))
    return wishes


def _middle(ground: Ground, flops: float) -> float:
    return middle_params(
        ground.run, flops, ground.law, ground.request.k, around_model=ground.around_model
    )


def _relative(ground: Ground, budgets: Sequence[Budget]) -> list[Wish]:
    """Return cells in relative units; a unit nobody gave follows from model and budget."""
    request = ground.request
    pairs = [(cell.params, cell.tokens) for cell in request.relative_cells]
    k = request.k or SIX
    params, tokens = request.unit_params, request.unit_tokens
    if params is None:
        smallest = min(n for n, _ in pairs)
        assert isinstance(ground.run.model, Architecture)  # noqa: S101  all others are refused
        params = count_parameters(ground.run.model).total / smallest
    if tokens is None:
        if not budgets:
            raise RequestError(
                "relative cells need a size",
                where="unit_tokens",
                remedy="Give `unit_tokens`, or a budget that the first cell shall cost.",
            )
        tokens = budgets[0].flops / (k * pairs[0][0] * params * pairs[0][1])
    return relative_wishes(pairs, params, tokens, k)
