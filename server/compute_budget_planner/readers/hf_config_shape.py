"""The keys of a Hugging Face model configuration, by every spelling, as facts of a shape.

Spellings are those of the configuration classes in transformers and of the remote code that
models on huggingface.co bring along. Keys with the same name but another meaning
(`max_position_embeddings`, `q_lora_rank`) are read only where they mean the shape.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from compute_budget_planner.readers.hf_config_keys import Found, find
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.workload.model_families import Family

WIDTH_KEYS = ("hidden_size", "n_embd", "n_embed", "d_model", "dim")
"""Every name of the width of a model; a configuration of a model has one of them."""

_KEYS: Mapping[str, tuple[str, ...]] = {
    "n_layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    "d_model": WIDTH_KEYS,
    "n_heads": (
        "num_attention_heads",
        "n_head",
        "n_heads",
        "num_heads",
        "encoder_attention_heads",
    ),
    "n_kv_heads": ("num_key_value_heads", "n_kv_heads", "attn_config.kv_n_heads"),
    "head_dim": ("head_dim", "d_kv"),
    "d_ff": (
        "intermediate_size",
        "n_inner",
        "ffn_dim",
        "hidden_dim",
        "d_ff",
        "encoder_ffn_dim",
        "ffn_config.ffn_hidden_size",
    ),
    "vocab_size": ("vocab_size",),
    "mlp_bias": ("mlp_bias",),
    "head_bias": ("lm_head_bias",),
    "full_attention_every": (
        "sliding_window_pattern",
        "_sliding_window_pattern",
        "global_attn_every_n_layers",
    ),
}
_LATENT = ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
_IMAGE = {"image_size": "image_size", "patch_size": "patch_size", "num_channels": "n_channels"}
_POSITIONS = ("n_positions", "max_position_embeddings", "max_sequence_length")
_LINEAR_BIASES = ("qkv_bias", "attention_out_bias", "mlp_bias")
_OPT_EXTRA_POSITIONS = 2
"""OPT's position table starts at an offset of two rows."""
_ONE_LABEL_PER_SAMPLE = re.compile(r"For(Sequence|Image)Classification$")


def shape_of(config: Node, family: Family | None) -> Iterator[Found]:
    """Return what a configuration says of the shape; of unknown families the plain keys only."""
    for fact, keys in _KEYS.items():
        if (found := find(config, *keys)) is not None:
            yield fact, *found
    yield from _encoder_decoder_layers(config)
    yield from _gating(config)
    for fact in _LATENT if find(config, "kv_lora_rank") else ():
        if (found := find(config, fact)) is not None:
            yield fact, *found
    if family is None:
        return
    yield from _attention_biases(config, family)
    yield from _windows(config, family)
    yield from _positions(config, family)
    yield from _classes(config)
    if family.patches:
        for key, fact in _IMAGE.items():
            if (found := find(config, key)) is not None:
                yield fact, *found
    if family.name in _SPECIAL:
        yield from _SPECIAL[family.name](config)


def _encoder_decoder_layers(config: Node) -> Iterator[Found]:
    encoder = find(config, "encoder_layers", "num_layers")
    decoder = find(config, "decoder_layers", "num_decoder_layers")
    if encoder and decoder and isinstance(encoder[0], int) and isinstance(decoder[0], int):
        yield "n_layers", encoder[0] + decoder[0], encoder[1]


def _gating(config: Node) -> Iterator[Found]:
    """T5 writes whether its feed-forward part is gated, or names a `gated-` projection."""
    if (gated := find(config, "is_gated_act")) is not None:
        yield "glu", *gated
    elif (projection := find(config, "feed_forward_proj")) is not None:
        yield "glu", str(projection[0]).startswith("gated"), projection[1]


def _attention_biases(config: Node, family: Family) -> Iterator[Found]:
    both = find(config, "attention_bias")
    if both and not family.latent:
        yield "qkv_bias", *both
        yield "attention_out_bias", *both
    if (query := find(config, "use_qkv_bias", "qkv_bias")) is not None:
        yield "qkv_bias", *query


def _windows(config: Node, family: Family) -> Iterator[Found]:
    used = find(config, "use_sliding_window")
    switched = family.name.startswith(("qwen2", "qwen3"))
    if switched and not (used and used[0]):
        return
    window = find(config, "sliding_window", "window_size", "local_attention")
    if window:
        yield "sliding_window", *window
    kinds = config.get("layer_types")
    if kinds is not None and kinds.items:
        every = _period([item.scalar == "full_attention" for item in kinds.items])
        yield "full_attention_every", every, kinds.line


def _period(full: list[bool]) -> int:
    """Return n when every n-th layer is full (0: none is), else the n of nearly as many."""
    if not any(full):
        return 0
    every = full.index(True) + 1
    if all(is_full == ((i + 1) % every == 0) for i, is_full in enumerate(full)):
        return every
    return round(len(full) / sum(full))


def _positions(config: Node, family: Family) -> Iterator[Found]:
    found = find(config, *_POSITIONS)
    if "max_positions" in family.traits and found and isinstance(found[0], int):
        extra = _OPT_EXTRA_POSITIONS if family.name == "opt" else 0
        yield "max_positions", found[0] + extra, found[1]
    if "token_types" in family.traits and (types := find(config, "type_vocab_size")):
        yield "token_types", *types


def _classes(config: Node) -> Iterator[Found]:
    heads = config.get("architectures")
    if heads is None or not heads.items:
        return
    if _ONE_LABEL_PER_SAMPLE.search(str(heads.items[0].scalar)):
        labels, number = config.get("id2label"), find(config, "num_labels")
        if labels is not None and labels.mapping:
            yield "num_classes", len(labels.mapping), labels.line
        else:
            # transformers counts two labels when a configuration names none.
            yield "num_classes", number[0] if number else 2, heads.line


def _falcon(config: Node) -> Iterator[Found]:
    new = find(config, "new_decoder_architecture")
    if new and new[0]:
        yield "norms_per_layer", 2, new[1]
        if heads := find(config, "num_kv_heads", "n_head_kv"):
            yield "n_kv_heads", *heads
    elif (shared := find(config, "multi_query")) and shared[0] is False:
        heads = find(config, "num_attention_heads", "n_head")
        if heads:
            yield "n_kv_heads", heads[0], shared[1]
    parallel, bias = find(config, "parallel_attn"), find(config, "bias")
    if parallel and parallel[0] is False:
        yield "norms_per_layer", 2, parallel[1]
    if bias:
        for fact in _LINEAR_BIASES:
            yield fact, *bias


def _bigcode(config: Node) -> Iterator[Found]:
    shared, heads = find(config, "multi_query"), find(config, "n_head", "num_attention_heads")
    if shared and heads and shared[0] is False:
        yield "n_kv_heads", heads[0], shared[1]


def _mpt(config: Node) -> Iterator[Found]:
    ratio, width = find(config, "expansion_ratio"), find(config, "d_model")
    if ratio and width and isinstance(ratio[0], int) and isinstance(width[0], int):
        yield "d_ff", ratio[0] * width[0], ratio[1]


def _starcoder2(config: Node) -> Iterator[Found]:
    if bias := find(config, "use_bias"):
        for fact in _LINEAR_BIASES:
            yield fact, *bias


_SPECIAL: Mapping[str, Callable[[Node], Iterator[Found]]] = {
    "falcon": _falcon,
    "gpt_bigcode": _bigcode,
    "mpt": _mpt,
    "starcoder2": _starcoder2,
}
