"""The shape of a model: what its parameters, FLOPs and activations follow from."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LatentAttention:
    """Multi-head latent attention of DeepSeek (arXiv:2405.04434 §2.1): widths and ranks."""

    q_lora_rank: int | None
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int


@dataclass(frozen=True)
class Experts:
    """Mixture-of-experts part: routed and shared experts, and which layers have them."""

    n_experts: int
    experts_per_token: int
    moe_d_ff: int
    shared_expert_d_ff: int
    shared_expert_gate: bool
    n_dense_layers: int
    moe_every: int
    router_bias: bool = False


@dataclass(frozen=True)
class Architecture:
    """A transformer. Widths in elements; `max_positions` 0 means no learned position table.

    `vocab_size` is 0 for models that see patches. `qk_norm` normalises each head, with
    `qk_norm_full_width` all heads at once. One layer in `full_attention_every` sees every key
    although `sliding_window` is set (0: none does). `num_classes` > 0 puts a classification
    head in the place of the language-model head.
    """

    family: str
    n_layers: int
    d_model: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    d_ff: int
    glu: bool
    vocab_size: int
    tied_embeddings: bool
    causal: bool
    max_positions: int = 0
    token_types: int = 0
    qkv_bias: bool = False
    attention_out_bias: bool = False
    mlp_bias: bool = False
    head_bias: bool = False
    attention_sinks: bool = False
    qk_norm: bool = False
    qk_norm_full_width: bool = False
    norm_bias: bool = False
    norms_per_layer: int = 2
    final_norm: bool = True
    embedding_norm: bool = False
    pooler: bool = False
    sliding_window: int | None = None
    full_attention_every: int = 0
    patch_size: int | None = None
    image_size: int | None = None
    n_channels: int = 3
    num_classes: int = 0
    mtp_layers: int = 0
    experts: Experts | None = None
    latent: LatentAttention | None = None


@dataclass(frozen=True)
class SampleModel:
    """A model known only by what one sample costs: vision, diffusion, anything else.

    `flops_per_sample_forward` = 2 × multiply-adds; `activations_per_sample` counts the forward
    elements one sample leaves behind (None: unknown).
    """

    family: str
    params_total: int
    flops_per_sample_forward: float
    activations_per_sample: float | None
    image_size: int | None
    num_classes: int = 0
