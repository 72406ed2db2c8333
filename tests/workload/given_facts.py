"""Facts as tests write them: names and raw values, from one place."""

from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.resolve import Resolution, resolve
from compute_budget_planner.workload.vocabulary import parse_fact

REFERENCE = load_reference()


def fact(
    name: str,
    raw: object,
    layer: Layer = Layer.ARGUMENT,
    source: str = "argument",
    basis: Basis | None = None,
) -> Fact:
    """Return a fact of the raw value; its basis follows from the layer unless given."""
    usual = Basis.STATED if layer is Layer.ARGUMENT else Basis.CONFIGURED
    return Fact(name, parse_fact(name, raw, REFERENCE), basis or usual, source, layer)


def resolved(*more: Fact, **raw: object) -> Resolution:
    """Resolve stated facts, and facts of other places behind them."""
    return resolve([*(fact(name, value) for name, value in raw.items()), *more], REFERENCE)
