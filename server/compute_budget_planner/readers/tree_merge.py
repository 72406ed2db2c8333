"""Configuration trees laid over one another, as every framework with base files does it.

Mappings are merged key by key, anything else is replaced. A value keeps the file and line it
came from.
"""

from collections.abc import Sequence
from dataclasses import replace

from compute_budget_planner.readers.nodes import Node

_DELETE = "_delete_"
_MISSING = "???"
"""OmegaConf's mark of a value that must be given elsewhere; it replaces nothing."""


def from_file(node: Node, path: str) -> Node:
    """Return a tree whose every value names the file it stands in."""
    if isinstance(node.value, dict):
        members = {key: from_file(member, path) for key, member in node.value.items()}
        return replace(node, value=members, origin=path)
    if isinstance(node.value, tuple):
        return replace(node, value=tuple(from_file(i, path) for i in node.value), origin=path)
    return replace(node, origin=path)


def merged(base: Node, over: Node) -> Node:
    """Return `base` under `over`; `_delete_: True` in a mapping keeps nothing of the base."""
    if not isinstance(over.value, dict):
        return base if over.value == _MISSING else over
    deletes = over.value.get(_DELETE)
    if (deletes is not None and deletes.value is True) or not isinstance(base.value, dict):
        return _mapping({k: v for k, v in over.value.items() if k != _DELETE}, over)
    members = dict(base.value)
    for key, node in over.value.items():
        members[key] = merged(members[key], node) if key in members else node
    return _mapping(members, over)


def placed(node: Node, package: Sequence[str]) -> Node:
    """Return a tree with `node` under a path of keys."""
    for key in reversed(package):
        node = _mapping({key: node}, node)
    return node


def without(node: Node, *keys: str) -> Node:
    """Return a mapping without some of its keys."""
    return _mapping({k: v for k, v in node.mapping.items() if k not in keys}, node)


def _mapping(members: dict[str, Node], like: Node) -> Node:
    size = sum(member.size for member in members.values()) + 1
    return Node(members, like.line, size, like.origin)
