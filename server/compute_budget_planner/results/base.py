"""Ranges, facts and next steps: what every result is made of. Numbers are rounded here, once."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat

from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.numbers import rounded
from compute_budget_planner.workload.facts import Fact, FactValue

Rounded = Annotated[FiniteFloat, AfterValidator(rounded)]


class Result(BaseModel):
    """A closed model."""

    model_config = ConfigDict(extra="forbid")


class RangeOut(Result):
    """10th, 50th and 90th percentile."""

    low: Rounded
    expected: Rounded
    high: Rounded

    @classmethod
    def of(cls, value: Range) -> "RangeOut":
        """Round a range for output."""
        return cls(low=value.low, expected=value.expected, high=value.high)


class FactOut(Result):
    """A fact with how it is known and where it stands."""

    value: FactValue
    basis: str
    source: str

    @classmethod
    def of(cls, fact: Fact) -> "FactOut":
        """Show a fact; a measured float to six digits."""
        value = float(f"{fact.value:.6g}") if isinstance(fact.value, float) else fact.value
        return cls(value=value, basis=fact.basis.value, source=fact.source)


class NextStep(Result):
    """The tool that continues from here, or the question that blocks."""

    tool: str
    arguments: dict[str, object] = Field(default_factory=dict)
    question: str = ""


class ProblemOut(Result):
    """Something in a file that could not be read."""

    source: str
    text: str
