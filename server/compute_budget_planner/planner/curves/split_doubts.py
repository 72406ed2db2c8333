"""Reasons to doubt a lead that lie in how validation data were split off."""

from collections.abc import Sequence

from compute_budget_planner.diagnosis_request import DataStructure, SplitRule
from compute_budget_planner.guide.reference import Reference


def split_doubts(
    reference: Reference, split: SplitRule | None, depends_on: Sequence[DataStructure]
) -> list[str]:
    """Return one sentence of table `split_warnings` for each structure the split ignores.

    A split by time serves data in groups no better than a random one, and the other way round;
    a fixed one was made by others and is taken as it is.
    """
    found = []
    for structure in dict.fromkeys(depends_on):
        if split in ("fixed", structure):
            continue
        case = "unknown" if split is None else "random"
        found.append(reference.row("split_warnings", f"{case}-{structure}").required("text"))
    return found
