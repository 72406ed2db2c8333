"""The values a Python file assigns, as a tree with lines; nothing is run or imported.

Literals, `dict(...)`, sums and products, texts joined by `+`, and names assigned above are
followed. Anything else, and what is assigned under a condition or in a loop, is a text beginning
with `$`: a value this file does not settle.
"""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compute_budget_planner.readers.arithmetic import Number, combined
from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.nodes import Document, Node
from compute_budget_planner.readers.python_syntax import last_name, parsed_quietly
from compute_budget_planner.readers.tree_merge import merged, placed

_MOST_CHARACTERS = 1_000_000
_MOST_DEPTH = 30
_MOST_VALUES = 100_000
_MOST_TEXT = 2_000
_MAPPINGS = {"dict", "ConfigDict", "Config", "OrderedDict", "LazyCall", "DictConfig"}


def module_of(file: SourceFile) -> ast.Module | None:
    """Return the syntax tree of a Python file, None when it is none or too large."""
    if not file.name.endswith(".py") or len(file.text) > _MOST_CHARACTERS:
        return None
    return parsed_quietly(file.text.removeprefix("\ufeff"))


def assigned(body: Sequence[ast.stmt]) -> Document:
    """Return the values that statements assign, in order."""
    values = _Values(Node({}, 1))
    values.take(body, settled=True)
    return Document(values.root, ())


def value_of(expression: ast.expr, names: Node) -> Node:
    """Return what an expression stands for, given what names above it mean."""
    return _Values(names).value(expression, 0)


@dataclass
class _Values:
    root: Node
    n_values: int = 0

    def take(self, body: Iterable[ast.stmt], *, settled: bool) -> None:
        """Take assignments; those of a branch or loop leave their names unsettled."""
        for statement in body:
            match statement:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._assign(target, value, settled=settled)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._assign(target, value, settled=settled)
                case ast.AugAssign(target=target, op=op, value=value):
                    joined = ast.BinOp(left=target, op=op, right=value)
                    self._assign(target, ast.copy_location(joined, value), settled=settled)
                case ast.If() | ast.For() | ast.While():
                    self.take([*statement.body, *statement.orelse], settled=False)
                case ast.Try():
                    self.take(statement.body, settled=False)
                case ast.With():
                    self.take(statement.body, settled=settled)

    def _assign(self, target: ast.expr, value: ast.expr, *, settled: bool) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for inner, part in zip(target.elts, value.elts, strict=False):
                self._assign(inner, part, settled=settled)
            return
        keys = _keys(target)
        if not keys or self.n_values > _MOST_VALUES:
            return
        node = self.value(value, 0) if settled else self._unsettled(value)
        without = placed(Node(None, node.line), keys)
        self.root = merged(merged(self.root, without), placed(node, keys))

    def value(self, node: ast.expr, depth: int) -> Node:
        """Return what an expression stands for."""
        self.n_values += 1
        if depth > _MOST_DEPTH or self.n_values > _MOST_VALUES:
            return self._unsettled(node)
        match node:
            case ast.Constant(value=None | bool() | int() | str() as constant):
                return self._scalar(constant, node)
            case ast.Constant(value=float() as number) if abs(number) < 1e300:
                return Node(number, node.lineno)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                inner = tuple(self.value(item, depth + 1) for item in items)
                return Node(inner, node.lineno, sum(item.size for item in inner) + 1)
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                return self._mapping([(_text_of(k), v) for k, v in pairs], node, depth)
            case ast.Call(func=function, args=arguments, keywords=keywords):
                if last_name(function) in _MAPPINGS and len(arguments) <= 1:
                    start = self.value(arguments[0], depth + 1) if arguments else None
                    pairs_ = [(word.arg, word.value) for word in keywords]
                    return self._mapping(pairs_, node, depth, start)
            case ast.Name() | ast.Attribute() | ast.Subscript():
                keys_ = _keys(node)
                found = self.root.get(*keys_) if keys_ else None
                return self._unsettled(node) if found is None else found
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number_ = _number(self.value(operand, depth + 1))
                return self._unsettled(node) if number_ is None else Node(-number_, node.lineno)
            case ast.BinOp(left=left, op=op, right=right):
                return self._joined(self.value(left, depth + 1), op, right, node, depth)
        return self._unsettled(node)

    def _scalar(self, constant: bool | int | str | None, node: ast.expr) -> Node:
        too_long = isinstance(constant, str) and len(constant) > _MOST_TEXT
        large = isinstance(constant, int) and abs(constant) > 10**30
        return self._unsettled(node) if too_long or large else Node(constant, node.lineno)

    def _mapping(
        self,
        pairs: Iterable[tuple[str | None, ast.expr]],
        node: ast.expr,
        depth: int,
        start: Node | None = None,
    ) -> Node:
        members: dict[str, Node] = dict(start.mapping) if start is not None else {}
        for key, value in pairs:
            inner = self.value(value, depth + 1)
            if key is None:  # `**other`
                members |= inner.mapping
            else:
                members[key] = inner
        return Node(members, node.lineno, sum(m.size for m in members.values()) + 1)

    def _joined(
        self, left: Node, op: ast.operator, other: ast.expr, node: ast.expr, depth: int
    ) -> Node:
        right = self.value(other, depth + 1)
        one, two = _number(left), _number(right)
        if one is not None and two is not None:
            number = combined(op, one, two)
            return self._unsettled(node) if number is None else Node(number, node.lineno)
        if isinstance(op, ast.Add) and isinstance(left.value, str) and isinstance(right.value, str):
            text = left.value + right.value
            return Node(text, node.lineno) if len(text) <= _MOST_TEXT else self._unsettled(node)
        if isinstance(op, ast.Add) and left.items and right.items:
            items = (*left.items, *right.items)
            return Node(items, node.lineno, left.size + right.size)
        return self._unsettled(node)

    def _unsettled(self, node: ast.expr) -> Node:
        # Not its source: a call may hold a secret.
        return Node(f"$(worked out in line {node.lineno})", node.lineno)


def _keys(target: ast.expr) -> tuple[str, ...]:
    """Return `a`, `a.b` or `a["b"]` as keys; none for anything else."""
    match target:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(value=value, attr=name):
            outer = _keys(value)
            return (*outer, name) if outer and len(outer) < _MOST_DEPTH else ()
        case ast.Subscript(value=value, slice=ast.Constant(value=str() as name)):
            outer = _keys(value)
            return (*outer, name) if outer and len(outer) < _MOST_DEPTH else ()
    return ()


def _text_of(key: ast.expr | None) -> str | None:
    if key is None:
        return None
    return str(key.value) if isinstance(key, ast.Constant) else "$"


def _number(node: Node) -> Number | None:
    value = node.value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and isinstance(value, int | float) else None
