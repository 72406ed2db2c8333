"""Cloud instance types as accelerators: the table `cloud_instances` of the reference."""

from dataclasses import dataclass

from compute_budget_planner.guide.reference import Reference

_TABLE = "cloud_instances"


@dataclass(frozen=True)
class Instance:
    """What one instance holds: the accelerator by its name in the guide, and how many."""

    gpu: str
    gpus: int


def instance_of(name: str, reference: Reference) -> Instance | None:
    """Return what an instance such as `ml.p4d.24xlarge` holds, None for one nobody knows."""
    key = name.strip().lower().removeprefix("ml.")
    row = reference.tables.get(_TABLE, {}).get(key)
    if row is None:
        return None
    return Instance(row.required("gpu"), int(row.required("gpus")))
