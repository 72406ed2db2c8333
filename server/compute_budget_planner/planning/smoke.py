"""The smoke test: the fewest steps that prove the set-up, by one rule with named bounds.

The rule is the guide's: start from the larger of 100 steps and 1 % of the run; then, in order
of precedence, at most 30 minutes with start-up, at most 5 % of the run's GPU-hours with
start-up, at least 100 steps, at least 10 minutes, 1 % of the steps.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

from compute_budget_planner.guide.reference import Reference


class Bound(StrEnum):
    """The bounds of the rule, highest precedence first."""

    MAX_MINUTES = "at most 30 minutes"
    MAX_SHARE = "at most 5 % of the run's GPU-hours"
    MIN_STEPS = "at least 100 steps"
    MIN_MINUTES = "at least 10 minutes"
    TARGET_SHARE = "1 % of the run's steps"
    RUN_ITSELF = "the run's own first steps"


@dataclass(frozen=True)
class SmokeInputs:
    """What the rule needs: the run's length and cost, and the smoke's step and start-up time.

    `step_seconds_high` and `startup_seconds_high` are the slow ends: the longest duration must
    hold for them too.
    """

    total_steps: int
    run_gpu_hours: float
    n_gpus: int
    step_seconds: float
    step_seconds_high: float
    startup_seconds: float
    startup_seconds_high: float


@dataclass(frozen=True)
class SmokeRules:
    """The numbers of the rule, from the guide's table `smoke_rules`."""

    max_seconds: float
    min_seconds: float
    max_share: float
    target_share: float
    min_steps: int
    startup_flag_share: float

    @classmethod
    def of(cls, reference: Reference) -> "SmokeRules":
        """Read the rule's numbers."""
        return cls(
            max_seconds=reference.value("smoke_max_minutes") * 60,
            min_seconds=reference.value("smoke_min_minutes") * 60,
            max_share=reference.value("smoke_max_share_percent") / 100,
            target_share=reference.value("smoke_target_share_percent") / 100,
            min_steps=round(reference.value("smoke_min_steps")),
            startup_flag_share=reference.value("smoke_startup_flag_percent") / 100,
        )


@dataclass(frozen=True)
class SmokeSize:
    """The size and the bound that decided it; `share` is of the run's GPU-hours."""

    steps: int
    bound: Bound
    seconds: float
    gpu_hours: float
    share: float
    too_few_steps: bool
    startup_dominates: bool
    over_thirty_minutes: bool


def size_smoke(inputs: SmokeInputs, rules: SmokeRules) -> SmokeSize:
    """Return the smoke test of a run."""
    least, floor_bound = _floor(inputs, rules)
    by_minutes, by_share = _caps(inputs, rules)
    if by_minutes < 1:
        return _sized(inputs, rules, 1, Bound.MAX_MINUTES)
    if by_share < 1:
        # Start-up alone is dearer than the smoke may be: the run is its own smoke.
        steps = min(inputs.total_steps, rules.min_steps, by_minutes)
        return _sized(inputs, rules, steps, Bound.RUN_ITSELF)
    most, cap_bound = by_minutes, Bound.MAX_MINUTES
    if by_share < by_minutes:
        most, cap_bound = by_share, Bound.MAX_SHARE
    steps, bound = (most, cap_bound) if most < least else (least, floor_bound)
    if steps >= inputs.total_steps:
        return _sized(inputs, rules, inputs.total_steps, Bound.RUN_ITSELF)
    return _sized(inputs, rules, steps, bound)


def _floor(inputs: SmokeInputs, rules: SmokeRules) -> tuple[int, Bound]:
    """Return the steps wanted from below and the bound that asks for them."""
    wanted = {
        Bound.MIN_STEPS: rules.min_steps,
        Bound.MIN_MINUTES: math.ceil(
            (rules.min_seconds - inputs.startup_seconds) / inputs.step_seconds
        ),
        Bound.TARGET_SHARE: math.ceil(rules.target_share * inputs.total_steps),
    }
    # max() keeps the first of equals, and the dictionary is in order of precedence.
    bound = max(wanted, key=lambda name: wanted[name])
    return wanted[bound], bound


def _caps(inputs: SmokeInputs, rules: SmokeRules) -> tuple[int, int]:
    """Return the steps that the longest duration and the largest share allow."""
    budget_seconds = rules.max_share * inputs.run_gpu_hours * 3600 / inputs.n_gpus
    return (
        math.floor((rules.max_seconds - inputs.startup_seconds_high) / inputs.step_seconds_high),
        math.floor((budget_seconds - inputs.startup_seconds) / inputs.step_seconds),
    )


def _sized(inputs: SmokeInputs, rules: SmokeRules, steps: int, bound: Bound) -> SmokeSize:
    seconds = inputs.startup_seconds + steps * inputs.step_seconds
    slow = inputs.startup_seconds_high + steps * inputs.step_seconds_high
    gpu_hours = seconds / 3600 * inputs.n_gpus
    return SmokeSize(
        steps=steps,
        bound=bound,
        seconds=seconds,
        gpu_hours=gpu_hours,
        share=gpu_hours / inputs.run_gpu_hours,
        too_few_steps=steps < rules.min_steps,
        startup_dominates=inputs.startup_seconds > rules.startup_flag_share * seconds,
        over_thirty_minutes=slow > rules.max_seconds,
    )
