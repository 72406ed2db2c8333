"""Result of `update_memory`."""

from typing import Literal

from pydantic import Field

from compute_budget_planner.results.base import NextStep, Result


class BoardOut(Result):
    """What happened, or would happen, to one file."""

    path: str
    action: Literal["created", "updated", "unchanged", "missing"]
    ids: list[str] = Field(default_factory=list, description="rows written, by id")
    why: str = ""
    diff: str = ""


class MemoryResult(Result):
    """Result of `update_memory`."""

    summary: str
    dry_run: bool
    boards: list[BoardOut]
    id_counters: dict[str, int] = Field(
        default_factory=dict, description="counters raised in memory/project.yaml"
    )
    skipped: list[str] = Field(default_factory=list, description="rows not due, and why")
    next: list[NextStep] = Field(default_factory=list)
