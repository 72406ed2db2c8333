"""A fact: one thing known about a run, how it is known, and where it stands."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

FactValue = int | float | str | bool


class Basis(StrEnum):
    """How a fact is known."""

    MEASURED = "measured"
    STATED = "stated"
    CONFIGURED = "configured"
    DERIVED = "derived"
    FRAMEWORK_DEFAULT = "framework_default"
    REFERENCE = "reference"
    ASSUMED = "assumed"


class Layer(IntEnum):
    """Who wins when two places give the same fact: the lower number."""

    ARGUMENT = 0
    COMMAND_LINE = 1
    ENVIRONMENT = 2
    CONFIG = 3
    MODEL_CONFIG = 4
    FRAMEWORK_DEFAULT = 5
    REFERENCE = 6
    ASSUMPTION = 7


@dataclass(frozen=True)
class Fact:
    """A named value with its basis, its source (`path:line`) and its rank."""

    name: str
    value: FactValue
    basis: Basis
    source: str
    layer: Layer
