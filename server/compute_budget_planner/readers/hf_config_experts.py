"""The mixture-of-experts keys of a model configuration: read whole, or not at all.

A model whose experts cannot be counted is never taken for a dense one.
"""

import re
from collections.abc import Iterator

from compute_budget_planner.readers.hf_config_keys import Found, find
from compute_budget_planner.readers.nodes import Node, Scalar
from compute_budget_planner.workload.model_families import Family

_NUMBER = (
    "num_experts",
    "num_local_experts",
    "n_routed_experts",
    "moe_num_experts",
    "ffn_config.moe_num_experts",
)
_PER_TOKEN = (
    "num_experts_per_tok",
    "num_experts_per_token",
    "experts_per_token",
    "moe_top_k",
    "moe_topk",
    "num_selected_experts",
    "ffn_config.moe_top_k",
)
_SPEAKS_OF_EXPERTS = re.compile(r"expert|moe", re.IGNORECASE)

Fault = tuple[str, int | None]
"""What is wrong, and its line."""


def expert_facts(config: Node, family: Family | None) -> tuple[list[Found], list[Fault]]:
    """Return the facts of the experts, or what keeps them from being counted.

    Both are empty for a dense model.
    """
    number, per_token = find(config, *_NUMBER), find(config, *_PER_TOKEN)
    routed = number is not None and number[0] not in (0, 1)
    if not routed and not (family is not None and family.experts):
        unread = next(_unread_keys(config), None)
        if unread is None:
            return [], []
        key, line = unread
        return [], [
            (f"`{key}` speaks of experts, but their number stands under no known key", line)
        ]
    faults: list[Fault] = []
    if not routed or number is None:
        faults.append(("the number of experts stands under no known key", None))
    elif not _is_count(number[0]):
        faults.append(("the number of experts is no whole number of at least 1", number[1]))
    if per_token is None:
        faults.append(("the experts per token stand under no known key", None))
    elif not _is_count(per_token[0]):
        faults.append(("the experts per token are no whole number of at least 1", per_token[1]))
    dense, fault = _dense_layers(config)
    faults += fault
    if number is None or per_token is None or faults:
        return [], faults
    return [
        ("n_experts", *number),
        ("experts_per_token", *per_token),
        *_widths(config),
        *dense,
    ], []


def _is_count(value: Scalar) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _widths(config: Node) -> Iterator[Found]:
    routed = find(config, "moe_intermediate_size")
    if routed is not None:
        yield "moe_d_ff", *routed
    shared = find(config, "shared_expert_intermediate_size")
    count = find(config, "n_shared_experts", "num_shared_experts")
    if shared is not None and shared[0] != 0:
        yield "shared_expert_d_ff", *shared
    elif (
        count is not None
        and routed is not None
        and isinstance(count[0], int)
        and isinstance(routed[0], int)
        and count[0] > 0
    ):
        yield "shared_expert_d_ff", count[0] * routed[0], count[1]


def _dense_layers(config: Node) -> tuple[list[Found], list[Fault]]:
    """Return which layers are dense: the first few, all but every n-th, or a list of them."""
    listed, frequency = config.get("mlp_only_layers"), config.get("moe_layer_freq")
    if listed is not None and listed.items:
        dense = {item.scalar for item in listed.items}
        if dense != set(range(len(dense))):
            return [], [("`mlp_only_layers` names others than the first layers", listed.line)]
        return [("n_dense_layers", len(dense), listed.line)], []
    if frequency is not None and frequency.items:
        pattern = [item.scalar for item in frequency.items]
        first = pattern.index(1) if 1 in pattern else len(pattern)
        if any(item != 1 for item in pattern[first:]):
            return [], [("`moe_layer_freq` has no simple pattern", frequency.line)]
        return [("n_dense_layers", first, frequency.line)], []
    facts: list[Found] = []
    if (first_dense := find(config, "first_k_dense_replace")) is not None:
        facts.append(("n_dense_layers", *first_dense))
    if (every := find(config, "decoder_sparse_step", "moe_layer_freq")) is not None:
        facts.append(("moe_every", *every))
    return facts, []


def _unread_keys(config: Node) -> Iterator[tuple[str, int | None]]:
    members = list(config.mapping.items())
    for node in config.mapping.values():
        members += node.mapping.items()
    known = {key.rsplit(".", maxsplit=1)[-1] for key in (*_NUMBER, *_PER_TOKEN)}
    for key, node in members:
        value = node.scalar
        if _is_count(value) and value != 1 and key not in known and _SPEAKS_OF_EXPERTS.search(key):
            yield key, node.line
