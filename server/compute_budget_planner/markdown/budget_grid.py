"""The compute-optimal grid on the budget page: cells, what to run first, signals, limits."""

from collections.abc import Iterator, Sequence

from compute_budget_planner.markdown.blocks import (
    NONE,
    Section,
    bullets,
    number,
    section,
    span,
    table,
    titled,
)
from compute_budget_planner.markdown.budget_grid_losses import losses, picture
from compute_budget_planner.markdown.budget_grid_serving import serving
from compute_budget_planner.markdown.budget_plan import BudgetPlan
from compute_budget_planner.markdown.escape import code, escaped
from compute_budget_planner.numbers import shown
from compute_budget_planner.results.grid import CellOut, GridBudgetOut, GridResult

GRID = "compute-optimal-grid"
"""Name of the section."""

_HEADING = "## Compute-Optimal Grid"
_NO_LONGER = "No grid is planned any more."
_INTRO = (
    "Allocations of near-equal training compute to parameters and data, around {}. In no sum of "
    "this page: nobody owes the whole grid."
)
_WHY_NOT_EQUAL = (
    "Cells of one budget are near-equal in true FLOPs; whole layers, heads and steps leave the "
    "deviations shown. A higher-budget cell costs more on purpose: it shows the trend."
)
_BUDGETS = (
    "Budget (FLOPs)",
    "From",
    "k of k·N·D",
    "Best parameters",
    "Best tokens per parameter",
    "Note",
)
_CELLS = (
    "Cell",
    "Role",
    "Parameters",
    "Tokens",
    "Optimizer steps",
    "GPU-hours",
    "Wall-clock hours",
    "Memory",
    "Predicted loss",
    "Above the best cell (%)",
)
_SHAPES = (
    "Cell",
    "Layers",
    "Width",
    "Heads",
    "Parameters without embeddings",
    "Tokens per parameter",
    "Samples per step",
    "Budget (FLOPs)",
    "True FLOPs",
    "Off the budget (%)",
    "6·N·D off (%)",
)
_DATA = (
    "Cell",
    "Tokens",
    "Unique tokens seen",
    "Epochs",
    "Repeated (%)",
    "Worth in fresh tokens",
    "Generator coverage (%)",
)
_SIGNALS = ("Cell", "How it would fail", "Seen as", "Then")


def compute_optimal_grid(plan: BudgetPlan, *, was_there: bool) -> tuple[Section, ...]:
    """Return the section `Compute-Optimal Grid`; none where no grid is planned.

    A page where it `was_there` keeps it, without the numbers of a grid that is planned no more.
    """
    grid = plan.grid
    if grid is None:
        return (section(GRID, [_HEADING], [_NO_LONGER]),) if was_there else ()
    blocks = _planned(grid, plan.grid_picture) if grid.cells else [[escaped(grid.summary)]]
    return (
        section(
            GRID,
            [_HEADING],
            *blocks,
            titled("**Fairness rules**, for every cell:", bullets(map(escaped, grid.rules))),
            titled(
                "**What must not be extrapolated:**",
                bullets(map(escaped, grid.must_not_extrapolate)),
            ),
            titled("**Questions:**", bullets(map(escaped, grid.questions))),
        ),
    )


def _planned(grid: GridResult, picture_name: str) -> Iterator[list[str]]:
    yield [_INTRO.format(code(grid.run))]
    yield bullets(_plan_of_action(grid))
    yield titled("**Budgets:**", table(_BUDGETS, map(_budget, grid.budgets)))
    yield titled("**Cells**, one seed of each:", table(_CELLS, map(_cell, grid.cells)))
    yield picture(grid, picture_name)
    yield titled("**Shape and compute:**", table(_SHAPES, map(_shape, grid.cells)))
    yield [_WHY_NOT_EQUAL]
    yield _data(grid.cells)
    yield titled(
        "**Signals of sufficiency**, said before the cells run:",
        table(_SIGNALS, map(_signal, grid.cells)),
    )
    yield losses(grid)
    yield from serving(grid)
    yield titled("**To note:**", bullets(_notes(grid)))


def _plan_of_action(grid: GridResult) -> Iterator[str]:
    yield f"All cells: {span(grid.total_gpu_hours, 'GPU-hours')}"
    if grid.run_first:
        names = ", ".join(map(code, grid.run_first))
        yield f"Run first: {names}; look at their curves before more is spent"
    yield "Failed and interrupted cells stay on the list, with the reason"


def _budget(row: GridBudgetOut) -> list[str]:
    return [
        shown(row.budget_flops),
        escaped(row.source),
        shown(row.k),
        NONE if row.optimum_params is None else span(row.optimum_params),
        NONE if row.optimum_tokens_per_param is None else span(row.optimum_tokens_per_param),
        escaped(row.note) or NONE,
    ]


def _cell(cell: CellOut) -> list[str]:
    return [
        code(cell.cell),
        cell.role,
        shown(cell.params_total),
        shown(cell.tokens),
        shown(cell.optimizer_steps),
        span(cell.gpu_hours),
        span(cell.wall_clock_hours),
        escaped(cell.memory_verdict),
        "withheld" if cell.predicted_loss is None else span(cell.predicted_loss),
        NONE if cell.penalty_percent is None else span(cell.penalty_percent),
    ]


def _shape(cell: CellOut) -> list[str]:
    return [
        code(cell.cell),
        shown(cell.n_layers),
        shown(cell.d_model),
        shown(cell.n_heads),
        shown(cell.params_without_embeddings),
        shown(cell.tokens_per_param),
        shown(cell.global_batch_size),
        shown(cell.budget_flops),
        shown(cell.training_flops),
        shown(cell.budget_deviation_percent),
        shown(cell.six_nd_deviation_percent),
    ]


def _data(cells: Sequence[CellOut]) -> list[str]:
    """Return uniqueness and repetition of the cells, where the size of the data is known."""
    rows = (
        [
            code(cell.cell),
            shown(cell.tokens),
            number(cell.unique_tokens),
            number(cell.epochs),
            number(cell.repeated_percent),
            number(cell.effective_tokens),
            # Only data that is generated has a coverage.
            NONE
            if cell.generator_coverage_percent is None
            else shown(cell.generator_coverage_percent),
        ]
        for cell in cells
        if cell.unique_tokens is not None
    )
    return titled("**Data**, unique and repeated:", table(_DATA, rows))


def _signal(cell: CellOut) -> list[str]:
    return [code(cell.cell), escaped(cell.fails_by), escaped(cell.seen_as), escaped(cell.then)]


def _notes(grid: GridResult) -> Iterator[str]:
    for cell in grid.cells:
        for flag in cell.flags:
            yield f"{code(cell.cell)}: {escaped(flag)}"
    yield from map(escaped, grid.warnings)
