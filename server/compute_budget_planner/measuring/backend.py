"""What the measurements ask of a device: prepare an operation, and time calls of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

Operation = Callable[[], object]
"""Work prepared on the device; a call may return before the device has done it."""


class Unmeasurable(Exception):  # noqa: N818  nothing is wrong: the device lacks something
    """The device or the software cannot do this; the text says why in a few words."""


@dataclass(frozen=True)
class Device:
    """The device measured: `name` as its driver gives it, `generation` in the guide's words.

    `count` devices are visible, of which the first is measured; `precisions` are worth trying in
    a matmul, `training_precision` is what a training step takes here.
    """

    name: str
    is_cpu: bool
    count: int
    memory_gib: float
    vendor: str
    architecture: str
    generation: str
    software: str
    precisions: tuple[str, ...]
    training_precision: str


@dataclass(frozen=True)
class GptShape:
    """A GPT-2-like transformer (pre-norm, GELU of 4 × width, learned positions, tied head)."""

    n_layers: int
    d_model: int
    n_heads: int
    vocab_size: int
    seq_len: int
    micro_batch_size: int

    @property
    def params_total(self) -> int:
        """Parameters: 12·L·d² and biases and norms of L layers, embeddings, the last norm."""
        layer = 12 * self.d_model**2 + 13 * self.d_model
        embeddings = (self.vocab_size + self.seq_len) * self.d_model
        return self.n_layers * layer + embeddings + 2 * self.d_model

    @property
    def tokens(self) -> int:
        """Tokens of one step."""
        return self.micro_batch_size * self.seq_len


class Backend(Protocol):
    """One device and the software that drives it; every method may raise `Unmeasurable`."""

    @property
    def device(self) -> Device:
        """What is measured."""

    def seconds(self, operation: Operation, calls: int) -> float:
        """Return wall-clock seconds per call, from an idle device to an idle device."""

    def matmul(self, precision: str, size: int) -> Operation:
        """Prepare a product of two square matrices of `size` rows."""

    def copy(self, mib: int) -> Operation:
        """Prepare a copy of a buffer of `mib` MiB within the device's memory."""

    def kernel(self) -> Operation:
        """Prepare the smallest kernel: one addition to one element, in place."""

    def passes(self, shape: GptShape, precision: str, *, compiled: bool) -> Operation:
        """Prepare a forward and a backward pass."""

    def training_step(self, shape: GptShape, precision: str) -> Operation:
        """Prepare a whole step: forward, backward, AdamW."""

    def peak_memory_gib(self) -> float | None:
        """Return the device's peak since the last training step was prepared, if it is known.

        Counted as the driver does: with what the allocator reserves and the context needs.
        """

    def all_reduce(self, mib: int, samples: int) -> tuple[float, ...]:
        """Return seconds of all-reduces of `mib` MiB over all visible devices, one per sample."""
