"""What the cells of a grid cost to serve, on the budget page: by token, by scenario, by search."""

from collections.abc import Iterator

from compute_budget_planner.markdown.blocks import (
    UNKNOWN,
    bullets,
    joined,
    number,
    span,
    table,
    titled,
)
from compute_budget_planner.markdown.escape import code, escaped
from compute_budget_planner.numbers import shown
from compute_budget_planner.results.grid import (
    CellOut,
    GridResult,
    ScenarioCellOut,
    ScenarioOut,
    SearchOut,
)

_OBJECTIVE = (
    "J = loss + λ · training GPU-hours + μ · inference GPU-hours. Volumes, λ and μ are "
    "assumptions of a scenario, not findings."
)
_INFERENCE = (
    "Cell",
    "FLOPs per token",
    "GPU-seconds per million tokens read",
    "GPU-seconds per million tokens written",
)
_SCENARIOS = (
    "Scenario",
    "Tokens read",
    "Tokens written",
    "λ per GPU-hour",
    "μ per GPU-hour",
    "Training optimum",
    "Deployment optimum",
    "Least J",
    "Best parameters over a life",
    "Best tokens over a life",
    "Saving (%)",
)
_COSTS = (
    "Scenario",
    "Cell",
    "Training GPU-hours",
    "Inference FLOPs",
    "Inference GPU-hours",
    "J",
)
_SEARCH = (
    "Cell",
    "Samples per query",
    "FLOPs per answer token",
    "Times one answer of the largest cell",
    "Samples at equal cost",
)


def serving(grid: GridResult) -> Iterator[list[str]]:
    """Yield the blocks: cost of a token, scenarios with their cells, test-time search."""
    yield titled("**Inference cost:**", table(_INFERENCE, map(_inference, grid.cells)))
    if grid.scenarios:
        yield _scenarios(grid)
    yield titled(
        "**Test-time compute**, a budget of its own:", table(_SEARCH, map(_search, grid.test_time))
    )


def _inference(cell: CellOut) -> list[str]:
    return [
        code(cell.cell),
        shown(cell.inference_flops_per_token),
        span(cell.gpu_seconds_per_million_read),
        span(cell.gpu_seconds_per_million_written),
    ]


def _scenarios(grid: GridResult) -> list[str]:
    return joined(
        titled("**Scenarios** of serving:", table(_SCENARIOS, map(_scenario, grid.scenarios))),
        [_OBJECTIVE],
        bullets(f"{escaped(s.scenario)}: {escaped(s.reading)}" for s in grid.scenarios),
        table(_COSTS, map(_cost, grid.scenario_cells)),
    )


def _scenario(row: ScenarioOut) -> list[str]:
    names = (row.training_optimum, row.deployment_optimum, row.preferred)
    return [
        escaped(row.scenario),
        shown(row.read_tokens),
        shown(row.written_tokens),
        shown(row.lambda_per_gpu_hour),
        shown(row.mu_per_gpu_hour),
        *(code(name) or UNKNOWN for name in names),
        number(row.deployment_params),
        number(row.deployment_tokens),
        number(row.saving_percent),
    ]


def _cost(row: ScenarioCellOut) -> list[str]:
    return [
        escaped(row.scenario),
        code(row.cell),
        span(row.training_gpu_hours),
        shown(row.inference_flops),
        span(row.inference_gpu_hours),
        number(row.objective),
    ]


def _search(row: SearchOut) -> list[str]:
    return [
        code(row.cell),
        shown(row.samples),
        shown(row.inference_flops_per_answer_token),
        shown(row.times_largest_direct),
        shown(row.samples_at_equal_cost),
    ]
