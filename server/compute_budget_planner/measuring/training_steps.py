"""Reference training steps: measured, and predicted from the guide for comparison."""

from dataclasses import dataclass

from compute_budget_planner.estimation.assess import assess
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.measuring.backend import Backend, GptShape, Unmeasurable
from compute_budget_planner.measuring.timing import (
    LEAST_SAMPLES,
    WARM_UP_CALLS,
    samples,
    spread,
)
from compute_budget_planner.workload.facts import Basis, Fact, FactValue, Layer

SHAPES = (
    GptShape(2, 64, 4, 512, 64, 2),
    GptShape(4, 256, 4, 8192, 256, 4),
    GptShape(12, 768, 12, 50304, 1024, 8),
    GptShape(24, 1024, 16, 50304, 1024, 8),
    GptShape(16, 2048, 16, 50304, 2048, 4),
)
"""From launch-bound to matmul-bound; the third and the fourth have the widths of GPT-2."""

# Of the best matmul rate; a step slower than that only takes longer to measure.
_LEAST_EFFICIENCY = 0.3


@dataclass(frozen=True)
class ReferenceStep:
    """A measured step; the peak is what the driver sees, None where nobody counts it."""

    shape: GptShape
    precision: str
    seconds: Range
    peak_memory_gib: float | None


@dataclass(frozen=True)
class Prediction:
    """What the guide says of a reference step on the device."""

    seconds: Range
    peak_memory_gib: Range


def measure_steps(
    backend: Backend, matmul_tflops: float, budget_seconds: float, *, quick: bool
) -> tuple[list[ReferenceStep], list[str]]:
    """Return the steps that fit the device and the budget, and why others were left out.

    `matmul_tflops` is the best rate measured in the training precision. `quick` takes the
    smaller half of what fits.
    """
    shapes = [s for s in SHAPES if _least_seconds(s, matmul_tflops) <= budget_seconds / 2]
    if quick:
        shapes = shapes[: (len(shapes) + 1) // 2]
    found: list[ReferenceStep] = []
    for shape in shapes:
        try:
            found.append(_measure_step(backend, shape, budget_seconds / len(shapes)))
        except Unmeasurable as reason:
            return found, [f"training step of {shape.params_total / 1e6:.0f}M: {reason}"]
    return found, []


def _measure_step(backend: Backend, shape: GptShape, budget_seconds: float) -> ReferenceStep:
    precision = backend.device.training_precision
    # No name holds the operation: the next step must not find this one's memory in use.
    seconds = spread(samples(backend, backend.training_step(shape, precision), budget_seconds))
    return ReferenceStep(shape, precision, seconds, backend.peak_memory_gib())


def _least_seconds(shape: GptShape, matmul_tflops: float) -> float:
    """Return seconds the fewest repeats take: 6·N·D FLOPs per step (Kaplan et al. 2020)."""
    step = 6.0 * shape.params_total * shape.tokens / (matmul_tflops * 1e12 * _LEAST_EFFICIENCY)
    return step * (LEAST_SAMPLES + WARM_UP_CALLS)


def predict_step(step: ReferenceStep, accelerator: str, reference: Reference) -> Prediction | None:
    """Return what the guide predicts with everything about the step stated; None: nothing."""
    shape = step.shape
    values: dict[str, FactValue] = {
        "model_family": "gpt2",
        "n_layers": shape.n_layers,
        "d_model": shape.d_model,
        "n_heads": shape.n_heads,
        "vocab_size": shape.vocab_size,
        "max_positions": shape.seq_len,
        "seq_len": shape.seq_len,
        "micro_batch_size": shape.micro_batch_size,
        "grad_accum_steps": 1,
        "max_steps": 1000,
        "gpu": accelerator,
        "n_gpus": 1,
        "precision": step.precision,
        "optimizer": "adamw",
        "method": "pretrain",
        "objective": "lm",
        "activation_checkpointing": "none",
        "attention": "sdpa",
        "compile": False,
        "fused_loss": False,
        # Autocast keeps fp32 weights and gradients: as many bytes as 16-bit ones and a master.
        "gradient_dtype": "fp32" if step.precision == "fp32" else "bf16",
        "framework": "pytorch",
    }
    facts = [Fact(n, v, Basis.STATED, "reference step", Layer.ARGUMENT) for n, v in values.items()]
    found = assess(facts, reference)
    if found.estimate is None or found.memory is None:
        return None
    return Prediction(found.estimate.step_seconds, found.memory.peak)
