"""Peak memory of one accelerator by term, in GiB.

States follow ZeRO (arXiv:1910.02054 §3 and §5), activations Korthikanti et al. 2022
(arXiv:2205.05198, equations 1 to 4) in the general form for grouped queries and gated
feed-forward parts, with the logits at the loss as a term of their own.
"""

from dataclasses import dataclass

from compute_budget_planner.estimation.matmuls import head_matmul, layer_groups
from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.estimation.step_time import trainable_parameters
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.rows import Quantity
from compute_budget_planner.workload.architecture import Architecture, SampleModel
from compute_budget_planner.workload.run import TrainingRun

GIB = 2.0**30


@dataclass(frozen=True)
class MemoryTerms:
    """Terms in GiB by name, and the peak they add up to."""

    terms: dict[str, Range]
    peak: Range


def memory_terms(run: TrainingRun, reference: Reference) -> MemoryTerms:
    """Return the memory of one accelerator at its peak."""
    states = _states(run, reference)
    if isinstance(run.model, Architecture):
        stored, hump = _activations(run, run.model)
    else:
        stored, hump = _sample_activations(run, run.model, reference), 0.0
    spread = reference.quantity("activation_spread")
    reserved = reference.quantity("reserved_over_allocated")
    context = reference.quantity("framework_context_gib")
    terms = {name: Range.exact(size / GIB) for name, size in states.items() if size > 0}
    terms["activations"] = _between(stored / GIB, spread)
    terms["logits"] = _logits(run, reference)
    # The loss and the live layer of a recomputed backward pass never peak together.
    live = max(0.0, hump / GIB - terms["logits"].expected)
    if live > 0:
        terms["recomputed layer"] = _between(live, spread)
    allocated = [
        sum(getattr(t, end) for t in terms.values()) for end in ("low", "expected", "high")
    ]
    factors = (reserved.low, reserved.expected, reserved.high)
    loose = [allocated[i] * (factors[i] - 1) for i in range(3)]
    terms["fragmentation"] = Range(*sorted(loose))
    terms["framework"] = Range(context.low, context.expected, context.high)
    ends = [sum(getattr(t, end) for t in terms.values()) for end in ("low", "expected", "high")]
    return MemoryTerms({k: v for k, v in terms.items() if v.high > 0}, Range(*ends))


def _between(value: float, spread: Quantity) -> Range:
    return Range(value * spread.low, value * spread.expected, value * spread.high)


def _states(run: TrainingRun, reference: Reference) -> dict[str, float]:
    """Return bytes of weights, gradients and optimizer states one device holds."""
    numerics, parallelism = run.numerics, run.parallelism
    precision = reference.precisions[numerics.precision]
    split = parallelism.tp * parallelism.pp
    dp = parallelism.dp
    if isinstance(run.model, SampleModel):
        params = shared = trainable = float(run.model.params_total)
        frozen_bytes, largest = 0.0, params / 10
    else:
        counts = count_parameters(run.model)
        routed = counts.expert
        params = (counts.total - routed) / split + routed / (split * parallelism.ep)
        shared = float(trainable_parameters(run, run.model)) / split
        trainable = min(shared, params)
        frozen_bytes = 0.0
        largest = 2 * (counts.total - counts.embedding) / run.model.n_layers / parallelism.tp
        if numerics.method in ("lora", "qlora"):
            frozen_bytes = _frozen_bytes(run, run.model, reference) / split
    moments = reference.optimizers[numerics.optimizer]
    moment_bytes = (
        moments.moment_bytes_16bit
        if numerics.precision == "bf16-true"
        else moments.moment_bytes_fp32
    )
    gradient_bytes = 4.0 if numerics.gradient_dtype == "fp32" else precision.gradient_bytes
    weights = (
        trainable * precision.weight_bytes
        if not frozen_bytes
        else (frozen_bytes + trainable * precision.weight_bytes)
    )
    gradients = trainable * gradient_bytes
    optimizer = trainable * (precision.master_bytes + moment_bytes)
    gathered = 0.0
    sharding = parallelism.sharding
    # Expert-parallel ranks are data-parallel ones: their experts are not divided a second time.
    part = shared / trainable / dp
    if sharding in ("zero1", "zero2", "zero3", "fsdp"):
        optimizer *= part
    if sharding in ("zero2", "zero3", "fsdp"):
        gradients *= part
    if sharding in ("zero3", "fsdp") and dp > 1:
        weights *= part
        gathered = largest * precision.weight_bytes
    if numerics.offload != "none":
        optimizer = 0.0
    if numerics.offload == "parameters":
        weights, gathered = 0.0, largest * precision.weight_bytes
    return {
        "weights": weights,
        "gradients": gradients,
        "optimizer states": optimizer,
        "gathered weights": gathered,
    }


def _frozen_bytes(run: TrainingRun, model: Architecture, reference: Reference) -> float:
    """Return bytes of the frozen weights; embeddings, head and norms stay in 16 bit."""
    counts = count_parameters(model)
    quantised = counts.total - counts.embedding - counts.head
    per_weight = {
        "nf4": reference.value("nf4_bytes"),
        "fp4": reference.value("nf4_bytes"),
        "int8": reference.value("int8_bytes"),
    }.get(run.numerics.quantization, 2.0)
    if run.numerics.method == "lora" and run.numerics.precision in ("fp32", "tf32"):
        per_weight = 4.0
    return quantised * per_weight + (counts.total - quantised) * max(2.0, per_weight)


def _activations(run: TrainingRun, model: Architecture) -> tuple[float, float]:
    """Return bytes stored for the backward pass, and of the one layer alive during recompute."""
    numerics, parallelism = run.numerics, run.parallelism
    seq_len = run.data.seq_len or 1
    tokens = run.batch.micro_batch_size * seq_len / parallelism.cp
    width = 2.0 if numerics.precision in ("fp32", "tf32") else 1.0
    d = model.d_model
    in_flight = min(parallelism.pp, run.batch.grad_accum_steps)
    store = 0.0
    live = 0.0
    for group in layer_groups(model):
        q = group.attention_qk_width
        kv = model.n_kv_heads * model.head_dim
        # Korthikanti's 34 = 10 + 4·q/d + 4·kv/d·… with f = 4d; a gate adds one f-wide tensor.
        per_token = 10 * d + 4 * q + 4 * kv + (6 if model.glu else 4) * group.ffn_width
        full_layer = tokens * per_token * width / parallelism.tp
        if numerics.attention == "eager" and numerics.activation_checkpointing == "none":
            keys = seq_len
            full_layer += 5.0 * group.n_heads * keys * tokens * width / parallelism.tp
        if numerics.activation_checkpointing == "full":
            store += tokens * d * 2.0 * width * group.count / parallelism.tp
            live = max(live, full_layer)
        else:
            store += full_layer * group.count
    return store / parallelism.pp * in_flight, live


def _logits(run: TrainingRun, reference: Reference) -> Range:
    """Return the logits alive at the loss: one 16-bit copy and a few in fp32."""
    head = head_matmul(run.model) if isinstance(run.model, Architecture) else None
    if head is None:
        return Range.exact(0.0)
    seq_len = run.data.seq_len or 1
    logits = run.batch.micro_batch_size * seq_len * head.calls * head.d_out / run.parallelism.tp
    logits /= run.parallelism.cp
    fused = run.numerics.fused_loss
    copies = reference.quantity("logit_copies_fused" if fused else "logit_copies_fp32")
    half = 0.0 if fused else 2.0
    ends = ((half + 4.0 * c) * logits / GIB for c in (copies.low, copies.expected, copies.high))
    return Range(*ends)


def _sample_activations(run: TrainingRun, model: SampleModel, reference: Reference) -> float:
    if model.activations_per_sample is None:
        return 0.0
    stored = model.activations_per_sample * reference.value("sample_bytes_stored")
    if run.numerics.precision in ("fp32", "tf32"):
        stored *= 2
    if run.numerics.activation_checkpointing == "full":
        stored /= 4
    return stored * run.batch.micro_batch_size
