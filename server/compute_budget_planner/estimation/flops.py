"""FLOPs per token and per sample; multiply-add = 2, and the convention is always said."""

from dataclasses import dataclass

from compute_budget_planner.estimation.matmuls import (
    AttentionConvention,
    head_matmul,
    image_tokens,
    layer_groups,
    patch_matmul,
)
from compute_budget_planner.estimation.parameters import adapter_flops_per_token
from compute_budget_planner.workload.architecture import Architecture, SampleModel

__all__ = [
    "AttentionConvention",
    "ForwardFlops",
    "TrainingFlops",
    "flops_per_token_forward",
    "training_flops_per_sample",
    "training_flops_per_token",
]


@dataclass(frozen=True)
class ForwardFlops:
    """Forward FLOPs per token by part.

    `attention` is scores and values only, `mlp` includes routers and shared experts, `head` the
    output head and, for images, the patch projection.
    """

    projections: float
    attention: float
    mlp: float
    head: float
    convention: AttentionConvention

    @property
    def layers(self) -> float:
        """FLOPs of the layers, without head."""
        return self.projections + self.attention + self.mlp

    @property
    def total(self) -> float:
        """FLOPs of the whole model."""
        return self.layers + self.head


@dataclass(frozen=True)
class TrainingFlops:
    """FLOPs of one token (or sample) in training, and how they were counted.

    `forward` and `backward` are model FLOPs, the numerator of MFU; with `recompute` they are
    hardware FLOPs, the numerator of HFU. `convention` states all this in words.
    """

    forward: float
    backward: float
    recompute: float
    convention: str

    @property
    def model(self) -> float:
        """Model FLOPs: what MFU counts."""
        return self.forward + self.backward

    @property
    def hardware(self) -> float:
        """Model FLOPs and what is computed again."""
        return self.model + self.recompute


def flops_per_token_forward(
    arch: Architecture,
    seq_len: int,
    convention: AttentionConvention = AttentionConvention.CAUSAL,
) -> ForwardFlops:
    """Return the forward FLOPs per token in sequences of `seq_len` tokens.

    Projections and feed-forward part: 2·d_in·d_out per matmul; scores and values:
    2·keys·(query width + value width) per layer (PaLM, arXiv:2204.02311 appendix B, with the
    keys of the convention). An embedding look-up costs nothing.
    """
    projections = attention = mlp = 0.0
    for group in layer_groups(arch):
        projections += group.count * sum(m.flops_per_token for m in group.attention)
        mlp += group.count * sum(m.flops_per_token for m in group.mlp)
        attention += group.count * group.attention_flops_per_token(seq_len, convention)
    ends = (head_matmul(arch), patch_matmul(arch))
    head = sum(m.flops_per_token for m in ends if m is not None)
    if arch.num_classes:
        tokens = seq_len if arch.patch_size is None else image_tokens(arch)
        head += 2.0 * arch.d_model * arch.num_classes / tokens
    return ForwardFlops(projections, attention, mlp, head, convention)


def training_flops_per_token(
    arch: Architecture,
    seq_len: int,
    convention: AttentionConvention = AttentionConvention.CAUSAL,
    *,
    activation_checkpointing: str = "none",
    lora_rank: int = 0,
) -> TrainingFlops:
    """Return the FLOPs of forward, backward and recomputation per token.

    Backward is twice forward. With LoRA frozen weights have no weight gradient: forward and
    input gradient, 4·N, adapters 6·N_lora, attention as ever. `full` checkpointing repeats the
    forward pass of the layers, `selective` that of scores and values (arXiv:2205.05198 §5).
    """
    forward = flops_per_token_forward(arch, seq_len, convention)
    adapters = adapter_flops_per_token(arch, lora_rank) if lora_rank else 0.0
    frozen = forward.projections + forward.mlp + forward.head
    backward = (1 if lora_rank else 2) * frozen + 2 * (forward.attention + adapters)
    again = {
        "none": 0.0,
        "selective": forward.attention,
        "full": forward.layers + adapters,
    }[activation_checkpointing]
    words = _words(activation_checkpointing, lora_rank)
    return TrainingFlops(
        forward.total + adapters,
        backward,
        again,
        f"{convention.value} attention, head counted, embedding look-up not, {words}",
    )


def training_flops_per_sample(
    model: SampleModel, *, activation_checkpointing: str = "none", lora_rank: int = 0
) -> TrainingFlops:
    """Return the FLOPs of one sample: 3 × forward, 2 × when the weights are frozen.

    Adapters of a model without a known shape are too small to be counted.
    """
    forward = model.flops_per_sample_forward
    again = forward if activation_checkpointing == "full" else 0.0
    words = _words(activation_checkpointing, lora_rank)
    return TrainingFlops(
        forward,
        forward * (1 if lora_rank else 2),
        again,
        f"2 × multiply-adds per sample, {words}",
    )


def _words(activation_checkpointing: str, lora_rank: int) -> str:
    frozen = "frozen weights without weight gradient" if lora_rank else "backward 2 × forward"
    if activation_checkpointing == "none":
        return frozen
    return f"{frozen}, recomputation ({activation_checkpointing}) in hardware FLOPs only"
