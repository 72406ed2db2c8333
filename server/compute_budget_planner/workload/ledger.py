"""The facts of one run while they are being completed: what is known, assumed and open."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from compute_budget_planner.workload.facts import Basis, Fact, FactValue, Layer
from compute_budget_planner.workload.merge import Conflict


@dataclass(frozen=True)
class Assumption:
    """A value nobody gave, why it was taken, and the other plausible ones."""

    fact: str
    value: FactValue
    why: str
    alternatives: tuple[FactValue, ...] = ()


@dataclass
class Ledger:
    """Facts by name with everything noted on the way. Lives only inside `resolve`."""

    facts: dict[str, Fact]
    conflicts: list[Conflict] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def has(self, name: str) -> bool:
        """Tell whether the fact is known."""
        return name in self.facts

    def number(self, name: str) -> float | None:
        """Return a numeric fact, or None."""
        fact = self.facts.get(name)
        return None if fact is None or isinstance(fact.value, str) else float(fact.value)

    def count(self, name: str) -> int | None:
        """Return a whole-number fact, or None."""
        number = self.number(name)
        return None if number is None else int(number)

    def text(self, name: str) -> str | None:
        """Return a text fact, or None."""
        fact = self.facts.get(name)
        return None if fact is None else str(fact.value)

    def flag(self, name: str) -> bool | None:
        """Return a true-or-false fact, or None."""
        fact = self.facts.get(name)
        return None if fact is None else bool(fact.value)

    def source(self, name: str) -> str:
        """Return where a fact stands."""
        fact = self.facts.get(name)
        return "" if fact is None else fact.source

    @property
    def values(self) -> Mapping[str, FactValue]:
        """All values by name."""
        return {name: fact.value for name, fact in self.facts.items()}

    def derive(self, name: str, value: FactValue, how: str) -> None:
        """Add a fact computed from others."""
        self.facts[name] = Fact(name, value, Basis.DERIVED, how, Layer.REFERENCE)

    def refer(self, name: str, value: FactValue, where: str) -> None:
        """Add a fact of the guide."""
        self.facts[name] = Fact(name, value, Basis.REFERENCE, where, Layer.REFERENCE)

    def assume(self, name: str, value: FactValue, why: str, *alternatives: FactValue) -> None:
        """Add a value nobody gave, with the plausible others."""
        self.facts[name] = Fact(name, value, Basis.ASSUMED, why, Layer.ASSUMPTION)
        others = tuple(other for other in alternatives if other != value)
        self.assumptions.append(Assumption(name, value, why, others))
