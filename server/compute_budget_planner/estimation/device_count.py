"""How many accelerators a run has of which nobody said it.

One is what is assumed first. A run that one accelerator would take years for is not planned for
one: it has at least as many as finish it in a month, and with them come their communication and
their failures.
"""

import math
from collections.abc import Sequence

from compute_budget_planner.errors import FactError
from compute_budget_planner.estimation.estimate import point_gpu_hours
from compute_budget_planner.estimation.uncertainty import Resolver
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.resolve import Resolution

_MONTH_HOURS = 720.0


def enough_devices(
    resolution: Resolution, resolve_with: Resolver, reference: Reference
) -> tuple[Fact, ...]:
    """Return the assumed `n_gpus` of a run too long for one accelerator; else nothing.

    A power of two, halved until the ranks can share what is known of the batch.
    """
    run = resolution.run
    assumed = any(assumption.fact == "n_gpus" for assumption in resolution.assumptions)
    hours = point_gpu_hours(run, reference) if run is not None and assumed else None
    if hours is None or hours <= reference.value("longest_run_hours"):
        return ()
    power = math.ceil(math.log2(hours / _MONTH_HOURS))
    why = f"one accelerator would need {hours:,.0f} hours"
    for count in (2**exponent for exponent in range(power, 0, -1)):
        facts = (Fact("n_gpus", count, Basis.ASSUMED, why, Layer.ARGUMENT),)
        if _makes_a_run(resolve_with, facts):
            return facts
    return ()


def _makes_a_run(resolve_with: Resolver, facts: Sequence[Fact]) -> bool:
    try:
        return resolve_with(facts).run is not None
    except FactError:
        # The ranks cannot share the batch that is stated.
        return False
