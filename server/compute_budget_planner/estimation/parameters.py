"""Exact parameter counts from the shape of a model."""

from dataclasses import dataclass
from functools import lru_cache

from compute_budget_planner.estimation.matmuls import (
    LayerGroup,
    head_matmul,
    image_tokens,
    layer_groups,
    patch_matmul,
)
from compute_budget_planner.workload.architecture import Architecture

_NOT_ADAPTED = {"router", "shared_expert_gate"}


@dataclass(frozen=True)
class ParameterCount:
    """Parameters of a model, each weight once (a tied head is part of `embedding`).

    `active`: what one token visits, embeddings included, idle experts not. `embedding`: token,
    position and type tables, or patch projection and positions. `head`: an untied output head.
    `expert`: all routed experts. `trainable`: what the optimizer updates.
    """

    total: int
    active: int
    embedding: int
    head: int
    expert: int
    trainable: int

    @property
    def matmul_active(self) -> int:
        """Active parameters without input tables: the N of 6·N when the head is untied."""
        return self.active - self.embedding


@lru_cache(maxsize=256)
def count_parameters(arch: Architecture, lora_rank: int = 0) -> ParameterCount:
    """Count the parameters of a model; with `lora_rank` > 0 only adapters are trainable.

    The counts equal those the published checkpoints have, position tables, biases and norms
    included; adapters are not part of `total`.
    """
    embedding, head = _embedding(arch), _head(arch)
    outside = embedding + head + _norm(arch) * (arch.final_norm + arch.embedding_norm)
    outside += (arch.d_model**2 + arch.d_model) * arch.pooler
    total = active = outside
    expert = 0
    for group in layer_groups(arch):
        small = _biases_and_norms(arch, group)
        routed = _routed_biases(arch, group)
        weights = sum(m.weights for m in group.matmuls)
        idle = sum(m.weights - _visited(arch, m.weights) for m in group.mlp if m.share < 1)
        total += group.count * (weights + small + routed)
        active += group.count * (weights - idle + small + _visited(arch, routed))
        expert += group.count * (
            sum(m.weights for m in group.mlp if m.name.startswith("expert_")) + routed
        )
    trainable = lora_parameters(arch, lora_rank) if lora_rank else total
    return ParameterCount(total, active, embedding, head, expert, trainable)


@lru_cache(maxsize=256)
def lora_parameters(arch: Architecture, rank: int) -> int:
    """Return the parameters of adapters on every linear layer: Σ rank·(d_in + d_out).

    Source: LoRA, arXiv:2106.09685 §4.1. Head, embeddings and routers carry no adapter.
    """
    return sum(
        group.count * rank * (m.d_in + m.d_out) * m.calls
        for group in layer_groups(arch)
        for m in group.matmuls
        if m.name not in _NOT_ADAPTED
    )


def adapter_flops_per_token(arch: Architecture, rank: int) -> float:
    """Return the forward FLOPs per token of those adapters."""
    return sum(
        2.0 * group.count * rank * (m.d_in + m.d_out) * m.calls * m.share
        for group in layer_groups(arch)
        for m in group.matmuls
        if m.name not in _NOT_ADAPTED
    )


def _visited(arch: Architecture, parameters: int) -> int:
    if arch.experts is None:
        return parameters
    return parameters * arch.experts.experts_per_token // arch.experts.n_experts


def _norm(arch: Architecture) -> int:
    return arch.d_model * (1 + arch.norm_bias)


def _embedding(arch: Architecture) -> int:
    rows = arch.vocab_size + arch.max_positions + arch.token_types
    patches = patch_matmul(arch)
    if patches is not None:
        # Positions of every token, the class token itself and the bias of the projection.
        rows += image_tokens(arch) + 2
        return rows * arch.d_model + patches.weights
    return rows * arch.d_model


def _head(arch: Architecture) -> int:
    if arch.num_classes:
        return (arch.d_model + 1) * arch.num_classes
    head = head_matmul(arch)
    if head is None:
        return 0
    weights = 0 if arch.tied_embeddings else head.d_in * head.d_out
    return weights + (arch.vocab_size if arch.head_bias else 0)


def _biases_and_norms(arch: Architecture, group: LayerGroup) -> int:
    """Return what one layer has beside matmul weights and routed experts."""
    # A prediction layer normalises both vectors it joins and its output.
    count = _norm(arch) * (arch.norms_per_layer + 3 * group.mtp) + _attention_extras(arch)
    experts = arch.experts
    if not group.moe or experts is None:
        return count + _mlp_biases(arch, arch.d_ff)
    count += experts.n_experts * experts.router_bias
    if experts.shared_expert_d_ff:
        count += _mlp_biases(arch, experts.shared_expert_d_ff)
    return count


def _mlp_biases(arch: Architecture, width: int) -> int:
    return (width * (2 if arch.glu else 1) + arch.d_model) * arch.mlp_bias


def _attention_extras(arch: Architecture) -> int:
    q, kv = arch.n_heads * arch.head_dim, arch.n_kv_heads * arch.head_dim
    count = arch.n_heads * arch.attention_sinks + arch.d_model * arch.attention_out_bias
    if arch.latent is not None:
        # The compressed query and the compressed key-value each have a norm.
        return count + (arch.latent.q_lora_rank or 0) + arch.latent.kv_lora_rank
    count += (q + 2 * kv) * arch.qkv_bias
    if arch.qk_norm:
        count += (q + kv) if arch.qk_norm_full_width else 2 * arch.head_dim
    return count


def _routed_biases(arch: Architecture, group: LayerGroup) -> int:
    if not group.moe or arch.experts is None:
        return 0
    return arch.experts.n_experts * _mlp_biases(arch, arch.experts.moe_d_ff)
