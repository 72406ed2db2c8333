"""A device as PyTorch drives it. PyTorch is the user's own and is imported when asked for."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from importlib import import_module
from time import perf_counter
from typing import Any

from compute_budget_planner.errors import RequestError
from compute_budget_planner.measuring.backend import Device, GptShape, Operation, Unmeasurable
from compute_budget_planner.measuring.torch_collectives import all_reduce_seconds
from compute_budget_planner.measuring.torch_device import describe_device
from compute_budget_planner.measuring.torch_gpt import build_gpt


def open_torch(imported: Callable[[str], Any] = import_module) -> "TorchBackend":
    """Return the device PyTorch would train on.

    Raises:
        RequestError: PyTorch is not there or does not load, or several kinds of devices are
            visible.
    """
    remedy = (
        "Install compute-budget-planner into the environment your training runs in (`pip install "
        "compute-budget-planner` there) and call it from there, or install PyTorch here "
        "(https://pytorch.org/get-started/locally)."
    )
    try:
        torch = imported("torch")
    except ImportError as error:
        raise RequestError(
            "measuring needs PyTorch, and it is not installed beside the planner",
            where="measure",
            remedy=remedy,
        ) from error
    except OSError as error:
        raise RequestError(
            "PyTorch is installed, but its libraries do not load", where="measure", remedy=remedy
        ) from error
    return TorchBackend(torch)


@contextmanager
def _as_unmeasurable() -> Iterator[None]:
    """Turn whatever PyTorch, its compiler or a driver raises into a reason of a few words."""
    try:
        yield
    except Unmeasurable:
        raise
    except Exception as error:
        out_of_memory = "OutOfMemory" in type(error).__name__ or "out of memory" in str(error)
        reason = "out of memory" if out_of_memory else f"PyTorch raises {type(error).__name__}"
        raise Unmeasurable(reason) from error


class TorchBackend:
    """`Backend` on the first CUDA or ROCm device, or on the CPU."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    @cached_property
    def device(self) -> Device:
        """What is measured."""
        return describe_device(self._torch)

    @property
    def _place(self) -> str:
        return "cpu" if self.device.is_cpu else "cuda:0"

    def seconds(self, operation: Operation, calls: int) -> float:
        """Return wall-clock seconds per call, from an idle device to an idle device."""
        with _as_unmeasurable():
            self._wait()
            start = perf_counter()
            for _ in range(calls):
                operation()
            self._wait()
            return (perf_counter() - start) / calls

    def matmul(self, precision: str, size: int) -> Operation:
        """Prepare a product of two square matrices; random, since zeros draw less power."""
        self._release()
        with _as_unmeasurable():
            torch = self._torch
            a, b = (torch.randn(size, size, device=self._place) for _ in range(2))
            if precision == "fp8":
                return self._fp8_matmul(a, b)
            if precision in ("fp32", "tf32"):
                return self._at_fp32_precision("high" if precision == "tf32" else "highest", a, b)
            a, b = (matrix.to(self._dtype(precision)) for matrix in (a, b))
            return partial(torch.mm, a, b, out=torch.empty_like(a))

    def copy(self, mib: int) -> Operation:
        """Prepare a copy of a buffer within the device's memory."""
        self._release()
        with _as_unmeasurable():
            source = self._torch.ones(mib * 2**18, device=self._place)
            target = self._torch.empty_like(source)
            return partial(target.copy_, source)

    def kernel(self) -> Operation:
        """Prepare one addition to one element, in place."""
        with _as_unmeasurable():
            return partial(self._torch.zeros(1, device=self._place).add_, 1.0)

    def passes(self, shape: GptShape, precision: str, *, compiled: bool) -> Operation:
        """Prepare a forward and a backward pass."""
        model, loss = self._model_and_loss(shape, precision, compiled=compiled)

        def forward_and_backward() -> None:
            loss().backward()
            model.zero_grad(set_to_none=True)

        return forward_and_backward

    def training_step(self, shape: GptShape, precision: str) -> Operation:
        """Prepare a whole step: forward, backward, AdamW."""
        model, loss = self._model_and_loss(shape, precision, compiled=False)
        with _as_unmeasurable():
            if not self.device.is_cpu:
                self._torch.cuda.reset_peak_memory_stats()
            optimizer = self._torch.optim.AdamW(
                model.parameters(), lr=1e-4, fused=not self.device.is_cpu
            )

        def step() -> None:
            loss().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

        return step

    def peak_memory_gib(self) -> float | None:
        """Return the peak since the last training step was prepared, None on a CPU."""
        if self.device.is_cpu:
            return None
        cuda = self._torch.cuda
        free, total = cuda.mem_get_info()
        context = total - free - cuda.memory_reserved()
        return float(cuda.max_memory_reserved() + context) / 2**30

    def all_reduce(self, mib: int, samples: int) -> tuple[float, ...]:
        """Return seconds of all-reduces over all visible devices, one worker process each."""
        self._release()
        with _as_unmeasurable():
            return all_reduce_seconds(self.device.count, mib, samples, on_cpu=self.device.is_cpu)

    def _model_and_loss(
        self, shape: GptShape, precision: str, *, compiled: bool
    ) -> tuple[Any, Callable[[], Any]]:
        self._release()
        torch, functional = self._torch, self._torch.nn.functional
        with _as_unmeasurable():
            model = build_gpt(torch, shape).to(self._place)
            run = torch.compile(model) if compiled else model
            size = (shape.micro_batch_size, shape.seq_len)
            ids = torch.randint(shape.vocab_size, size, device=self._place)
            cast = (
                nullcontext()
                if precision == "fp32"
                else torch.autocast(self._place.split(":")[0], dtype=self._dtype(precision))
            )

        def loss() -> Any:
            with cast:
                logits = run(ids)
                return functional.cross_entropy(logits.view(-1, shape.vocab_size), ids.view(-1))

        return model, loss

    def _fp8_matmul(self, a: Any, b: Any) -> Operation:
        torch = self._torch
        one = torch.ones((), device=self._place)
        # PyTorch's only FP8 product is private; its second factor has to lie column by column.
        a, b = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn).t()
        return partial(
            torch._scaled_mm,
            a,
            b,
            scale_a=one,
            scale_b=one,
            out_dtype=torch.bfloat16,
        )

    def _at_fp32_precision(self, precision: str, a: Any, b: Any) -> Operation:
        torch, out = self._torch, self._torch.empty_like(a)

        def multiply() -> None:
            before = torch.get_float32_matmul_precision()
            torch.set_float32_matmul_precision(precision)
            torch.mm(a, b, out=out)
            torch.set_float32_matmul_precision(before)

        return multiply

    def _dtype(self, precision: str) -> Any:
        return {"fp16": self._torch.float16, "bf16": self._torch.bfloat16}[precision]

    def _wait(self) -> None:
        if not self.device.is_cpu:
            self._torch.cuda.synchronize()

    def _release(self) -> None:
        """Give back what earlier operations held, so that each starts from an empty device."""
        gc.collect()
        if not self.device.is_cpu:
            self._torch.cuda.empty_cache()
