"""The five final checks of a plan, computed; None where a check cannot be decided yet."""

from collections.abc import Sequence
from dataclasses import dataclass

from compute_budget_planner.numbers import brief


@dataclass(frozen=True)
class Check:
    """One check: passed, failed or open, and why."""

    name: str
    passed: bool | None
    reason: str


@dataclass(frozen=True)
class CheckInputs:
    """What the checks look at: per main run, and for the plan as a whole."""

    smoke_minutes_high: Sequence[float | None]
    smoke_gpus: Sequence[int | None]
    limit_fits: Sequence[str]
    segments: Sequence[int | None]
    variants: int
    variants_without_cost: int
    alternatives_considered: int
    required_gpu_hours: float | None
    required_is_complete: bool
    available_gpu_hours: float | None
    has_risk_entry: bool


def final_checks(inputs: CheckInputs, longest_smoke_minutes: float) -> tuple[Check, ...]:
    """Return the five checks in the order of the skill."""
    return (
        _smoke(inputs, longest_smoke_minutes),
        _limit(inputs),
        _priorities(inputs),
        _alternatives(inputs),
        _envelope(inputs),
    )


def _smoke(inputs: CheckInputs, longest_minutes: float) -> Check:
    name = f"smoke test under {brief(longest_minutes)} minutes on one GPU or the smallest group"
    known = [m for m in inputs.smoke_minutes_high if m is not None]
    if len(known) < len(inputs.smoke_minutes_high) or not known:
        return Check(name, None, "not every run has a sized smoke test")
    worst = max(known)
    gpus = max(g or 1 for g in inputs.smoke_gpus)
    where = "one GPU" if gpus == 1 else f"{gpus} GPUs, the smallest group that holds the run"
    return Check(
        name, worst <= longest_minutes, f"at most {brief(worst)} minutes at the slow end on {where}"
    )


def _limit(inputs: CheckInputs) -> Check:
    name = "full run inside the time limit, or planned as a chain of jobs"
    if not inputs.limit_fits or "unknown" in inputs.limit_fits:
        return Check(name, None, "the time limit is not known for every run")
    if all(fits == "yes" for fits in inputs.limit_fits):
        return Check(name, True, "every run fits one job at its high end")
    if None in inputs.segments:
        return Check(name, False, "start-up and the save margin alone exceed the limit")
    longest = max(count for count in inputs.segments if count is not None)
    return Check(name, True, f"a chain of {longest} jobs that resume covers the high end")


def _priorities(inputs: CheckInputs) -> Check:
    name = "every variant has a priority and a cost"
    if inputs.variants == 0:
        return Check(name, None, "no variants are costed yet")
    if inputs.variants_without_cost:
        return Check(
            name, False, f"{inputs.variants_without_cost} of {inputs.variants} cannot be costed yet"
        )
    return Check(name, True, f"all {inputs.variants} have one")


def _alternatives(inputs: CheckInputs) -> Check:
    name = "cheaper alternatives were considered"
    if inputs.alternatives_considered:
        return Check(name, True, f"{inputs.alternatives_considered} are listed")
    return Check(name, None, "none is recorded yet")


def _envelope(inputs: CheckInputs) -> Check:
    name = "required GPU-hours inside the available ones, or a risk entry exists"
    required, available = inputs.required_gpu_hours, inputs.available_gpu_hours
    if required is None or available is None:
        return Check(name, None, "the required or the available GPU-hours are not known")
    if required <= available and not inputs.required_is_complete:
        known = f"{brief(required)} of {brief(available)} GPU-hours so far"
        return Check(name, None, f"required variants are not costed yet: {known}")
    if required <= available:
        return Check(name, True, f"{brief(required)} of {brief(available)} GPU-hours")
    if inputs.has_risk_entry:
        return Check(
            name, True, f"{brief(required)} exceed {brief(available)}; a risk entry exists"
        )
    return Check(
        name, False, f"{brief(required)} exceed {brief(available)} GPU-hours: add a risk entry"
    )
