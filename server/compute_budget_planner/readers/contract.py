"""What every reader takes and gives.

A reader is one module with a `Reader`: a format name, a test whether a file is of that format
(by content, not by name), and a function from the file to a `Reading`. Readers see text only;
they never open files, run anything or import what they read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.facts import Basis, Fact, FactValue, Layer


def _nothing_beside(_path: str) -> "SourceFile | None":
    return None


@dataclass(frozen=True)
class SourceFile:
    """A file of the project: its path relative to the root (POSIX) and its text.

    When `sampled`, the text is head, middle and tail of a long log, and its lines have no number;
    of binary data it is the first 4,096 bytes and the last 1 MiB, a character a byte. `size_bytes`
    is that of the whole file. `beside` returns the file of the project at a path relative to this
    file's folder, None when there is none that can be read: what a configuration includes is read
    through it.
    """

    path: str
    text: str
    sampled: bool = False
    beside: "Callable[[str], SourceFile | None]" = field(
        default=_nothing_beside, compare=False, repr=False
    )
    size_bytes: int = 0

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", maxsplit=1)[-1]

    @property
    def lines(self) -> list[str]:
        """The lines of the text, without line ends."""
        return self.text.splitlines()

    def at(self, line: int | None) -> str:
        """Return `path:line`, or the path alone where there is no line to name."""
        return self.path if line is None or self.sampled else f"{self.path}:{line}"


@dataclass(frozen=True)
class Problem:
    """Something in a file that could not be read, and what to do about it."""

    source: str
    text: str


@dataclass(frozen=True)
class FileReference:
    """A path one file names: a script, a config, data, a log folder."""

    path: str
    role: str
    source: str


@dataclass(frozen=True)
class Command:
    """A command a job runs: its words (program first) and whether it looks like training."""

    words: tuple[str, ...]
    launcher: str
    script: str
    trains: bool
    source: str


@dataclass(frozen=True)
class Variant:
    """A row of a plan's run matrix: name, change as text, seeds, place.

    `claims` are the claims the row names; `priority` is `required`, `should-have`, `optional` or
    empty; `multiplier` is the cost the plan states, in runs of the baseline with one seed;
    `controls` is what all runs of the matrix share, as the plan writes it.
    """

    name: str
    change: str
    seeds: int
    purpose: str
    source: str
    claims: tuple[str, ...] = ()
    priority: str = ""
    multiplier: float | None = None
    dataset: str = ""
    controls: str = ""


@dataclass(frozen=True)
class Baseline:
    """A method an audit compares with; a text the audit does not give is empty.

    `requirement` is `must-have`, `should-have`, `optional`, `not-comparable` or `citation-only`;
    `comparison` says where the numbers come from; `verdict` is that of the fairness ledger;
    `trials` and `compute_budget` stand in the tuning ledger (None: not stated).
    """

    name: str
    role: str
    requirement: str
    comparison: str
    verdict: str
    trials: int | None
    compute_budget: str
    source: str


@dataclass(frozen=True)
class BoardRow:
    """An entry of a memory board: its id, the board (`risk`, ...), cells by lower-case column."""

    id: str
    board: str
    cells: Mapping[str, str]
    source: str


@dataclass(frozen=True)
class Environment:
    """A compute environment of `environments.yaml`: its limits and GPU types."""

    key: str
    scheduler: str
    time_limit_hours: float | None
    max_time_limit_hours: float | None
    max_gpus: int | None
    gpu_types: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class LossSeries:
    """A loss over a run as its log gives it.

    `name` is `train` or `validation`; `steps` rise, `unit` is what they count (`steps`, `epochs`,
    ...); all `values` are finite. A long series is thinned evenly. `broken_steps` are the first
    steps at which the loss was no number.
    """

    name: str
    steps: tuple[int, ...]
    values: tuple[float, ...]
    source: str
    unit: str = "steps"
    broken_steps: tuple[int, ...] = ()


@dataclass(frozen=True)
class Reading:
    """All that one file gives.

    `kind` is `job`, `config`, `model_config`, `log`, `environments`, `plan`, `data` (what a plan
    says of the project's data), `dataset` (data themselves) or `board`.
    `measured` holds facts of an earlier run (speed, memory, duration and its own configuration);
    `finished` says whether that run ended by itself (None: the file cannot tell); `losses` are its
    curves. The `notes` of a log tell the spread of its speed and the kind of its memory.
    """

    path: str
    format: str
    kind: str
    facts: tuple[Fact, ...] = ()
    measured: tuple[Fact, ...] = ()
    problems: tuple[Problem, ...] = ()
    references: tuple[FileReference, ...] = ()
    commands: tuple[Command, ...] = ()
    variants: tuple[Variant, ...] = ()
    environments: tuple[Environment, ...] = ()
    baselines: tuple[Baseline, ...] = ()
    board_rows: tuple[BoardRow, ...] = ()
    job_name: str = ""
    environment: str = ""
    output_dir: str = ""
    n_runs: int = 1
    finished: bool | None = None
    losses: tuple[LossSeries, ...] = ()
    notes: Mapping[str, FactValue] = field(default_factory=dict)


class Reader(Protocol):
    """A family of files."""

    @property
    def format(self) -> str:
        """The name of the family."""

    def matches(self, file: SourceFile) -> bool:
        """Tell by content whether the file is of this format."""

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return what the file gives.

        Raises:
            FormatError: the file is of this format but broken; the place is named.
        """


__all__ = [
    "Baseline",
    "Basis",
    "BoardRow",
    "Command",
    "Environment",
    "Fact",
    "FileReference",
    "Layer",
    "LossSeries",
    "Problem",
    "Reader",
    "Reading",
    "SourceFile",
    "Variant",
]
