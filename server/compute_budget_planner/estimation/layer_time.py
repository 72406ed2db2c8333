"""Device time of the layers of one micro-step: matmuls, attention, memory-bound work, launches.

Times are per micro-batch on one rank, in seconds.
"""

from dataclasses import dataclass

from compute_budget_planner.estimation.device_rate import DeviceRate
from compute_budget_planner.estimation.matmuls import AttentionConvention, LayerGroup, Matmul
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import Numerics, TrainingRun


@dataclass(frozen=True)
class MicroStep:
    """One forward and backward pass of one rank: `tokens` of sequences of `seq_len` tokens."""

    run: TrainingRun
    model: Architecture
    tokens: float
    seq_len: int
    rate: DeviceRate
    reference: Reference


@dataclass(frozen=True)
class LayerTime:
    """Seconds of a layer, or of all, by what bounds them; recomputation included."""

    matmul: float
    attention: float
    memory: float
    dequantise: float
    launch: float

    def plus(self, other: "LayerTime", times: float) -> "LayerTime":
        """Return the sum with another layer taken `times` over."""
        return LayerTime(
            self.matmul + times * other.matmul,
            self.attention + times * other.attention,
            self.memory + times * other.memory,
            self.dequantise + times * other.dequantise,
            self.launch + times * other.launch,
        )


def matmul_forward_seconds(
    matmul: Matmul, tokens: float, tp: int, rate: DeviceRate, ep: int = 1
) -> float:
    """Return forward seconds of one kind of matmul of one layer, its width split over `tp`.

    Expert parallelism gathers the tokens of `ep` ranks in each expert, so a rank runs fewer and
    larger matmuls: the same FLOPs at a better shape.
    """
    tokens_per_call = tokens * matmul.share
    tokens_together = tokens_per_call * (ep if matmul.share < 1 else 1)
    # Column-parallel where the matmul widens, row-parallel where it narrows.
    narrows = matmul.d_in > matmul.d_out
    d_in, d_out = matmul.d_in / (tp if narrows else 1), matmul.d_out / (1 if narrows else tp)
    flops = 2.0 * tokens_per_call * d_in * d_out * matmul.calls
    return flops / rate.matmul_flops(tokens_together, d_in, d_out)


def backward_factor(numerics: Numerics) -> float:
    """Return backward over forward matmul time: 2, or 1 when weights are frozen (LoRA ≈ 4N)."""
    return 1.0 if numerics.trains_adapters else 2.0


def recompute_factor(numerics: Numerics, reference: Reference) -> float:
    """Return recomputed over forward work: 1 for full checkpointing, a part for selective.

    Selective means two things: the attention core alone in Megatron-like software (nearly
    nothing behind a fused kernel), every second matmul and all between in PyTorch.
    """
    if numerics.activation_checkpointing == "full":
        return 1.0
    if numerics.activation_checkpointing == "selective":
        core_alone = numerics.framework_class.name in ("megatron", "eager-legacy")
        return reference.value("selective_recompute" if core_alone else "selective_op_recompute")
    return 0.0


def layer_time(group: LayerGroup, micro: MicroStep) -> LayerTime:
    """Return the time of one layer of a group for one micro-step of one rank."""
    numerics, reference = micro.run.numerics, micro.reference
    tp, ep = micro.run.parallelism.tp, micro.run.parallelism.ep
    recompute = recompute_factor(numerics, reference)
    forward = sum(
        matmul_forward_seconds(m, micro.tokens, tp, micro.rate, ep) for m in group.matmuls
    )
    imbalance = reference.value("moe_imbalance") if group.moe else 1.0
    attention, score_bytes = _attention(group, micro)
    moved = _elementwise_bytes(group, micro) * (1 + recompute / 3) + score_bytes
    return LayerTime(
        matmul=forward * imbalance * (1 + backward_factor(numerics) + recompute),
        attention=attention,
        memory=moved / micro.rate.bytes_per_second,
        dequantise=_dequantise_bytes(group, micro, recompute) / micro.rate.bytes_per_second,
        launch=_launch_seconds(group, numerics, recompute, reference),
    )


def _attention(group: LayerGroup, micro: MicroStep) -> tuple[float, float]:
    """Return seconds of the attention core and the bytes of scores it writes."""
    numerics, tp = micro.run.numerics, micro.run.parallelism.tp
    widths = (group.attention_qk_width + group.attention_v_width) / tp
    recomputes = numerics.activation_checkpointing == "full"
    if numerics.attention == "eager":
        # Every score is computed, the causal half included, and written to memory.
        keys = group.keys(micro.seq_len, AttentionConvention.FULL)
        flops = 2.0 * micro.tokens * widths * keys * (4 if recomputes else 3)
        scores = micro.tokens * keys * group.n_heads / tp
        seconds = flops / (micro.rate.achievable_flops * 0.5)
        return seconds, scores * micro.reference.value("eager_score_bytes")
    # FlashAttention recomputes scores in its backward pass: 3.5 × forward in all.
    passes = 3.5 + (1.0 if recomputes else 0.0)
    flops = 2.0 * micro.tokens * widths * group.keys(micro.seq_len) * passes
    return flops / (micro.rate.attention_flops * _kernel_speed(micro)), 0.0


def _kernel_speed(micro: MicroStep) -> float:
    """Return the speed of the attention kernels of a class over FlashAttention-2.

    On Hopper and later, cuDNN and FlashAttention-3 use what FlashAttention-2 leaves idle.
    """
    recent = micro.run.hardware.accelerator.generation in ("hopper", "blackwell")
    if recent and micro.run.numerics.framework_class.name == "megatron":
        return micro.reference.value("attention_recent_kernel")
    return 1.0


def _elementwise_bytes(group: LayerGroup, micro: MicroStep) -> float:
    """Return bytes of norms, residuals, rotary embedding and activation, forward and backward."""
    model, numerics = micro.model, micro.run.numerics
    norms_and_residuals = 10 * model.d_model
    rotated = 2 * (group.attention_qk_width + 2 * model.n_kv_heads * model.head_dim)
    activated = (3 if model.glu else 2) * group.ffn_width
    elements = float(norms_and_residuals + rotated + activated)
    if group.moe and model.experts is not None:
        # Tokens are copied into the order of their experts and back.
        elements += 4 * model.experts.experts_per_token * model.d_model
    if numerics.precision == "fp8":
        # Inputs and gradients of matmuls are scaled and cast, also transposed.
        elements += micro.reference.value("fp8_cast_elements") * (model.d_model + group.ffn_width)
    element_bytes = micro.reference.precisions[numerics.precision].activation_bytes
    traffic = numerics.framework_class.traffic
    if numerics.compile:
        fused = max(1.0, traffic * micro.reference.value("compile_traffic"))
        traffic = min(traffic, fused)
    moved = elements * traffic
    if numerics.trains_adapters:
        # Adapters read every input again and add to every output.
        moved += sum((m.d_in + m.d_out) * m.calls * m.share for m in group.matmuls)
    # The backward pass reads and writes about twice what the forward pass does.
    return 3.0 * moved * micro.tokens / micro.run.parallelism.tp * element_bytes


def _dequantise_bytes(group: LayerGroup, micro: MicroStep, recompute: float) -> float:
    if micro.run.numerics.method != "qlora":
        return 0.0
    weights = sum(m.weights for m in group.matmuls) / micro.run.parallelism.tp
    passes = 2 + (1 if recompute == 1.0 else 0)
    return weights * micro.reference.value("nf4_dequantise_bytes") * passes


def _launch_seconds(
    group: LayerGroup, numerics: Numerics, recompute: float, reference: Reference
) -> float:
    extra = {
        "kernels_lora": numerics.trains_adapters,
        "kernels_qlora": numerics.method == "qlora",
        "kernels_moe": group.moe,
        "kernels_fp8": numerics.precision == "fp8",
        "kernels_eager_attention": numerics.attention == "eager",
    }
    kernels = reference.value("kernels_per_layer")
    kernels += sum(reference.value(name) for name, present in extra.items() if present)
    launch = numerics.framework_class.launch_us * 1e-6
    if numerics.compile:
        launch *= reference.value("compile_launch")
    passes = 1.0 + reference.value("backward_passes") + (1.0 if recompute == 1.0 else 0.0)
    return kernels * passes * launch
