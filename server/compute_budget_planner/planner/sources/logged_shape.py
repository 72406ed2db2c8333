"""What logs tell about the shape of a planned model that no file of the project gives."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from compute_budget_planner.readers.contract import Reading
from compute_budget_planner.workload.facts import Fact, Layer
from compute_budget_planner.workload.vocabulary import VOCABULARY

SHAPE = ("model", "model detail")
"""Groups of facts that say which model it is."""


def shape_seen(plan: Sequence[Fact], logs: Iterable[Reading]) -> list[Fact]:
    """Return what logs of the planned model say about its shape and nothing else tells.

    Such a log agrees with the plan on all of the shape that both give, and on some of it.
    """
    known = {fact.name: fact.value for fact in reversed(plan)}
    found: dict[str, Fact] = {}
    for log in logs:
        told = {f.name: f for f in (*log.measured, *log.facts) if VOCABULARY[f.name].group in SHAPE}
        both = told.keys() & known.keys()
        if both and all(told[name].value == known[name] for name in both):
            for name in told.keys() - both:
                found.setdefault(name, replace(told[name], layer=Layer.MODEL_CONFIG))
    return list(found.values())
