"""One value per fact: who wins when several places give it, and who was overruled."""

from collections.abc import Iterable
from dataclasses import dataclass

from compute_budget_planner.workload.facts import Fact, FactValue, Layer

_SILENT = {Layer.FRAMEWORK_DEFAULT, Layer.REFERENCE, Layer.ASSUMPTION}
"""Layers nobody chose on purpose: being overruled by a choice is no conflict."""


@dataclass(frozen=True)
class Conflict:
    """Two places that disagree about a fact; `used` won."""

    used: Fact
    overruled: Fact


def same(a: FactValue, b: FactValue) -> bool:
    """Tell whether two values agree: numbers to one part in a million, texts without case."""
    if isinstance(a, str) or isinstance(b, str):
        return str(a).lower() == str(b).lower()
    return abs(float(a) - float(b)) <= 1e-6 * max(abs(float(a)), abs(float(b)))


def merge(
    facts: Iterable[Fact], withdrawn: Iterable[str] = ()
) -> tuple[dict[str, Fact], tuple[Conflict, ...]]:
    """Return the winning fact of each name and the conflicts, in the order of the facts.

    The lower layer wins; within a layer the first given. A `withdrawn` name keeps only what
    was given as an argument.
    """
    gone = set(withdrawn)
    ranked = sorted(
        (f for f in facts if f.name not in gone or f.layer is Layer.ARGUMENT),
        key=lambda fact: fact.layer,
    )
    winners: dict[str, Fact] = {}
    conflicts: list[Conflict] = []
    for fact in ranked:
        winner = winners.setdefault(fact.name, fact)
        if winner is not fact and fact.layer not in _SILENT and not same(winner.value, fact.value):
            conflicts.append(Conflict(winner, fact))
    return winners, tuple(conflicts)
