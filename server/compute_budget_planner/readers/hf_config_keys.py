"""Values of a model configuration by dotted key."""

from compute_budget_planner.readers.nodes import Node, Scalar

Found = tuple[str, Scalar, int | None]
"""A fact, its value and its line."""


def find(config: Node, *keys: str) -> tuple[Scalar, int | None] | None:
    """Return value and line of the first of several dotted keys that is there and not null."""
    for key in keys:
        node = config.get(*key.split("."))
        if node is not None and node.scalar is not None:
            return node.scalar, node.line
    return None
