"""A device that is pure arithmetic: its clock is the sum of what its operations are said to cost.

Rates and costs are chosen, so that what comes out of a measurement is known beforehand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle

from compute_budget_planner.measuring.backend import Device, GptShape, Unmeasurable

H200 = Device(
    name="NVIDIA H200",
    is_cpu=False,
    count=1,
    memory_gib=139.8,
    vendor="NVIDIA",
    architecture="Hopper",
    generation="hopper",
    software="PyTorch 2.9.0, CUDA 12.8",
    precisions=("fp32", "tf32", "fp16", "bf16", "fp8"),
    training_precision="bf16",
)
CPU = replace(
    H200,
    name="CPU-x86_64-4-threads",
    is_cpu=True,
    memory_gib=32.0,
    vendor="CPU",
    architecture="x86_64",
    generation="other",
    software="PyTorch 2.9.0",
    precisions=("fp32", "bf16"),
    training_precision="fp32",
)
UNLISTED = replace(H200, name="NVIDIA H200 MIG 3g.71gb", memory_gib=69.5)


@dataclass(frozen=True)
class Work:
    """An operation that takes `cost_seconds`."""

    cost_seconds: float

    def __call__(self) -> None:
        """Do nothing: the clock is the backend's."""


@dataclass
class MadeUpDevice:
    """`Backend` with constant rates; each sample costs the next of `jitter` times the work."""

    device: Device = H200
    tflops: Mapping[str, float] = field(
        default_factory=lambda: {"fp32": 50, "tf32": 400, "fp16": 700, "bf16": 720, "fp8": 1300}
    )
    gb_s: float = 4320.0
    kernel_seconds: float = 6e-6
    layer_seconds: float = 510e-6
    compiled_share: float | None = 0.5
    efficiency: float = 0.5
    link_gb_s: float = 225.0
    jitter: tuple[float, ...] = (1.0,)
    calls: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._factors = cycle(self.jitter)

    def seconds(self, operation: object, calls: int) -> float:
        assert isinstance(operation, Work)
        assert calls >= 1
        return operation.cost_seconds * next(self._factors)

    def matmul(self, precision: str, size: int) -> Work:
        self.calls.append(f"matmul {precision} {size}")
        if precision not in self.tflops:
            raise Unmeasurable("no such units")
        return Work(2 * size**3 / (self.tflops[precision] * 1e12))

    def copy(self, mib: int) -> Work:
        if not self.gb_s:
            raise Unmeasurable("out of memory")
        return Work(2 * mib * 2**20 / (self.gb_s * 1e9))

    def kernel(self) -> Work:
        return Work(self.kernel_seconds)

    def passes(self, shape: GptShape, precision: str, *, compiled: bool) -> Work:
        self.calls.append(f"{'compiled' if compiled else 'eager'} passes in {precision}")
        if compiled and self.compiled_share is None:
            raise Unmeasurable("no compiler")
        share = self.compiled_share if compiled else 1.0
        return Work(200e-6 + shape.n_layers * self.layer_seconds * (share or 1.0))

    def training_step(self, shape: GptShape, precision: str) -> Work:
        self.calls.append(f"step {shape.n_layers}")
        flops = 6 * shape.params_total * shape.tokens
        busy = flops / (self.tflops[precision] * 1e12 * self.efficiency)
        return Work(busy + shape.n_layers * self.layer_seconds)

    def peak_memory_gib(self) -> float | None:
        return None if self.device.is_cpu else 12.5

    def all_reduce(self, mib: int, samples: int) -> tuple[float, ...]:
        n = self.device.count
        if not self.link_gb_s:
            raise Unmeasurable("a worker process ended early")
        return (2 * (n - 1) / n * mib * 2**20 / (self.link_gb_s * 1e9),) * samples
