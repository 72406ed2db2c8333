"""Bytes of weights, gradients and optimizer states one device holds.

Mixed precision and its stages of sharding follow ZeRO (Rajbhandari et al. 2020,
arXiv:1910.02054 §3 and §5); quantised weights QLoRA (Dettmers et al. 2023, arXiv:2305.14314 §3).
"""

from dataclasses import dataclass

from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.estimation.ranges import Range, times
from compute_budget_planner.estimation.step_time import trainable_parameters
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import Architecture, SampleModel
from compute_budget_planner.workload.run import TrainingRun

_REDUCED_BYTES = 4.0
"""Gradients that wait for the last micro-batch are added up in 32 bit."""

_GATHERED_LAYERS = 2
"""Layers whose shards are together: one at work, the next on its way."""


@dataclass(frozen=True)
class States:
    """Bytes one device holds, by what they are.

    `weights` and `optimizer` are there all the time, `gathered` (shards put together for the
    layers at work) during the passes, `buckets` (a second copy of the gradients) under data
    parallelism, `upcast` where a wrapper keeps states in more bytes than the precision says.
    `gradients` are there all the time when `keeps_gradients`, else from the backward pass to the
    optimizer step, which itself needs `step` for a moment.
    """

    weights: float
    gradients: float
    optimizer: float
    gathered: float
    buckets: Range
    upcast: Range
    step: Range
    keeps_gradients: bool


def memory_states(run: TrainingRun, reference: Reference) -> States:
    """Return the states of a run on one device, in bytes."""
    numerics, parallelism = run.numerics, run.parallelism
    precision = reference.precisions[numerics.precision]
    gradient_bytes = 4.0 if numerics.gradient_dtype == "fp32" else precision.gradient_bytes
    held, trainable, shared = _parameters(run)
    # Expert-parallel ranks are data-parallel ones: their experts are not divided a second time.
    # Ranks that share a sequence hold the same weights, so that shards are spread over them too.
    ranks = parallelism.dp * parallelism.cp
    part = shared / trainable / ranks
    moments = reference.optimizers[numerics.optimizer]
    pure = numerics.precision == "bf16-true"
    moment_bytes = moments.moment_bytes_16bit if pure else moments.moment_bytes_fp32

    frozen = 0.0
    if numerics.trains_adapters and isinstance(run.model, Architecture):
        frozen = _frozen_bytes(run, run.model, reference)
    weights = frozen + trainable * precision.weight_bytes
    gradients = trainable * gradient_bytes
    optimizer = trainable * (precision.master_bytes + moment_bytes)
    # Optimizers that keep no whole moment have no temporary as large as one.
    temporary = trainable * (2.0 if pure else 4.0) if moment_bytes >= 2.0 else 0.0
    buckets = gradients if parallelism.sharding == "ddp" and ranks > 1 else 0.0
    gathered = 0.0
    sharded = shards_weights(run)
    if sharded or parallelism.sharding in ("zero1", "zero2"):
        optimizer, temporary = optimizer * part, temporary * part
    if sharded or parallelism.sharding == "zero2":
        gradients *= part
    if sharded or numerics.offload == "parameters":
        gathered = _gathered(run, weights, held, gradient_bytes)
    if sharded:
        weights *= part
    if numerics.offload != "none":
        optimizer = temporary = 0.0
    if numerics.offload == "parameters":
        weights = gradients = 0.0
    upcast = Range.exact(0.0)
    if sharded and pure and numerics.method in ("pretrain", "full-ft"):
        upcast = times(reference.quantity("sharded_upcast"), weights + optimizer + gradients)
    return States(
        weights=weights,
        gradients=gradients,
        optimizer=optimizer,
        gathered=gathered,
        buckets=times(reference.quantity("gradient_bucket_copies"), buckets),
        upcast=upcast,
        step=times(reference.quantity("optimizer_step_copies"), temporary),
        keeps_gradients=_keeps_gradients(run),
    )


def shards_weights(run: TrainingRun) -> bool:
    """Tell whether each rank holds only its part of the weights."""
    ranks = run.parallelism.dp * run.parallelism.cp
    return run.parallelism.sharding in ("fsdp", "zero3") and ranks > 1


def _parameters(run: TrainingRun) -> tuple[float, float, float]:
    """Return parameters of one device before sharding: all, trainable, and as if without ep.

    The last is what the data-parallel ranks divide: expert-parallel ranks are among them.
    """
    split = run.parallelism.tp * run.parallelism.pp
    if isinstance(run.model, SampleModel):
        params = float(run.model.params_total)
        return params, params, params
    counts = count_parameters(run.model)
    held = (counts.total - counts.expert) / split + counts.expert / (split * run.parallelism.ep)
    shared = float(trainable_parameters(run, run.model)) / split
    return held, min(shared, held), shared


def _frozen_bytes(run: TrainingRun, model: Architecture, reference: Reference) -> float:
    """Return bytes of the frozen weights; embeddings, head and norms stay in 16 bit."""
    counts = count_parameters(model)
    quantised = counts.total - counts.embedding - counts.head
    per_weight = {
        "nf4": reference.value("nf4_bytes"),
        "fp4": reference.value("nf4_bytes"),
        "int8": reference.value("int8_bytes"),
    }.get(run.numerics.quantization, 2.0)
    precision = reference.precisions[run.numerics.precision]
    if run.numerics.method == "lora" and precision.is_32bit:
        per_weight = precision.weight_bytes
    size = quantised * per_weight + (counts.total - quantised) * max(2.0, per_weight)
    return size / (run.parallelism.tp * run.parallelism.pp)


def _gathered(run: TrainingRun, weights: float, held: float, gradient_bytes: float) -> float:
    """Return bytes of the shards that are together at a time.

    Embedding and head are gathered as one unit for the whole pass, layers one after another with
    the next prefetched, and one layer has its whole gradient before it is scattered. Pipeline
    stages keep all their weights and gradients together from the first micro-batch to the last.
    """
    if isinstance(run.model, SampleModel):
        return weights / 5
    trained = not run.numerics.trains_adapters
    if run.parallelism.pp > 1:
        return weights + (held * _REDUCED_BYTES if trained else 0.0)
    counts = count_parameters(run.model)
    outside = counts.embedding + counts.head
    per_layer = 1.0 / run.model.n_layers
    # Under QLoRA the layers are the quantised part; 16-bit embeddings are taken out first.
    root = 2.0 * outside / run.parallelism.tp
    layer = max(0.0, weights - root) * per_layer
    scattered = held * per_layer * gradient_bytes if trained else 0.0
    return root + _GATHERED_LAYERS * layer + scattered


def _keeps_gradients(run: TrainingRun) -> bool:
    """Tell whether gradients outlive the optimizer step.

    PyTorch frees them (`zero_grad(set_to_none=True)`, the default since 2.0); they stay while
    micro-steps accumulate, and in the buffers of data-parallel wrappers, ZeRO and Megatron.
    """
    return (
        run.batch.grad_accum_steps > 1
        or run.parallelism.sharding in ("ddp", "zero1", "zero2", "zero3")
        or run.numerics.framework_class.name == "megatron"
    )
