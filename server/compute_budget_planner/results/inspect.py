"""Result of `inspect_project`."""

from pydantic import Field

from compute_budget_planner.results.base import FactOut, NextStep, ProblemOut, Result, Rounded


class FileOut(Result):
    """One file: its format, its facts, its problems."""

    path: str
    format: str
    kind: str
    facts: dict[str, FactOut]
    measured: dict[str, FactOut] = Field(default_factory=dict)
    problems: list[ProblemOut] = Field(default_factory=list)


class RunOut(Result):
    """Files that belong to one run."""

    name: str
    files: list[str]
    prior_logs: list[str]
    n_runs: int
    gaps: list[str]


class EnvironmentOut(Result):
    """A place jobs can go, with its limits."""

    name: str
    scheduler: str
    time_limit_hours: Rounded | None
    max_gpus: int | None
    gpu_types: list[str]
    source: str


class InspectResult(Result):
    """Result of `inspect_project`."""

    summary: str
    project: str
    files: list[FileOut]
    runs: list[RunOut]
    boards: dict[str, bool]
    envelope: list[EnvironmentOut]
    gaps: list[str]
    next: list[NextStep] = Field(default_factory=list)
