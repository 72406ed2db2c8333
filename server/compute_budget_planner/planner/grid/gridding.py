"""`plan_grid`: a small N × D grid at near-equal compute, costed, predicted and explained."""

from collections.abc import Sequence

from compute_budget_planner.errors import RequestError
from compute_budget_planner.estimation.ranges import total
from compute_budget_planner.grid_request import GridRequest
from compute_budget_planner.numbers import brief
from compute_budget_planner.planner.assessing import Assessed, assess_request
from compute_budget_planner.planner.grid.budgets import (
    Budget,
    budgets_of,
    completed,
    k_at,
    own_budget,
)
from compute_budget_planner.planner.grid.cells import (
    Built,
    built,
    cells_out,
    withheld_because,
)
from compute_budget_planner.planner.grid.fit import fit_out
from compute_budget_planner.planner.grid.picture import picture_of_grid
from compute_budget_planner.planner.grid.scenarios import scenario_cell, scenario_out, search_out
from compute_budget_planner.planner.grid.wishes import Ground, wishes_of
from compute_budget_planner.planner.sentences import spread
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.grid import first_cells
from compute_budget_planner.planning.scaling_law import ScalingLaw, scaling_law
from compute_budget_planner.plotting.mermaid import mermaid_of
from compute_budget_planner.results import NextStep, RangeOut
from compute_budget_planner.results.grid import FitOut, GridBudgetOut, GridResult, LawOut
from compute_budget_planner.workload.architecture import Architecture

_DATA_SIZES = ("unique_tokens", "dataset_tokens")


def plan_grid(workspace: Workspace, request: GridRequest) -> GridResult:
    """Plan the cells of a grid, estimate each, and say which to run first and what it shows not.

    Raises:
        RequestError: the run has no shape to vary, or arguments contradict each other.
        PlannerError: a file, a fact or a measured run cannot be used.
    """
    return grid_around(workspace, request, assess_request(workspace, request))


def grid_around(workspace: Workspace, request: GridRequest, assessed: Assessed) -> GridResult:
    """Plan the grid of a request around the run that was assessed for it.

    Raises:
        RequestError: the run has no shape to vary, or arguments contradict each other.
    """
    law = None if request.law == "none" else scaling_law(workspace.reference, request.law)
    if law is None and request.around == "optimum":
        raise RequestError(
            "`around` is optimum, but `law` is none",
            where="around",
            remedy="Name a law of table `scaling_laws`, or take around=model.",
        )
    modelled = "model" not in assessed.assessment.resolution.missing
    has_length = assessed.assessment.estimate is not None
    assessed = completed(workspace, request, assessed, law)
    run = assessed.assessment.run
    if run is None:
        missing = list(assessed.assessment.resolution.missing)
        return _incomplete(workspace, request, assessed, missing)
    if not isinstance(run.model, Architecture):
        raise RequestError(
            "the model is known by what one sample costs, not by its shape",
            where="facts",
            remedy="Give layers, width and heads (`n_layers`, `d_model`, `n_heads`), or cost the "
            "sizes as variants with cost_ablations.",
        )
    asked = bool(request.budgets_flops or request.budgets_gpu_hours)
    around_model = law is None or (
        request.around == "model" or (request.around is None and modelled and not asked)
    )
    ground = Ground(workspace, request, assessed, run, law, around_model)
    budgets = budgets_of(workspace, assessed, request, law, around_model=around_model)
    if not budgets and has_length:
        budgets = own_budget(assessed)
    if not budgets and not request.relative_cells:
        return _incomplete(workspace, request, assessed, ["budgets_flops"])
    return _planned(ground, budgets)


def _incomplete(
    workspace: Workspace, request: GridRequest, assessed: Assessed, missing: list[str]
) -> GridResult:
    questions = list(assessed.assessment.resolution.questions)
    if missing == ["budgets_flops"]:
        questions.append(
            "What may the grid cost (`budgets_flops` or `budgets_gpu_hours`)? The run itself has "
            "no length yet."
        )
    return GridResult(
        summary=f"No grid yet for `{assessed.name}`: {', '.join(missing)} missing. "
        + " ".join(questions),
        run=assessed.name,
        status="incomplete",
        missing=missing,
        measured_fit=_fit(workspace, request),
        questions=questions,
        next=[
            NextStep(
                tool="plan_grid",
                arguments=request.model_dump(mode="json", exclude_defaults=True),
                question=questions[0] if questions else "",
            )
        ],
    )


def _planned(ground: Ground, budgets: Sequence[Budget]) -> GridResult:
    workspace, request, run = ground.workspace, ground.request, ground.run
    cells = _cells(ground, budgets)
    predicting = ground.predicting
    first = first_cells(
        [b.cell for b in cells],
        [b.name for b in cells if b.memory_verdict == "OOM"],
        round(workspace.reference.value("grid_first_cells")),
    )
    hours = [b.gpu_hours for b in cells]
    known = [h for h in hours if h is not None]
    result = GridResult(
        summary="",
        run=ground.assessed.name,
        status="planned",
        budgets=_budgets_out(ground, budgets, cells),
        cells=cells_out(workspace, run, cells, predicting),
        run_first=first,
        total_gpu_hours=RangeOut.of(total(known)) if len(known) == len(hours) else None,
        law=_law_out(predicting),
        withheld=withheld_because(run, cells, predicting),
        measured_fit=_fit(workspace, request),
        scenarios=[scenario_out(cells, s, predicting) for s in request.scenarios],
        scenario_cells=[scenario_cell(b, s) for s in request.scenarios for b in cells],
        test_time=search_out(cells, request.test_time_samples),
        rules=_texts(workspace, "fairness_rules"),
        must_not_extrapolate=_texts(workspace, "extrapolation_limits"),
        warnings=_warnings(ground, first),
        next=_next(ground, cells, first),
    )
    result.summary = _summary(result)
    picture = picture_of_grid(result)
    if picture is not None:
        result.draw(picture, mermaid_of(picture))
    return result


def _cells(ground: Ground, budgets: Sequence[Budget]) -> list[Built]:
    request = ground.request
    facts = ground.assessed.assessment.resolution.facts
    sizes = [float(facts[name].value) for name in _DATA_SIZES if name in facts]
    return [
        built(
            ground.workspace,
            ground.assessed,
            ground.run,
            wish,
            request.k,
            sizes[0] if sizes else None,
            request.generator_tokens,
            ground.predicting,
        )
        for wish in wishes_of(ground, budgets)
    ]


def _fit(workspace: Workspace, request: GridRequest) -> FitOut | None:
    losses = request.measured_losses
    return fit_out(losses, workspace.reference) if losses else None


def _budgets_out(
    ground: Ground, budgets: Sequence[Budget], cells: Sequence[Built]
) -> list[GridBudgetOut]:
    sources = {budget.flops: budget.source for budget in budgets}
    rows = []
    for flops in sorted({b.cell.wish.budget_flops for b in cells}):
        k = k_at(ground.run, flops, ground.law, ground.request.k, around_model=ground.around_model)
        law = ground.predicting
        best = None if law is None else law.optimum(flops, k)
        size = None if law is None else law.surface.optimum(flops, k)
        inside = law is None or size is None or law.covers(size.params, size.tokens)
        rows.append(
            GridBudgetOut(
                budget_flops=flops,
                source=sources.get(flops, "the trend" if budgets else "k·N·D of the first cell"),
                k=k,
                optimum_params=None if best is None else RangeOut.of(best[0]),
                optimum_tokens_per_param=None if best is None else RangeOut.of(best[1]),
                note="" if inside else "beyond the fitted range: a place to start",
            )
        )
    return rows


def _law_out(law: ScalingLaw | None) -> LawOut | None:
    if law is None:
        return None
    return LawOut(
        law=law.name,
        source=law.source,
        params_low=law.params_low,
        params_high=law.params_high,
        tokens_low=law.tokens_low,
        tokens_high=law.tokens_high,
    )


def _texts(workspace: Workspace, table: str) -> list[str]:
    return [row.required("text") for row in workspace.reference.rows(table).values()]


def _warnings(ground: Ground, first: Sequence[str]) -> list[str]:
    found = list(ground.assessed.assessment.resolution.warnings)
    if not first:
        found.append(
            "No cell of the lowest budget fits in memory: see `flags` for what would help."
        )
    if not any(name in ground.assessed.assessment.resolution.facts for name in _DATA_SIZES):
        found.append("Epochs and repetition are open: give `unique_tokens` or `dataset_tokens`.")
    return found


def _next(ground: Ground, cells: Sequence[Built], first: Sequence[str]) -> list[NextStep]:
    chosen = next((b for b in cells if first and b.name == first[0]), cells[0])
    given = ground.assessed.arguments.get("facts")
    facts = {**(given if isinstance(given, dict) else {}), **chosen.changes}
    return [
        NextStep(tool="size_smoke", arguments={**ground.assessed.arguments, "facts": facts}),
    ]


def _summary(result: GridResult) -> str:
    sizes = ", ".join(f"{c.cell} ({brief(c.params_total / 1e6)} M)" for c in result.cells)
    text = f"{len(result.cells)} cells for `{result.run}`: {sizes}."
    if result.total_gpu_hours is not None:
        text += f" All together {spread(result.total_gpu_hours, 'GPU-hours')}."
    if result.run_first:
        text += f" Run first: {', '.join(result.run_first)}."
    flagged = [c.cell for c in result.cells if c.flags]
    if flagged:
        text += f" Flagged: {', '.join(flagged)}."
    if result.withheld:
        text += f" Loss withheld, {result.withheld}."
    return f"{text} Not to be extrapolated: {result.must_not_extrapolate[0]}"
