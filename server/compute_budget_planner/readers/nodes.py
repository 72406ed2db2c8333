"""A structured file as a tree: every value with the line it stands on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from compute_budget_planner.readers.contract import Problem, SourceFile

Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class Node:
    """A value and its line (from 1; None where the file does not tell).

    `size` counts the scalars below it, a repeated alias each time it stands. `origin` is the path
    of the file the line is of, where that is another one than the document's: one it includes.
    """

    value: "Scalar | tuple[Node, ...] | dict[str, Node]"
    line: int | None
    size: int = 1
    origin: str = ""

    def place(self, file: SourceFile) -> str:
        """Return `path:line` of the value in a file, or in the one it was included from."""
        if not self.origin:
            return file.at(self.line)
        return self.origin if self.line is None else f"{self.origin}:{self.line}"

    @property
    def mapping(self) -> "Mapping[str, Node]":
        """The members of a mapping; empty for anything else."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> "tuple[Node, ...]":
        """The items of a list; empty for anything else."""
        return self.value if isinstance(self.value, tuple) else ()

    @property
    def scalar(self) -> Scalar:
        """The value when it is a scalar, else None."""
        return None if isinstance(self.value, dict | tuple) else self.value

    def get(self, *path: str) -> "Node | None":
        """Return the member at a path of keys, or None."""
        node: Node | None = self
        for key in path:
            node = node.mapping.get(key) if node is not None else None
        return node

    def line_of(self, *path: str) -> int | None:
        """Return the line of the member at a path of keys; None without one."""
        node = self.get(*path)
        return node.line if node is not None else None


@dataclass(frozen=True)
class Leaf:
    """A scalar, or a list of scalars as a tuple, under a path of keys.

    What stands in a mapping inside a list has the list's key in its path, not its index.
    """

    path: tuple[str, ...]
    value: Scalar | tuple[Scalar, ...]
    line: int | None
    origin: str = ""

    def place(self, file: SourceFile) -> str:
        """Return `path:line` of the value in the file itself or in the one it includes."""
        return Node(None, self.line, origin=self.origin).place(file)

    @property
    def key(self) -> str:
        """The last key."""
        return self.path[-1]

    @property
    def sections(self) -> tuple[str, ...]:
        """The keys above the last one, outermost first."""
        return self.path[:-1]

    @property
    def dotted(self) -> str:
        """All keys, joined by dots."""
        return ".".join(self.path)


@dataclass(frozen=True)
class Document:
    """A file whose top is a mapping, and what was odd about it."""

    root: Node
    problems: tuple[Problem, ...]

    def leaves(self) -> Iterator[Leaf]:
        """Return all leaves in the order of the file."""
        return iter(self._all_leaves)

    @cached_property
    def _all_leaves(self) -> tuple[Leaf, ...]:
        # Every reader that is asked whether it knows the file looks at them.
        return tuple(_leaves(self.root, ()))

    def keys(self) -> set[str]:
        """Return the last key of every leaf."""
        return {leaf.key for leaf in self.leaves()}


def _leaves(node: Node, path: tuple[str, ...]) -> Iterator[Leaf]:
    if isinstance(node.value, dict):
        for key, member in node.value.items():
            yield from _leaves(member, (*path, key))
    elif isinstance(node.value, tuple):
        nested = [item for item in node.value if isinstance(item.value, dict | tuple)]
        if len(nested) < len(node.value) or not nested:
            scalars = (item.value for item in node.value)
            plain = tuple(s for s in scalars if not isinstance(s, dict | tuple))
            yield Leaf(path, plain, node.line, node.origin)
        for item in nested:
            yield from _leaves(item, path)
    else:
        yield Leaf(path, node.value, node.line, node.origin)
