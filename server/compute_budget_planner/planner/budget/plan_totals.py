"""Sums, envelope and final checks of a plan."""

from collections.abc import Sequence

from compute_budget_planner.markdown.budget_plan import Envelope, Totals
from compute_budget_planner.numbers import rounded
from compute_budget_planner.planner.assessing import Assessed, RunInputs
from compute_budget_planner.planner.inspecting import envelope
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.checks import CheckInputs, final_checks
from compute_budget_planner.results import (
    AblationsResult,
    AlternativesResult,
    CheckOut,
    EstimateResult,
    RangeOut,
    SmokeResult,
)
from compute_budget_planner.workload.facts import FactValue


def plan_totals(
    estimates: Sequence[EstimateResult],
    smokes: Sequence[SmokeResult],
    ablations: AblationsResult | None,
) -> Totals:
    """Return the sums of a plan, of the numbers as shown; None where a part is unknown.

    Required are the main runs with all seeds, the smoke tests with a job of their own, and the
    required ablations.
    """
    one_seed = sum_of([e.gpu_hours for e in estimates])
    all_seeds = sum_of([e.gpu_hours_all_seeds for e in estimates])
    own_jobs = [s.gpu_hours for s in smokes if s.job is not None or s.gpu_hours is None]
    smoke = sum_of(own_jobs) if own_jobs else RangeOut(low=0, expected=0, high=0)
    required = all_seeds if ablations is None else ablations.required_gpu_hours
    return Totals(one_seed, all_seeds, smoke, sum_of([required, smoke]))


def sum_of(parts: Sequence[RangeOut | None]) -> RangeOut | None:
    """Return the sum of ranges as shown, None when a part is unknown."""
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return RangeOut(
        low=sum(p.low for p in known),
        expected=sum(p.expected for p in known),
        high=sum(p.high for p in known),
    )


def open_required(ablations: AblationsResult | None) -> bool:
    """Tell whether a required variant cannot be costed yet, so that the sum is a lower bound."""
    rows = ablations.variants if ablations is not None else []
    return any(row.basis == "open" and row.priority == "required" for row in rows)


def number_of(runs: Sequence[Assessed], name: str) -> float | None:
    """Return a numeric fact of the plan's first run that says it."""
    for value in _values(runs, name):
        if not isinstance(value, str):
            return float(value)
    return None


def _values(runs: Sequence[Assessed], name: str) -> list[FactValue]:
    facts = (run.assessment.resolution.facts.get(name) for run in runs)
    return [fact.value for fact in facts if fact is not None]


def plan_envelope(inputs: RunInputs, runs: Sequence[Assessed]) -> Envelope:
    """Return what is available to a plan."""
    available, most = number_of(runs, "available_gpu_hours"), number_of(runs, "max_gpus")
    deadline = _values(runs, "deadline")
    return Envelope(
        available_gpu_hours=None if available is None else rounded(available),
        max_gpus=None if most is None else int(most),
        deadline=str(deadline[0]) if deadline else None,
        environments=tuple(envelope(inputs.gathered)),
    )


def plan_checks(
    workspace: Workspace,
    estimates: Sequence[EstimateResult],
    smokes: Sequence[SmokeResult],
    ablations: AblationsResult | None,
    alternatives: Sequence[AlternativesResult],
    totals: Totals,
    available_gpu_hours: float | None,
    *,
    has_risk_entry: bool,
) -> list[CheckOut]:
    """Return the five final checks."""
    inputs = CheckInputs(
        smoke_minutes_high=[
            s.wall_clock_minutes.high if s.wall_clock_minutes is not None else None for s in smokes
        ],
        smoke_gpus=[s.n_gpus for s in smokes],
        limit_fits=[e.limit.fits if e.limit is not None else "unknown" for e in estimates],
        segments=[e.limit.segments if e.limit is not None else None for e in estimates],
        variants=len(ablations.variants) if ablations is not None else 0,
        variants_without_cost=sum(v.basis == "open" for v in ablations.variants)
        if ablations
        else 0,
        alternatives_considered=sum(len(a.alternatives) for a in alternatives),
        required_gpu_hours=totals.required.expected if totals.required is not None else None,
        required_is_complete=not open_required(ablations),
        available_gpu_hours=available_gpu_hours,
        has_risk_entry=has_risk_entry,
    )
    longest = workspace.reference.value("smoke_max_minutes")
    return [
        CheckOut(name=check.name, passed=check.passed, reason=check.reason)
        for check in final_checks(inputs, longest)
    ]
