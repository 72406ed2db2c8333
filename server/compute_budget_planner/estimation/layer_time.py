"""Device time of the layers of one micro-step: matmuls, attention, memory-bound work, launches.

Times are per micro-batch of `tokens` tokens on one rank, in seconds.
"""

from dataclasses import dataclass

from compute_budget_planner.estimation.device_rate import DeviceRate
from compute_budget_planner.estimation.matmuls import AttentionConvention, LayerGroup, Matmul
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import Numerics, TrainingRun


@dataclass(frozen=True)
class LayerTime:
    """Seconds of one layer, forward and backward and recomputed, by what bounds them."""

    matmul: float
    attention: float
    memory: float
    dequantise: float
    launch: float


def matmul_forward_seconds(matmul: Matmul, tokens: float, tp: int, rate: DeviceRate) -> float:
    """Return forward seconds of one kind of matmul of one layer, its width split over `tp`."""
    tokens_per_call = tokens * matmul.share
    # Column-parallel where the matmul widens, row-parallel where it narrows.
    narrows = matmul.d_in > matmul.d_out
    d_in, d_out = matmul.d_in / (tp if narrows else 1), matmul.d_out / (1 if narrows else tp)
    flops = 2.0 * tokens_per_call * d_in * d_out * matmul.calls
    return flops / rate.matmul_flops(tokens_per_call, d_in, d_out)


def backward_factor(numerics: Numerics) -> float:
    """Return backward over forward matmul time: 2, or 1 when weights are frozen (LoRA ≈ 4N)."""
    return 1.0 if numerics.method in ("lora", "qlora") else 2.0


def recompute_factor(numerics: Numerics, reference: Reference) -> float:
    """Return recomputed over forward work: 1 for full checkpointing, little for selective."""
    if numerics.activation_checkpointing == "full":
        return 1.0
    if numerics.activation_checkpointing == "selective":
        return reference.value("selective_recompute")
    return 0.0


def layer_time(
    group: LayerGroup,
    run: TrainingRun,
    model: Architecture,
    tokens: float,
    seq_len: int,
    rate: DeviceRate,
    reference: Reference,
) -> LayerTime:
    """Return the time of one layer of a group for one micro-step of one rank."""
    numerics, tp = run.numerics, run.parallelism.tp
    forward = sum(matmul_forward_seconds(m, tokens, tp, rate) for m in group.matmuls)
    recompute = recompute_factor(numerics, reference)
    imbalance = reference.value("moe_imbalance") if group.moe else 1.0
    matmul = forward * imbalance * (1 + backward_factor(numerics) + recompute)
    attention, score_bytes = _attention(group, run, model, tokens, seq_len, rate, reference)
    moved = _elementwise_bytes(model, group, tokens / tp, run, reference)
    dequantise = 0.0
    if numerics.method == "qlora":
        weights = sum(m.d_in * m.d_out * m.calls for m in group.matmuls) / tp
        passes = 2 + (1 if recompute == 1.0 else 0)
        dequantise = (
            weights * reference.value("nf4_dequantise_bytes") * passes / rate.bytes_per_second
        )
    return LayerTime(
        matmul=matmul,
        attention=attention,
        memory=(moved * (1 + recompute / 3) + score_bytes) / rate.bytes_per_second,
        dequantise=dequantise,
        launch=_launch_seconds(group, numerics, recompute, reference),
    )


def _attention(
    group: LayerGroup,
    run: TrainingRun,
    model: Architecture,
    tokens: float,
    seq_len: int,
    rate: DeviceRate,
    reference: Reference,
) -> tuple[float, float]:
    """Return seconds of the attention core and the bytes of scores it writes."""
    heads_width = (group.attention_qk_width + group.attention_v_width) / run.parallelism.tp
    full_recompute = run.numerics.activation_checkpointing == "full"
    if run.numerics.attention == "eager":
        # Every score is computed, the causal half included, and written to memory.
        all_keys = group.keys(seq_len, AttentionConvention.FULL)
        flops = 2.0 * tokens * heads_width * all_keys * (4 if full_recompute else 3)
        scores = tokens * all_keys * group.n_heads / run.parallelism.tp
        return flops / (rate.achievable_flops * 0.5), scores * reference.value("eager_score_bytes")
    # FlashAttention recomputes scores in its backward pass: 3.5 × forward in all.
    keys = group.keys(seq_len)
    passes = 3.5 + (1.0 if full_recompute else 0.0)
    return 2.0 * tokens * heads_width * keys * passes / rate.attention_flops, 0.0


def _elementwise_bytes(
    model: Architecture, group: LayerGroup, tokens: float, run: TrainingRun, reference: Reference
) -> float:
    """Return bytes of norms, residuals, rotary embedding and activation, forward and backward."""
    d, width = model.d_model, group.ffn_width
    forward = 4 * d + 6 * d + 2 * (group.attention_qk_width + 2 * model.n_kv_heads * model.head_dim)
    forward += (3 if model.glu else 2) * width
    element_bytes = 4.0 if run.numerics.precision in ("fp32", "tf32") else 2.0
    traffic = run.numerics.framework_class.traffic
    if run.numerics.compile:
        traffic = max(1.0, traffic * reference.value("compile_traffic"))
    if run.numerics.precision == "fp8":
        forward += 2 * (d + width)
    return 3.0 * forward * tokens * element_bytes * traffic


def _launch_seconds(
    group: LayerGroup, numerics: Numerics, recompute: float, reference: Reference
) -> float:
    kernels = reference.value("kernels_per_layer")
    if numerics.method in ("lora", "qlora"):
        kernels += reference.value("kernels_lora")
    if numerics.method == "qlora":
        kernels += reference.value("kernels_qlora")
    if group.moe:
        kernels += reference.value("kernels_moe")
    if numerics.precision == "fp8":
        kernels += reference.value("kernels_fp8")
    if numerics.attention == "eager":
        kernels += reference.value("kernels_eager_attention")
    launch = numerics.framework_class.launch_us * 1e-6
    if numerics.compile:
        launch *= reference.value("compile_launch")
    passes = 1.0 + reference.value("backward_passes") + (1.0 if recompute == 1.0 else 0.0)
    return kernels * passes * launch
