"""Everything a budget says, computed: main runs, smoke tests, ablations, alternatives, checks."""

from collections.abc import Sequence
from dataclasses import dataclass

from compute_budget_planner.errors import RequestError
from compute_budget_planner.markdown.budget_plan import Envelope, Totals
from compute_budget_planner.planner.assessing import Assessed, RunInputs, assess_run, run_inputs
from compute_budget_planner.planner.budget.plan_jobs import plan_jobs
from compute_budget_planner.planner.budget.plan_totals import (
    number_of,
    plan_checks,
    plan_envelope,
    plan_totals,
)
from compute_budget_planner.planner.cheaper import alternatives_of
from compute_budget_planner.planner.grid.budget_grid import grid_of_budget
from compute_budget_planner.planner.matrix.ablating import baseline_run, cost_matrix
from compute_budget_planner.planner.matrix.result import ablations_result
from compute_budget_planner.planner.matrix.runs import runs_ahead
from compute_budget_planner.planner.memory.boards_read import RISK_BOARD, board_rows
from compute_budget_planner.planner.present import present
from compute_budget_planner.planner.smoking import smoke_of
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.requests import Decision, VariantInput, WriteBudgetRequest
from compute_budget_planner.results import (
    AblationsResult,
    AlternativesResult,
    CheckOut,
    EstimateResult,
    JobBlock,
    SmokeResult,
)
from compute_budget_planner.results.grid import GridResult

COMPUTE_RISK = "Compute of the required runs"
"""Subject of the risk row that says required GPU-hours exceed the available ones."""


@dataclass(frozen=True)
class Plan:
    """A computed plan; `ablations` is None without a matrix, `grid` where none was asked for."""

    inputs: RunInputs
    runs: tuple[Assessed, ...]
    estimates: tuple[EstimateResult, ...]
    smokes: tuple[SmokeResult, ...]
    ablations: AblationsResult | None
    alternatives: tuple[AlternativesResult, ...]
    grid: GridResult | None
    decisions: tuple[Decision, ...]
    jobs: tuple[JobBlock, ...]
    totals: Totals
    envelope: Envelope
    checks: tuple[CheckOut, ...]
    open_questions: tuple[str, ...]


def make_plan(
    workspace: Workspace, request: WriteBudgetRequest, decisions: Sequence[Decision]
) -> Plan:
    """Compute the plan of a request; `decisions` are all that were taken so far.

    Raises:
        PlannerError: an input cannot be used.
    """
    inputs = run_inputs(
        workspace, request.files, request.facts, request.measured_runs, from_budget=False
    )
    runs = main_runs(workspace, inputs, request.variants, request.runs)
    estimates = [present(workspace, run) for run in runs]
    smokes = [smoke_of(workspace, run) for run in runs]
    ablations, baseline, open_questions = _ablations(workspace, inputs, request, estimates)
    alternatives = [decided(alternatives_of(workspace, run), decisions) for run in runs]
    totals = plan_totals(estimates, smokes, ablations)
    available = number_of(runs, "available_gpu_hours")
    checks = plan_checks(
        workspace,
        estimates,
        smokes,
        ablations,
        alternatives,
        totals,
        available,
        has_risk_entry=has_compute_risk(workspace),
    )
    return Plan(
        inputs,
        tuple(runs),
        tuple(estimates),
        tuple(smokes),
        ablations,
        tuple(alternatives),
        grid_of_budget(workspace, inputs, runs, request.grid),
        tuple(decisions),
        tuple(plan_jobs(workspace, runs, smokes, ablations, baseline)),
        totals,
        plan_envelope(inputs, runs),
        tuple(checks),
        tuple(open_questions),
    )


def main_runs(
    workspace: Workspace,
    inputs: RunInputs,
    variants: Sequence[VariantInput],
    names: Sequence[str],
) -> list[Assessed]:
    """Return the runs asked for, or those that are no variants and have not finished, or all."""
    gathered = inputs.gathered
    if names:
        return [assess_run(workspace, inputs, gathered.named(name)) for name in names]
    if not gathered.runs:
        return [assess_run(workspace, inputs, None)]
    ahead = runs_ahead(workspace, inputs, variants)
    return [assess_run(workspace, inputs, run) for run in ahead]


def has_matrix(inputs: RunInputs, variants: Sequence[VariantInput]) -> bool:
    """Tell whether a design plan, an audit or the caller lists variants."""
    readings = inputs.gathered.readings.values()
    return bool(variants) or any(r.variants or r.baselines for r in readings)


def has_compute_risk(workspace: Workspace) -> bool:
    """Tell whether the risk board holds the row about required GPU-hours."""
    return any(
        row.cells.get("summary", "").startswith(COMPUTE_RISK)
        for row in board_rows(workspace, RISK_BOARD)
    )


def decided(result: AlternativesResult, decisions: Sequence[Decision]) -> AlternativesResult:
    """Return alternatives with the decisions taken on them."""
    about = [d for d in decisions if d.run in ("", result.run)]
    # What is said about this run alone wins over what is said about all.
    taken = {d.alternative: d for d in sorted(about, key=lambda d: d.run != "")}
    marked = [
        a.model_copy(
            update={
                "decision": taken[a.alternative].decision,
                "reason": taken[a.alternative].reason,
            }
        )
        if a.alternative in taken
        else a
        for a in result.alternatives
    ]
    return result.model_copy(update={"alternatives": marked})


def _ablations(
    workspace: Workspace,
    inputs: RunInputs,
    request: WriteBudgetRequest,
    estimates: Sequence[EstimateResult],
) -> tuple[AblationsResult | None, Assessed | None, list[str]]:
    """Return the costed matrix and its baseline, or the question that keeps it open."""
    if not has_matrix(inputs, request.variants):
        return None, None, []
    try:
        baseline = baseline_run(workspace, inputs, request.variants, request.baseline)
        costed = cost_matrix(workspace, inputs, baseline, request.variants, request.required_seeds)
    except RequestError as error:
        # The main runs can be planned without the matrix; what blocks it stays visible.
        return None, None, [f"ablation matrix: {error}"]
    runs = [run for run in [baseline] if run.assessment.run is not None]
    mains = [e for e in estimates if e.run != baseline.name or costed.own_controls]
    most = number_of(runs, "max_gpus")
    result = ablations_result(
        costed,
        mains,
        number_of(runs, "available_gpu_hours"),
        None if most is None else int(most),
        {"from_budget": True},
    )
    return result, costed.baseline, []
