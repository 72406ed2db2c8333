"""Serving and test-time compute of the cells of a grid, by scenario."""

import math
from collections.abc import Sequence

from compute_budget_planner.grid_arguments import Scenario
from compute_budget_planner.numbers import brief
from compute_budget_planner.planner.grid.cells import Built
from compute_budget_planner.planning.inference_cost import (
    Deployment,
    deployment_optimum,
    samples_at_equal_cost,
)
from compute_budget_planner.planning.scaling_law import ScalingLaw
from compute_budget_planner.results import RangeOut
from compute_budget_planner.results.grid import ScenarioCellOut, ScenarioOut, SearchOut

_BEYOND = " Beyond the fitted range of the law that is a direction, not a figure."


def objective_of(found: Built, scenario: Scenario) -> float | None:
    """Return J of a cell, None where its loss or its GPU-hours are not known."""
    if found.loss is None or found.gpu_hours is None:
        return None
    serving = found.serving.gpu_hours(scenario.read_tokens, scenario.written_tokens).expected
    return (
        found.loss.expected
        + scenario.lambda_per_gpu_hour * found.gpu_hours.expected
        + scenario.mu_per_gpu_hour * serving
    )


def scenario_cell(found: Built, scenario: Scenario) -> ScenarioCellOut:
    """Return what a cell costs in a scenario."""
    hours = found.serving.gpu_hours(scenario.read_tokens, scenario.written_tokens)
    return ScenarioCellOut(
        scenario=scenario.name,
        cell=found.name,
        training_gpu_hours=None if found.gpu_hours is None else RangeOut.of(found.gpu_hours),
        inference_flops=found.serving_flops * (scenario.read_tokens + scenario.written_tokens),
        inference_gpu_hours=RangeOut.of(hours),
        objective=objective_of(found, scenario),
    )


def scenario_out(cells: Sequence[Built], scenario: Scenario, law: ScalingLaw | None) -> ScenarioOut:
    """Return training optimum, deployment optimum and preferred cell, kept apart.

    The two optima are those at the lowest budget; any cell of the grid can be preferred.
    """
    lowest = min(b.cell.wish.budget_flops for b in cells)
    own = [b for b in cells if b.cell.wish.budget_flops == lowest]
    predicted = [b for b in own if b.loss is not None]
    given = scenario.model_dump(exclude={"name"})
    if law is None or not predicted:
        return ScenarioOut(
            scenario=scenario.name,
            **given,
            training_optimum="",
            deployment_optimum="",
            preferred="",
            deployment_params=None,
            deployment_tokens=None,
            saving_percent=None,
            reading="Losses are withheld: compare the costs, and measure the losses.",
        )
    best = min(predicted, key=lambda b: b.loss.expected if b.loss else math.inf)
    served = scenario.read_tokens + scenario.written_tokens
    optimum = law.surface.optimum(6 * best.learned.params * best.learned.tokens)
    life = deployment_optimum(law.surface, optimum, served)
    nearest = min(own, key=lambda b: abs(math.log(b.cell.params_total / life.best.params)))
    weighed = [(value, b.name) for b in cells if (value := objective_of(b, scenario)) is not None]
    preferred = min(weighed)[1] if weighed else ""
    return ScenarioOut(
        scenario=scenario.name,
        **given,
        training_optimum=best.name,
        deployment_optimum=nearest.name,
        preferred=preferred,
        deployment_params=life.best.params,
        deployment_tokens=life.best.tokens,
        saving_percent=life.saving_percent,
        reading=_reading(best.name, nearest.name, preferred, life, served)
        + ("" if law.covers(life.best.params, life.best.tokens) else _BEYOND),
    )


def _reading(best: str, nearest: str, preferred: str, life: Deployment, served: float) -> str:
    text = f"For {brief(served)} served tokens the least compute over a life at the same loss is "
    text += (
        f"{brief(life.best.params)} parameters on {brief(life.best.tokens)} fresh tokens, which "
        f"saves {brief(life.saving_percent)} % of training and serving FLOPs."
    )
    if best == nearest == preferred:
        return f"{text} Training, deployment and preference agree on {best}."
    return (
        f"{text} Training optimum {best}, nearest to the deployment optimum {nearest}, least J "
        f"{preferred or 'unknown'}: they differ, and limits of the business are a third thing."
    )


def search_out(cells: Sequence[Built], samples: Sequence[int]) -> list[SearchOut]:
    """Return test-time compute of every cell: samples or search steps against one answer."""
    largest = max(b.serving_flops for b in cells)
    return [
        SearchOut(
            cell=b.name,
            samples=count,
            inference_flops_per_answer_token=b.serving_flops * count,
            times_largest_direct=b.serving_flops * count / largest,
            samples_at_equal_cost=samples_at_equal_cost(b.serving_flops, largest),
        )
        for b in cells
        for count in samples
    ]
