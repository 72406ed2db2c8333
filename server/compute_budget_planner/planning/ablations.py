"""What an ablation matrix costs, which part of it to run, and what is cut.

Seeds up to the required number take the variant's priority, further seeds are should-have.
Everything required stays, whatever it costs; of the rest as much stays as the hours allow,
should-have before optional, cheapest first.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from compute_budget_planner.estimation.ranges import Range, total


class Priority(StrEnum):
    """How much a comparison is needed, most needed first."""

    REQUIRED = "required"
    SHOULD_HAVE = "should-have"
    OPTIONAL = "optional"


@dataclass(frozen=True)
class Ranked:
    """A priority and the rule that gave it."""

    priority: Priority
    rule: str


@dataclass(frozen=True)
class Portion:
    """Seeds of one variant that share a priority: the unit that is kept or cut.

    `gpu_hours` covers all `seeds` of the portion and its tuning trials; `hours_of_one` is the
    wall-clock of one run on `n_gpus` devices; `runs` counts the jobs. Portions of one `bundle` and
    priority are kept or cut together: a variant makes no sense without its tuning.
    """

    variant: str
    priority: Priority
    seeds: int
    runs: int
    gpu_hours: Range
    hours_of_one: float
    n_gpus: int
    claims: tuple[str, ...]
    bundle: str = ""


@dataclass(frozen=True)
class Selection:
    """What is run and what is cut under the hours at hand.

    `verdict` is `fits`, `over` (required alone exceeds the hours) or `unknown`. `shortfall` is
    what required lacks, 0 when it fits.
    """

    kept: tuple[Portion, ...]
    cut: tuple[Portion, ...]
    verdict: str
    shortfall_gpu_hours: float


def rank(
    *,
    is_baseline: bool,
    claims: Sequence[str],
    named_required: bool,
    audit_requirement: str,
    stated: Priority | None,
    sensitivity: bool,
) -> Ranked:
    """Return the priority of a variant and why.

    What the user or the plan states wins; then the baseline audit; then the rule: the baseline,
    what the plan requires and what a claim names is required, sensitivity is should-have, the
    rest optional.
    """
    if stated is not None:
        return Ranked(stated, "as stated")
    by_audit = {
        "must-have": Priority.REQUIRED,
        "should-have": Priority.SHOULD_HAVE,
        "optional": Priority.OPTIONAL,
    }
    if audit_requirement in by_audit:
        return Ranked(by_audit[audit_requirement], f"baseline audit: {audit_requirement}")
    if is_baseline:
        return Ranked(Priority.REQUIRED, "the baseline of all comparisons")
    if claims:
        return Ranked(Priority.REQUIRED, f"{', '.join(claims)} depends on it")
    if named_required:
        return Ranked(Priority.REQUIRED, "the plan lists it under required ablations")
    if sensitivity:
        return Ranked(Priority.SHOULD_HAVE, "sensitivity: a reviewer may ask")
    return Ranked(Priority.OPTIONAL, "no claim names it")


def select(
    portions: Sequence[Portion],
    fixed_gpu_hours: float,
    available_gpu_hours: float | None,
) -> Selection:
    """Choose what to run; `fixed_gpu_hours` are the main runs and smoke tests, all required."""
    required = [p for p in portions if p.priority is Priority.REQUIRED]
    if available_gpu_hours is None:
        return Selection(tuple(portions), (), "unknown", 0.0)
    spent = fixed_gpu_hours + sum(p.gpu_hours.expected for p in required)
    shortfall = max(0.0, spent - available_gpu_hours)
    kept = {id(p) for p in required}
    for priority in (Priority.SHOULD_HAVE, Priority.OPTIONAL):
        bundles: dict[str, list[Portion]] = {}
        for portion in portions:
            if portion.priority is priority:
                bundles.setdefault(portion.bundle or portion.variant, []).append(portion)
        wanted = sorted(bundles.values(), key=_expected_hours)
        fitting = 0
        for bundle in wanted:
            if spent + _expected_hours(bundle) > available_gpu_hours:
                break
            spent += _expected_hours(bundle)
            kept.update(id(portion) for portion in bundle)
            fitting += 1
        if fitting < len(wanted):
            # Nothing less needed runs while something more needed is cut.
            break
    chosen = tuple(p for p in portions if id(p) in kept)
    return Selection(
        chosen,
        tuple(p for p in portions if id(p) not in kept),
        "over" if shortfall > 0 else "fits",
        shortfall,
    )


def _expected_hours(portions: Iterable[Portion]) -> float:
    return sum(portion.gpu_hours.expected for portion in portions)


def totals_by_priority(portions: Iterable[Portion]) -> dict[Priority, Range]:
    """Return GPU-hours per priority, all seeds; the priorities add up to the whole."""
    listed = list(portions)
    return {
        priority: total(p.gpu_hours for p in listed if p.priority is priority)
        for priority in Priority
    }


def elapsed_hours(portions: Sequence[Portion], max_gpus: int | None) -> float | None:
    """Return wall-clock hours until all runs are done on `max_gpus` devices at once.

    Longest runs first on whichever devices are free first; None without a number of devices,
    or when one run alone needs more of them.
    """
    if max_gpus is None or any(p.n_gpus > max_gpus for p in portions):
        return None
    runs = sorted(
        ((p.hours_of_one, p.n_gpus) for p in portions for _ in range(p.runs)), reverse=True
    )
    free = [0.0] * max_gpus
    heapq.heapify(free)
    finish = 0.0
    for hours, devices in runs:
        taken = [heapq.heappop(free) for _ in range(devices)]
        end = max(taken) + hours
        for _ in taken:
            heapq.heappush(free, end)
        finish = max(finish, end)
    return finish


def claims_hit(cut: Sequence[Portion]) -> dict[str, list[str]]:
    """Return for each claim the cut portions that name it."""
    hit: dict[str, list[str]] = {}
    for portion in cut:
        for claim in portion.claims:
            hit.setdefault(claim, []).append(portion.variant)
    return hit
