"""`${...}` in a configuration: values that name other values, as OmegaConf writes them.

    ${trainer.devices}   ${.batch_size} (beside this key)   ${..lr} (a level up)
    ${div_up:256, 128}   ${eval:2*${.d_model}}              ${oc.env:DATA, ./data}

Only other values, and sums and products of numbers, are worked out; an `eval` that is more than
that stays text, and so does what nobody gives. The environment of the server is never looked at:
`oc.env` is its default or nothing.
"""

import math
import re
from dataclasses import dataclass, field, replace

from compute_budget_planner.readers.arithmetic import Number, worked_out
from compute_budget_planner.readers.nodes import Document, Node, Scalar
from compute_budget_planner.readers.yaml_nodes import plain_scalar

_MOST_STEPS = 20_000
_MOST_DEPTH = 25
_MOST_CHARACTERS = 2_000
_RESOLVER = re.compile(r"\s*([A-Za-z_][\w.]*)\s*:(.*)", re.S)
_PATH = re.compile(r"\s*(\.*)([\w\-./\[\]]*)\s*")
_PRODUCTS = {"mul", "multiply", "times", "prod"}
_SUMS = {"add", "sum", "plus"}
_QUOTED = re.compile(r"\s*(['\"])(.*)\1\s*", re.S)

_Path = tuple[str, ...]


def interpolated(document: Document) -> Document:
    """Return a document whose interpolations are worked out as far as that is safe."""
    resolver = _Resolver(document.root)
    return Document(resolver.tree(document.root, ()), document.problems)


@dataclass
class _Resolver:
    root: Node
    steps: int = 0
    open: set[_Path] = field(default_factory=set)

    def tree(self, node: Node, path: _Path) -> Node:
        if isinstance(node.value, dict):
            members = {k: self.tree(member, (*path, k)) for k, member in node.value.items()}
            return replace(node, value=members)
        if isinstance(node.value, tuple):
            items = (self.tree(item, (*path, str(i))) for i, item in enumerate(node.value))
            return replace(node, value=tuple(items))
        return replace(node, value=self.value(node, path))

    def value(self, node: Node, path: _Path) -> "Scalar | tuple[Node, ...]":
        """Return what a scalar stands for; the text itself where that is not known."""
        text = node.value
        if not isinstance(text, str) or "${" not in text or len(text) > _MOST_CHARACTERS:
            return node.scalar
        if path in self.open or len(self.open) >= _MOST_DEPTH or self.steps >= _MOST_STEPS:
            return text
        self.open.add(path)
        try:
            found = self._text(text, path)
        finally:
            self.open.discard(path)
        return text if found is None else found

    def _text(self, text: str, path: _Path) -> "Scalar | tuple[Node, ...]":
        """Work out a text with interpolations; one that is the whole text keeps its type."""
        self.steps += 1
        parts = _parts(text)
        if parts is None:
            return None
        if len(parts) == 1 and parts[0][0]:
            return self._interpolation(parts[0][1], path)
        written = ""
        for is_interpolation, part in parts:
            value = self._interpolation(part, path) if is_interpolation else part
            if value is None or isinstance(value, tuple):
                return None
            written += str(value)
            if len(written) > _MOST_CHARACTERS:
                return None
        return written

    def _interpolation(self, inner: str, path: _Path) -> "Scalar | tuple[Node, ...]":
        if "${" in inner:
            outer = self._text(inner, path)
            if not isinstance(outer, str | int | float):
                return None
            inner = str(outer)
        if call := _RESOLVER.fullmatch(inner):
            return self._call(call[1], call[2], path)
        return self._target(inner, path)

    def _target(self, inner: str, path: _Path) -> "Scalar | tuple[Node, ...]":
        """Return the value at a path; a leading dot is the mapping the key stands in."""
        match = _PATH.fullmatch(inner)
        if match is None:
            return None
        up = len(match[1])
        if up > len(path):
            return None
        keys = [*(path[: len(path) - up] if up else ()), *re.findall(r"[^.\[\]]+", match[2])]
        node: Node | None = self.root
        for key in keys:
            if node is not None and node.items and key.isdigit():
                node = node.items[int(key)] if int(key) < len(node.items) else None
            else:
                node = node.mapping.get(key) if node is not None else None
        if node is None or isinstance(node.value, dict):
            return None
        if isinstance(node.value, tuple):
            return node.value if node.size <= _MOST_DEPTH else None
        value = self.value(node, tuple(keys))
        return None if isinstance(value, str) and "${" in value else value

    def _call(self, name: str, text: str, path: _Path) -> "Scalar | tuple[Node, ...]":
        self.steps += 1
        if name in ("eval", "arithmetic"):
            quoted = _QUOTED.fullmatch(text)
            return worked_out(quoted[2] if quoted else text)
        arguments = [part.strip() for part in text.split(",")]
        if name == "oc.env":
            return plain_scalar(arguments[1]) if len(arguments) > 1 else None
        if name == "oc.select":
            found = self._target(arguments[0], path)
            default = plain_scalar(arguments[1]) if len(arguments) > 1 else None
            return default if found is None else found
        return _of_numbers(name, [worked_out(argument) for argument in arguments])


def _of_numbers(name: str, arguments: list[Number | None]) -> Number | None:
    numbers = [number for number in arguments if number is not None]
    if len(numbers) < len(arguments) or not numbers:
        return None
    if name in _PRODUCTS or name in _SUMS:
        value = math.prod(numbers) if name in _PRODUCTS else sum(numbers)
        return value if math.isfinite(value) else None
    if len(numbers) != 2 or numbers[1] == 0:
        return None
    quotient = numbers[0] / numbers[1]
    match name:
        case "div_up" | "ceil_div" | "divup":
            return math.ceil(quotient)
        case "div" | "divide" | "true_div":
            return quotient
        case "floor_div" | "int_div" | "floordiv" | "int_divide":
            return math.floor(quotient)
        case "sub" | "subtract" | "minus":
            return numbers[0] - numbers[1]
    return None


def _parts(text: str) -> list[tuple[bool, str]] | None:
    """Split a text into (is it an interpolation, its inside or the text); None if unbalanced."""
    parts: list[tuple[bool, str]] = []
    position = 0
    while (start := text.find("${", position)) >= 0:
        if start > position:
            parts.append((False, text[position:start]))
        depth, end = 0, start
        while end < len(text):
            if text.startswith("${", end):
                depth, end = depth + 1, end + 2
                continue
            if text[end] == "}":
                depth -= 1
                if depth == 0:
                    break
            end += 1
        if depth or end >= len(text):
            return None
        parts.append((True, text[start + 2 : end]))
        position = end + 1
    if position < len(text):
        parts.append((False, text[position:]))
    return parts
