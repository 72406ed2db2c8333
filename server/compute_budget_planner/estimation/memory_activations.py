"""Bytes of activations: what every layer stores, what one live layer needs, what the loss holds.

Tensors are counted as autograd saves them, after Korthikanti et al. 2022 (arXiv:2205.05198,
equations 1 to 4), in the general form for grouped queries, gated feed-forward parts and experts.
"""

from dataclasses import dataclass

from compute_budget_planner.estimation.matmuls import LayerGroup, head_matmul, layer_groups
from compute_budget_planner.estimation.memory_states import shards_weights
from compute_budget_planner.estimation.ranges import Range, times
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import Architecture, SampleModel
from compute_budget_planner.workload.run import TrainingRun

_FUSED_CLASSES = {"megatron", "fused-finetuning"}


@dataclass(frozen=True)
class Activations:
    """Bytes on one device: of all layers together, of the one that is alive, of the logits.

    `stored` waits for the backward pass; `live` is what the backward pass of one layer adds to
    it: the recomputed layer where layers are recomputed, and gradients. `logits` stand at the
    loss, when all is stored and nothing is alive yet.
    """

    stored: Range
    live: Range
    logits: Range


def activations(run: TrainingRun, model: Architecture, reference: Reference) -> Activations:
    """Return the activations of a transformer in bytes."""
    kind = run.numerics.activation_checkpointing
    tokens = run.batch.micro_batch_size * (run.data.seq_len or 1) / run.parallelism.cp
    # The formulas of Korthikanti et al. count 16-bit activations.
    width = reference.precisions[run.numerics.precision].activation_bytes / 2
    scale = tokens * width / run.parallelism.tp
    residual = _residual_bytes(run, reference)
    stored, live = 0.0, 0.0
    for group in layer_groups(model):
        whole = _layer_bytes(run, model, group)
        kept = {
            "full": residual.expected * model.d_model,
            "selective": _selective_bytes(run, model, group),
        }.get(kind, whole)
        again = whole if kind == "full" else max(0.0, whole - kept)
        stored += group.count * kept * scale
        live = max(live, (again + _gradient_bytes(model, group)) * scale)
    if run.parallelism.tp > 1:
        # Tensor-parallel ranks gather the input of attention and of the feed-forward part whole.
        live += 2 * 2.0 * model.d_model * tokens * width
    in_flight = min(run.parallelism.pp, run.batch.grad_accum_steps)
    stored *= in_flight / run.parallelism.pp
    name = "selective_spread" if kind == "selective" else "activation_spread"
    waiting = times(reference.quantity(name), stored)
    if kind == "full":
        least = min(waiting.low, stored * residual.low / residual.expected)
        waiting = Range(least, waiting.expected, waiting.high)
    spread = reference.quantity("activation_spread")
    return Activations(waiting, times(spread, live), _logits(run, model, reference))


def sample_activations(run: TrainingRun, model: SampleModel, reference: Reference) -> Activations:
    """Return the activations of a model counted per sample, in bytes."""
    stored = (model.activations_per_sample or 0.0) * reference.value("sample_bytes_stored")
    stored *= reference.precisions[run.numerics.precision].activation_bytes / 2
    if run.numerics.activation_checkpointing == "full":
        stored /= 4
    nothing = Range.exact(0.0)
    stored *= run.batch.micro_batch_size
    return Activations(times(reference.quantity("activation_spread"), stored), nothing, nothing)


def fused_kernels(run: TrainingRun) -> bool:
    """Tell whether norms and gates run as one kernel each and store only their inputs."""
    return run.numerics.compile or run.numerics.framework_class.name in _FUSED_CLASSES


def _layer_bytes(run: TrainingRun, model: Architecture, group: LayerGroup) -> float:
    """Return bytes one layer stores per token at 16 bit when nothing is recomputed.

    With q = d, f = 4d and neither gate nor grouping this is the published 34·d. Unfused norms
    keep a 32-bit copy of their input, an unfused gate its activation, and grouped keys and
    values are repeated for every query head.
    """
    d, q = model.d_model, group.attention_qk_width
    kv = model.n_kv_heads * model.head_dim if model.latent is None else q
    size = 10.0 * d + 4.0 * q + 4.0 * kv + (6.0 if model.glu else 4.0) * group.ffn_width
    if not fused_kernels(run):
        size += 4.0 * model.norms_per_layer * d + 4.0 * (q - kv)
        size += 2.0 * group.ffn_width if model.glu else 0.0
    if group.moe and model.experts is not None:
        # Tokens are copied to their experts and back.
        size += 4.0 * model.experts.experts_per_token * d
    if run.numerics.trains_adapters:
        size += 2.0 * run.numerics.lora_rank * sum(m.calls * m.share for m in group.matmuls)
    if run.numerics.attention == "eager" and run.numerics.activation_checkpointing == "none":
        size += 5.0 * group.n_heads * (run.data.seq_len or 1)
    return size


def _selective_bytes(run: TrainingRun, model: Architecture, group: LayerGroup) -> float:
    """Return bytes one layer stores per token with selective checkpointing, at 16 bit.

    Megatron recomputes the attention core alone. PyTorch's per-operation policy (torchtitan)
    stores the layer's input, the result of attention and every second matmul.
    """
    if run.numerics.framework_class.name in ("megatron", "eager-legacy"):
        return _layer_bytes(run, model, group)
    d, q = model.d_model, group.attention_qk_width
    kv = model.n_kv_heads * model.head_dim if model.latent is None else q
    matmuls = q + 2.0 * kv + 2.0 * d + (2.0 if model.glu else 1.0) * group.ffn_width
    return 2.0 * d + 2.0 * q + 2.0 * matmuls / 2


def _gradient_bytes(model: Architecture, group: LayerGroup) -> float:
    """Return bytes per token of the gradients alive together in one layer, at 16 bit."""
    return 4.0 * model.d_model + (4.0 if model.glu else 2.0) * group.ffn_width


def _residual_bytes(run: TrainingRun, reference: Reference) -> Range:
    """Return bytes a recomputed layer keeps of its input, per element.

    Adapters beside frozen weights often leave the residual stream in 32 bit: FSDP wrappers keep
    small parameters in fp32, and PEFT turns norms and embeddings of a quantised model to fp32.
    """
    numerics = run.numerics
    precision = reference.precisions[numerics.precision]
    if not numerics.trains_adapters or precision.is_32bit:
        return Range.exact(2.0)
    if shards_weights(run):
        return times(reference.quantity("residual_bytes_sharded_adapters"), 1.0)
    if numerics.method == "qlora" and not fused_kernels(run):
        return times(reference.quantity("residual_bytes_quantised"), 1.0)
    return Range.exact(2.0)


def _logits(run: TrainingRun, model: Architecture, reference: Reference) -> Range:
    """Return the logits alive at the loss: one 16-bit copy and a few in fp32."""
    head = head_matmul(model)
    if head is None:
        return Range.exact(0.0)
    tokens = run.batch.micro_batch_size * (run.data.seq_len or 1) / run.parallelism.cp
    logits = tokens * head.calls * head.d_out / run.parallelism.tp
    numerics = run.numerics
    if numerics.fused_loss:
        copies, half = reference.quantity("logit_copies_fused"), 0.0
    elif numerics.framework_class.name in _FUSED_CLASSES:
        copies, half = reference.quantity("logit_copies_kernel"), 2.0
    elif numerics.compile:
        copies, half = reference.quantity("logit_copies_compiled"), 2.0
    else:
        copies, half = reference.quantity("logit_copies_fp32"), 2.0
    return times(copies, 4.0 * logits).plus(Range.exact(half * logits))
