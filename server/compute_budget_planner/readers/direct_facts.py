"""Values already in the product's words become facts, checked like any other."""

from collections.abc import Iterable

from compute_budget_planner.errors import FactError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Basis, Fact, Layer, Problem
from compute_budget_planner.workload.vocabulary import parse_fact

DirectValue = tuple[str, object, str]
"""Fact name, raw value (None: not known), source `path:line`."""


def direct_facts(
    values: Iterable[DirectValue], basis: Basis, layer: Layer, reference: Reference
) -> tuple[tuple[Fact, ...], tuple[Problem, ...]]:
    """Return the facts of known values, and a problem for each that is not of its kind."""
    facts: list[Fact] = []
    problems: list[Problem] = []
    for name, raw, source in values:
        if raw is None:
            continue
        try:
            value = parse_fact(name, raw, reference, source)
        except FactError as error:
            problems.append(Problem(source, f"{error.what}. {error.remedy}"))
        else:
            facts.append(Fact(name, value, basis, source, layer))
    return tuple(facts), tuple(problems)
