"""Peak memory of one accelerator by term, in GiB.

A step has four moments that may be its peak: the loss (everything stored, and the logits), the
backward pass of the last layer (everything stored, and that layer alive), that of the first
(all gradients), and the optimizer step (gradients, and a temporary copy). What the allocator
cannot use, and what it keeps from other moments, stands on top; the latter it gives back before
it fails.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from compute_budget_planner.estimation.memory_activations import (
    Activations,
    activations,
    sample_activations,
)
from compute_budget_planner.estimation.memory_states import (
    States,
    memory_states,
    shards_weights,
)
from compute_budget_planner.estimation.ranges import Z80, Range, times
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import TrainingRun

GIB = 2.0**30
_ALLOCATOR_LEFT_ALONE = {"hf-trainer", "fused-finetuning", "eager-legacy"}
"""Classes that leave PyTorch's allocator alone; others mostly let it expand its segments."""

_FRAGMENTATION = {
    (False, False): "fragmentation",
    (True, False): "fragmentation_sharded",
    (False, True): "fragmentation_hf",
    (True, True): "fragmentation_sharded_hf",
}
"""Row of table `memory` by whether weights are sharded and the allocator is left alone."""


@dataclass(frozen=True)
class MemoryTerms:
    """Terms in GiB by name at the moment of the peak, and the peak they add up to.

    The terms' expected values add up to the expected peak; their deviations are independent of
    each other and add in quadrature.
    """

    terms: dict[str, Range]
    peak: Range


@lru_cache(maxsize=512)
def memory_terms(run: TrainingRun, reference: Reference) -> MemoryTerms:
    """Return the memory of one accelerator at its peak."""
    states = memory_states(run, reference)
    held = (
        activations(run, run.model, reference)
        if isinstance(run.model, Architecture)
        else sample_activations(run, run.model, reference)
    )
    moments = [
        _with_allocator(moment, held.logits.scaled(1 / GIB), run, reference)
        for moment in _moments(states, held)
    ]
    terms = max(moments, key=lambda moment: _expected(moment.values()))
    residual = Z80 * reference.value("sigma_memory")
    needed = _highest(_added(_needed(moment).values(), residual) for moment in moments)
    peak = _highest(_added(moment.values(), residual) for moment in moments)
    capacity = run.hardware.accelerator.memory_gib
    if capacity is not None:
        peak = _given_back(peak, needed, capacity)
        rest = peak.expected - _expected(t for n, t in terms.items() if n != "fragmentation")
        terms["fragmentation"] = _moved(terms["fragmentation"], max(0.0, rest))
    return MemoryTerms({n: t for n, t in terms.items() if t.expected > 0}, peak)


def _moments(states: States, held: Activations) -> list[dict[str, Range]]:
    """Return the terms of each moment that may be the peak, in GiB."""
    always = {
        "weights": Range.exact(states.weights),
        "optimizer states": Range.exact(states.optimizer),
        "upcast states": states.upcast,
    }
    gradients = {"gradients": Range.exact(states.gradients), "gradient buckets": states.buckets}
    passes = {"gathered weights": Range.exact(states.gathered)}
    kept = gradients if states.keeps_gradients else {}
    stored, live = {"activations": held.stored}, {"live layer": held.live}
    moments = (
        always | kept | passes | stored | {"logits": held.logits},
        always | kept | passes | stored | live,
        always | gradients | passes | live,
        always | gradients | {"optimizer step": states.step},
    )
    return [{name: size.scaled(1 / GIB) for name, size in m.items()} for m in moments]


def _with_allocator(
    moment: dict[str, Range], logits: Range, run: TrainingRun, reference: Reference
) -> dict[str, Range]:
    """Return a moment's terms with what allocator, driver and collectives add to them."""
    alone = run.numerics.framework_class.name in _ALLOCATOR_LEFT_ALONE
    loose = reference.quantity(_FRAGMENTATION[shards_weights(run), alone])
    kept = reference.quantity("logits_kept_hf") if alone else reference.quantity("logits_kept")
    fragmentation = times(loose, _expected(moment.values())).plus(times(kept, logits.expected))
    framework = times(reference.quantity("framework_context_gib"), 1.0)
    if run.hardware.n_gpus > 1:
        framework = framework.plus(times(reference.quantity("collective_buffers_gib"), 1.0))
    return {**moment, "fragmentation": fragmentation, "framework": framework}


def _needed(moment: dict[str, Range]) -> dict[str, Range]:
    """Return the terms of a moment when the allocator keeps nothing it does not need."""
    return {**moment, "fragmentation": Range.exact(moment["fragmentation"].low)}


def _given_back(peak: Range, needed: Range, capacity_gib: float) -> Range:
    """Return the peak on a device of that size: it exceeds it only by what is needed."""
    return Range(
        min(peak.low, max(needed.low, capacity_gib)),
        min(peak.expected, max(needed.expected, capacity_gib)),
        min(peak.high, max(needed.high, capacity_gib)),
    )


def _added(terms: Iterable[Range], residual: float) -> Range:
    """Return the sum of terms that deviate independently, and as a whole by a share of it."""
    ranges = list(terms)
    expected = _expected(ranges)
    own = (residual * expected) ** 2
    down = math.sqrt(own + sum((t.expected - t.low) ** 2 for t in ranges))
    up = math.sqrt(own + sum((t.high - t.expected) ** 2 for t in ranges))
    return Range(max(0.0, expected - down), expected, expected + up)


def _highest(ranges: Iterable[Range]) -> Range:
    found = list(ranges)
    return Range(
        max(r.low for r in found), max(r.expected for r in found), max(r.high for r in found)
    )


def _expected(terms: Iterable[Range]) -> float:
    return sum(term.expected for term in terms)


def _moved(term: Range, expected: float) -> Range:
    return Range(min(term.low, expected), expected, max(term.high, expected))
