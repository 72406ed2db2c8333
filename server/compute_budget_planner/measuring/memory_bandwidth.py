"""How fast the device moves its own memory."""

from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.measuring.backend import Backend
from compute_budget_planner.measuring.timing import samples, spread

# Far above any cache, far below any memory.
_DEVICE_MIB = 1024
_CPU_MIB = 256


def measure_memory_bandwidth(backend: Backend, budget_seconds: float) -> Range:
    """Return GB/s of a large copy, what it reads and what it writes counted together.

    Raises:
        Unmeasurable: the buffers do not fit.
    """
    mib = _CPU_MIB if backend.device.is_cpu else _DEVICE_MIB
    seconds = spread(samples(backend, backend.copy(mib), budget_seconds))
    return seconds.inverse(2.0 * mib * 2**20 / 1e9)
