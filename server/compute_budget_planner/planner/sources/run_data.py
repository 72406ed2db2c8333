"""The data of a run: what its files name, looked at in the project, and their sizes together."""

from collections.abc import Sequence
from dataclasses import replace

from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.readers.contract import Reading
from compute_budget_planner.readers.data_folder import folder_reading
from compute_budget_planner.readers.dataset_sizes import KIND
from compute_budget_planner.workload.facts import Basis, Fact


def folder_of_data(workspace: Workspace, path: str) -> Reading | None:
    """Return what a folder of the project holds, None when it is no folder of data."""
    listed = workspace.project.list_folder(path)
    if listed is None:
        return None
    return folder_reading(path, listed.counts, workspace.reference, cut=listed.cut)


def with_sizes_joined(readings: Sequence[Reading]) -> list[Fact]:
    """Return the facts of readings, those of several files of data as their sum.

    A size that one of the files does not tell is no sum, and none is given.
    """
    data = [reading for reading in readings if reading.kind == KIND]
    facts = [fact for reading in readings if reading.kind != KIND for fact in reading.facts]
    if len(data) < 2:
        return [*facts, *(fact for reading in data for fact in reading.facts)]
    for name in ("dataset_examples", "dataset_tokens"):
        found = [fact for reading in data for fact in reading.facts if fact.name == name]
        if len(found) == len(data):
            total = sum(int(fact.value) for fact in found)
            source = f"{found[0].source} and {len(found) - 1} more"
            facts.append(replace(found[0], value=total, basis=Basis.DERIVED, source=source))
    return facts
