"""What a shell script assigns and runs, as its reader found it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from compute_budget_planner.readers.contract import Problem


@dataclass(frozen=True)
class Assignment:
    """A variable the script sets: its value, its line and whether programs see it."""

    name: str
    value: str
    line: int
    exported: bool


@dataclass(frozen=True)
class ShellCommand:
    """A command with its words expanded, its own variables and the runs of its loop.

    `loop_runs` is how often the loops around it run it, None when the text does not say.
    `branches` names the undecided branches it stands in: (number of the block, of the branch).
    """

    words: tuple[str, ...]
    line: int
    environment: Mapping[str, str] = field(default_factory=dict)
    loop_runs: int | None = 1
    branches: tuple[tuple[int, int], ...] = ()

    def excludes(self, other: "ShellCommand") -> bool:
        """Tell whether the two stand in different branches of one block."""
        mine = dict(self.branches)
        return any(mine.get(block, branch) != branch for block, branch in other.branches)


@dataclass(frozen=True)
class ShellScript:
    """What a script assigns and runs."""

    assignments: Mapping[str, Assignment]
    commands: tuple[ShellCommand, ...]
    problems: tuple[Problem, ...]
