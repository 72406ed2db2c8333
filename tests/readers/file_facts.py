"""What the tests of readers compare: facts as plain dictionaries."""

from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import Basis, Fact, Reader, Reading, SourceFile


def reading_of(reader: Reader, path: str, text: str) -> Reading:
    """Read a text that the reader must recognise."""
    file = SourceFile(path, text)
    assert reader.matches(file)
    return reader.read(file, load_reference())


def values(facts: tuple[Fact, ...]) -> dict[str, object]:
    """Return name → value; a fact given twice would show."""
    assert len({fact.name for fact in facts}) == len(facts)
    return {fact.name: fact.value for fact in facts}


def of_basis(facts: tuple[Fact, ...], basis: Basis) -> dict[str, object]:
    """Return name → value of the facts known in one way."""
    return values(tuple(fact for fact in facts if fact.basis is basis))


def problem_texts(reading: Reading) -> list[str]:
    """Return `source: text` of every problem."""
    return [f"{problem.source}: {problem.text}" for problem in reading.problems]
