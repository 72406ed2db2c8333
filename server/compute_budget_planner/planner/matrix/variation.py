"""A run with some facts changed: what alternatives and variants are estimated from."""

from collections.abc import Mapping
from dataclasses import replace

from compute_budget_planner.estimation.assess import assess
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.planner.assessing import Assessed
from compute_budget_planner.workload.facts import Basis, Fact, FactValue, Layer
from compute_budget_planner.workload.overtaken import LENGTHS


def varied(
    reference: Reference, assessed: Assessed, changes: Mapping[str, FactValue], why: str
) -> Assessed:
    """Return a run with `changes` over everything else, assessed anew.

    The run's calibration is carried over, so that the two differ by the change alone; on another
    device it is worked out anew.

    Raises:
        FactError: a change contradicts a stated fact, or the guide does not know it.
    """
    displaced = {*changes, *(LENGTHS if set(LENGTHS) & set(changes) else ())}
    facts = [
        Fact(name, value, Basis.STATED, why, Layer.ARGUMENT) for name, value in changes.items()
    ]
    facts += [fact for fact in assessed.facts if fact.name not in displaced]
    withdrawn = tuple(name for name in assessed.withdrawn if name not in changes)
    assessment = assess(
        facts,
        reference,
        name=f"{assessed.name} ({why})",
        withdrawn=withdrawn,
        measured=assessed.measured,
        carried=None if "gpu" in changes else assessed.assessment.calibration,
    )
    return replace(assessed, facts=tuple(facts), withdrawn=withdrawn, assessment=assessment)
