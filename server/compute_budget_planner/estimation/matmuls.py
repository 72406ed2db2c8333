"""The matrix multiplications of a model: what FLOPs, parameters and adapters all follow from."""

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from compute_budget_planner.workload.architecture import Architecture, Experts, LatentAttention


class AttentionConvention(StrEnum):
    """How many keys an attention FLOP count charges for a token of a sequence of s.

    `full`: s, windows ignored (PaLM, arXiv:2204.02311 appendix B). `window`: min(s, window).
    `causal`: the useful half, s/2, or w − w²/(2s) keys in a window of w.
    """

    FULL = "full"
    CAUSAL = "causal"
    WINDOW = "window"


@dataclass(frozen=True)
class Matmul:
    """One kind of matrix multiplication of one layer, `d_in` × `d_out` weights each.

    `calls` is how many there are; `share` is the tokens each sees over the tokens of the
    micro-batch: 1 when dense, experts_per_token / n_experts for a routed expert.
    """

    name: str
    d_in: int
    d_out: int
    calls: int = 1
    share: float = 1.0

    @property
    def weights(self) -> int:
        """Weights of all calls, biases not counted."""
        return self.d_in * self.d_out * self.calls

    @property
    def flops_per_token(self) -> float:
        """Forward FLOPs per token of the micro-batch (multiply-add = 2)."""
        return 2.0 * self.weights * self.share


@dataclass(frozen=True)
class LayerGroup:
    """`count` layers alike; widths are sums over all heads, in elements.

    `attention_qk_width` is the width of scores, `attention_v_width` that of values, `ffn_width`
    what one token sees of the feed-forward part (its experts together). `window` None: every
    key is seen. A multi-token-prediction layer is a group with `mtp` set.
    """

    count: int
    attention: tuple[Matmul, ...]
    mlp: tuple[Matmul, ...]
    n_heads: int
    attention_qk_width: int
    attention_v_width: int
    ffn_width: int
    window: int | None
    causal: bool
    moe: bool
    mtp: bool = False

    @property
    def matmuls(self) -> tuple[Matmul, ...]:
        """All matmuls of one layer."""
        return self.attention + self.mlp

    def keys(
        self, seq_len: float, convention: AttentionConvention = AttentionConvention.CAUSAL
    ) -> float:
        """Return the keys charged to one token, on average over a sequence of `seq_len`."""
        if convention is AttentionConvention.FULL:
            return seq_len
        seen = min(seq_len, self.window or seq_len)
        if convention is AttentionConvention.WINDOW or not self.causal:
            return seen
        return seen - seen * seen / (2 * seq_len)

    def attention_flops_per_token(
        self, seq_len: float, convention: AttentionConvention = AttentionConvention.CAUSAL
    ) -> float:
        """Return forward FLOPs of scores and values of one layer per token."""
        keys = self.keys(seq_len, convention)
        return 2.0 * keys * (self.attention_qk_width + self.attention_v_width)


@lru_cache(maxsize=256)
def layer_groups(arch: Architecture) -> tuple[LayerGroup, ...]:
    """Return the layers of a model, equal ones together: dense before MoE, windowed before full.

    A multi-token-prediction layer (arXiv:2412.19437 §2.2) is one more layer of the last kind
    that first projects two joined vectors to one.
    """
    kinds = Counter(
        (_is_moe(arch.experts, index), _window(arch, index)) for index in range(arch.n_layers)
    )
    order = sorted(kinds.items(), key=lambda item: (item[0][0], item[0][1] is None))
    groups = [_group(arch, moe, window, count) for (moe, window), count in order]
    if arch.mtp_layers:
        last = _group(arch, _is_moe(arch.experts, arch.n_layers - 1), None, arch.mtp_layers)
        joined = Matmul("mtp_projection", 2 * arch.d_model, arch.d_model)
        groups.append(replace(last, mlp=(joined, *last.mlp), mtp=True))
    return tuple(groups)


def head_matmul(arch: Architecture) -> Matmul | None:
    """Return the output head over all tokens, None when one vector per sample is classified.

    Multi-token-prediction layers use the same head again.
    """
    if arch.num_classes or not arch.vocab_size:
        return None
    return Matmul("head", arch.d_model, arch.vocab_size, 1 + arch.mtp_layers)


def patch_matmul(arch: Architecture) -> Matmul | None:
    """Return the projection of image patches (every token but the class token), if there is one."""
    if arch.patch_size is None:
        return None
    patches = image_tokens(arch) - 1
    width = arch.n_channels * arch.patch_size**2
    return Matmul("patches", width, arch.d_model, share=patches / (patches + 1))


def image_tokens(arch: Architecture) -> int:
    """Return the tokens of one image: its patches and the class token."""
    assert arch.patch_size and arch.image_size  # noqa: S101  only asked of models of images
    return (arch.image_size // arch.patch_size) ** 2 + 1


def _is_moe(experts: Experts | None, index: int) -> bool:
    return (
        experts is not None
        and index >= experts.n_dense_layers
        and (index + 1) % experts.moe_every == 0
    )


def _window(arch: Architecture, index: int) -> int | None:
    every = arch.full_attention_every
    return None if every and (index + 1) % every == 0 else arch.sliding_window


def _group(arch: Architecture, moe: bool, window: int | None, count: int) -> LayerGroup:
    heads, latent = arch.n_heads, arch.latent
    if latent is None:
        qk_width = v_width = heads * arch.head_dim
        attention = _plain_attention(arch)
    else:
        qk_width = heads * (latent.qk_nope_head_dim + latent.qk_rope_head_dim)
        v_width = heads * latent.v_head_dim
        attention = _latent_attention(arch, latent)
    experts = arch.experts if moe else None
    if experts is None:
        mlp, ffn_width = _feed_forward(arch, arch.d_ff), arch.d_ff
    else:
        mlp = _routed(arch, experts)
        ffn_width = experts.experts_per_token * experts.moe_d_ff + experts.shared_expert_d_ff
    return LayerGroup(
        count=count,
        attention=attention,
        mlp=mlp,
        n_heads=heads,
        attention_qk_width=qk_width,
        attention_v_width=v_width,
        ffn_width=ffn_width,
        window=window,
        causal=arch.causal,
        moe=moe,
    )


def _plain_attention(arch: Architecture) -> tuple[Matmul, ...]:
    d, q, kv = arch.d_model, arch.n_heads * arch.head_dim, arch.n_kv_heads * arch.head_dim
    return (
        Matmul("query", d, q),
        Matmul("key_value", d, kv, 2),
        Matmul("attention_out", q, d),
    )


def _latent_attention(arch: Architecture, latent: LatentAttention) -> tuple[Matmul, ...]:
    d, a = arch.d_model, arch.n_heads
    q = a * (latent.qk_nope_head_dim + latent.qk_rope_head_dim)
    query = (
        (Matmul("query", d, q),)
        if latent.q_lora_rank is None
        else (
            Matmul("query_down", d, latent.q_lora_rank),
            Matmul("query_up", latent.q_lora_rank, q),
        )
    )
    rank = latent.kv_lora_rank
    return (
        *query,
        Matmul("key_value_down", d, rank + latent.qk_rope_head_dim),
        Matmul("key_value_up", rank, a * (latent.qk_nope_head_dim + latent.v_head_dim)),
        Matmul("attention_out", a * latent.v_head_dim, d),
    )


def _feed_forward(
    arch: Architecture, width: int, name: str = "", calls: int = 1, share: float = 1.0
) -> tuple[Matmul, ...]:
    ups = 2 if arch.glu else 1
    return (
        Matmul(f"{name}up", arch.d_model, width, ups * calls, share),
        Matmul(f"{name}down", width, arch.d_model, calls, share),
    )


def _routed(arch: Architecture, experts: Experts) -> tuple[Matmul, ...]:
    n = experts.n_experts
    share = experts.experts_per_token / n
    matmuls = [
        Matmul("router", arch.d_model, n),
        *_feed_forward(arch, experts.moe_d_ff, "expert_", n, share),
    ]
    if experts.shared_expert_d_ff:
        matmuls += _feed_forward(arch, experts.shared_expert_d_ff, "shared_expert_")
    if experts.shared_expert_gate:
        matmuls.append(Matmul("shared_expert_gate", arch.d_model, 1))
    return tuple(matmuls)
