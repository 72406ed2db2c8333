"""Seconds of one optimizer step, and where they go.

One micro-step of one rank: layers and head at matmul speed, attention at kernel speed,
memory-bound work at bandwidth, not faster than the host launches kernels; then recompute,
pipeline bubble, collectives, and once per step the optimizer.
"""

from dataclasses import dataclass

from compute_budget_planner.estimation import communication
from compute_budget_planner.estimation.device_rate import DeviceRate, device_rate
from compute_budget_planner.estimation.layer_time import (
    LayerTime,
    MicroStep,
    backward_factor,
    layer_time,
    matmul_forward_seconds,
)
from compute_budget_planner.estimation.matmuls import head_matmul, layer_groups
from compute_budget_planner.estimation.parameters import count_parameters, lora_parameters
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import TrainingRun


@dataclass(frozen=True)
class StepTime:
    """Seconds of one optimizer step and of its parts; parts add up to `seconds`."""

    seconds: float
    parts: dict[str, float]
    bottleneck: str

    def share(self, part: str) -> float:
        """Return the share of a part in the step, 0 when there is no such part."""
        return self.parts.get(part, 0.0) / self.seconds


_BOUND_BY = {
    "matmuls": "compute",
    "attention": "compute",
    "memory-bound work": "memory bandwidth",
    "logits and loss": "memory bandwidth",
    "optimizer": "memory bandwidth",
    "dequantisation": "memory bandwidth",
    "rollouts": "memory bandwidth",
    "kernel launches": "kernel launches of the host",
    "communication": "network",
    "pipeline bubble": "pipeline bubble",
    "offload": "host link",
}


def as_step_time(parts: dict[str, float]) -> StepTime:
    """Return a step time from its parts; the largest kind of part is the bottleneck."""
    by_bound: dict[str, float] = {}
    for name, seconds in parts.items():
        bound = _BOUND_BY.get(name, name)
        by_bound[bound] = by_bound.get(bound, 0.0) + seconds
    kept = {name: seconds for name, seconds in parts.items() if seconds > 0}
    return StepTime(sum(kept.values()), kept, max(by_bound, key=lambda k: by_bound[k]))


def transformer_step_time(run: TrainingRun, model: Architecture, reference: Reference) -> StepTime:
    """Return the time of one optimizer step of a transformer.

    Raises:
        FactError: the guide lacks a rate of the device.
    """
    rate = device_rate(run.hardware.accelerator, run.numerics.precision, reference)
    seq_len = run.data.seq_len or 1
    parallelism, accum = run.parallelism, run.batch.grad_accum_steps
    tokens = run.batch.micro_batch_size * seq_len / parallelism.cp
    micro = MicroStep(run, model, tokens, seq_len, rate, reference)
    layers = _sum_layers(micro)
    head = _head_seconds(micro)
    speed = run.numerics.framework_class.speed
    device = {
        "matmuls": (layers.matmul + head[0]) / speed,
        "attention": layers.attention / speed,
        "memory-bound work": layers.memory / speed,
        "logits and loss": head[1] / speed,
        "dequantisation": layers.dequantise / speed,
    }
    busy = sum(device.values())
    exponent = reference.value("smooth_maximum")
    floor = (busy**exponent + layers.launch**exponent) ** (1 / exponent)
    parts = {name: seconds * accum for name, seconds in device.items()}
    parts["kernel launches"] = (floor - busy) * accum
    parts["pipeline bubble"] = floor * accum * _bubble(run, model, reference)
    parts["communication"] = _communication_seconds(run, model, tokens, reference)
    parts.update(_optimizer_seconds(run, model, rate, reference))
    return as_step_time(parts)


def _bubble(run: TrainingRun, model: Architecture, reference: Reference) -> float:
    """Return idle over busy time of a pipeline: (p − 1) / (v·m), Narayanan 2021 §2.2.

    Megatron-like software interleaves several virtual stages, at least one layer each.
    """
    pp, accum = run.parallelism.pp, run.batch.grad_accum_steps
    if pp <= 1:
        return 0.0
    stages = 1.0
    if run.numerics.framework_class.name == "megatron":
        stages = max(1.0, min(reference.value("virtual_stages"), model.n_layers / pp))
    return (pp - 1) / (stages * accum)


def _sum_layers(micro: MicroStep) -> LayerTime:
    """Return the time of the layers one pipeline stage holds."""
    total = LayerTime(0.0, 0.0, 0.0, 0.0, 0.0)
    for group in layer_groups(micro.model):
        total = total.plus(layer_time(group, micro), group.count / micro.run.parallelism.pp)
    return total


def _head_seconds(micro: MicroStep) -> tuple[float, float]:
    """Return (matmul, loss) seconds of the output head, shared by the pipeline's stages."""
    head = head_matmul(micro.model)
    if head is None:
        return 0.0, 0.0
    run, reference = micro.run, micro.reference
    tp, pp = run.parallelism.tp, run.parallelism.pp
    predicted = micro.tokens
    if run.numerics.objective == "mlm" and run.numerics.framework_class.name != "hf-trainer":
        # Only masked positions pass the head (BERT, arXiv:1810.04805 §3.1: 15 % of the tokens).
        predicted *= reference.value("mlm_masked_share")
    forward = matmul_forward_seconds(head, predicted, tp, micro.rate)
    per_logit = "logit_bytes_fused" if run.numerics.fused_loss else "logit_bytes"
    moved = predicted * head.calls * head.d_out / tp * reference.value(per_logit)
    return (
        forward * (1 + backward_factor(run.numerics)) / pp,
        moved / micro.rate.bytes_per_second / pp,
    )


def _communication_seconds(
    run: TrainingRun, model: Architecture, tokens: float, reference: Reference
) -> float:
    parallelism, accum = run.parallelism, run.batch.grad_accum_steps
    split = parallelism.tp * parallelism.pp
    counts = count_parameters(model)
    trainable = trainable_parameters(run, model)
    layers = model.n_layers / parallelism.pp
    moe_layers = sum(g.count for g in layer_groups(model) if g.moe) / parallelism.pp
    step = communication.data_parallel_seconds(
        run, counts.total / split / parallelism.ep, trainable / split, reference
    )
    tensor = communication.tensor_parallel_seconds(run, model, layers, tokens, reference)
    tensor += communication.context_parallel_seconds(run, model, layers, tokens, reference)
    expert = communication.expert_parallel_seconds(run, model, moe_layers, tokens, reference)
    return (
        step * reference.value("communication_exposed")
        + tensor * accum * reference.value("tensor_exposed")
        + expert * accum * reference.value("expert_exposed")
    )


def _optimizer_seconds(
    run: TrainingRun, model: Architecture, rate: DeviceRate, reference: Reference
) -> dict[str, float]:
    parallelism = run.parallelism
    params = trainable_parameters(run, model) / (parallelism.tp * parallelism.pp)
    if parallelism.sharding in ("zero1", "zero2", "zero3", "fsdp"):
        params /= parallelism.dp
    moved = params * reference.value("optimizer_bytes_step")
    parts = {"optimizer": moved / rate.bytes_per_second}
    if run.numerics.offload != "none":
        parts["offload"] = moved / (reference.value("cpu_offload_gb_s") * 1e9)
    return parts


def trainable_parameters(run: TrainingRun, model: Architecture) -> int:
    """Return the parameters that get gradients: all, or the adapters."""
    if run.numerics.trains_adapters:
        return lora_parameters(model, run.numerics.lora_rank)
    return count_parameters(model).total
