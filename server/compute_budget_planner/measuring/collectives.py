"""How fast the visible devices exchange data with each other."""

from collections.abc import Iterable
from dataclasses import dataclass

from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.measuring.backend import Backend, Unmeasurable
from compute_budget_planner.measuring.timing import LEAST_SAMPLES, spread

BUCKET_MIB = 25
"""The gradient bucket of PyTorch's DistributedDataParallel (`bucket_cap_mb`, its default)."""
_SIZES_MIB = (1, BUCKET_MIB, 256)


@dataclass(frozen=True)
class AllReduce:
    """All-reduce over `n_gpus` devices: GB/s per device and direction, as links are rated.

    A ring moves 2(n−1)/n times the payload through every device's link (NCCL's "bus bandwidth").
    """

    n_gpus: int
    mib: int
    gb_s: Range


def measure_all_reduce(backend: Backend) -> tuple[list[AllReduce], str]:
    """Return the rates by payload, and why there are fewer (empty: all were measured).

    Nothing is measured on a single device.
    """
    n_gpus = backend.device.count
    found: list[AllReduce] = []
    if n_gpus < 2:
        return found, ""
    for mib in _SIZES_MIB:
        try:
            seconds = spread(list(backend.all_reduce(mib, LEAST_SAMPLES)))
        except Unmeasurable as reason:
            return found, f"all-reduce of {mib} MiB: {reason}"
        moved = 2 * (n_gpus - 1) / n_gpus * mib * 2**20 / 1e9
        found.append(AllReduce(n_gpus, mib, seconds.inverse(moved)))
    return found, ""


def bucket_rate(found: Iterable[AllReduce]) -> AllReduce | None:
    """Return the rate at the size gradients are exchanged in."""
    return next((item for item in found if item.mib == BUCKET_MIB), None)
