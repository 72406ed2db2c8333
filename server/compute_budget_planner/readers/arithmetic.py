"""Sums and products written in a configuration, worked out without running anything.

`5 * 8`, `2 * (3 + 1)` and `10**6` are numbers; a name, a call or anything else is none.
"""

import ast
import math
import operator
from collections.abc import Callable

from compute_budget_planner.readers.python_syntax import parsed_quietly

Number = int | float

_LARGEST = 1e30
_LARGEST_POWER = 64
_MOST_CHARACTERS = 300

_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def combined(kind: ast.operator, left: Number, right: Number) -> Number | None:
    """Return left and right under an operator; None for no finite number of common size."""
    function = _OPERATORS.get(type(kind))
    if function is None or max(abs(left), abs(right)) > _LARGEST:
        return None
    if isinstance(kind, ast.Pow) and abs(right) > _LARGEST_POWER:
        return None
    try:
        value = function(left, right)
    except (ArithmeticError, ValueError):
        return None
    if isinstance(value, complex) or not math.isfinite(value) or abs(value) > _LARGEST:
        return None
    return value


def worked_out(text: str) -> Number | None:
    """Return the number an expression of numbers stands for, or None when it is none."""
    tree = parsed_quietly(text.strip()) if len(text) <= _MOST_CHARACTERS else None
    if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        return None
    return _number(tree.body[0].value)


def _number(node: ast.expr) -> Number | None:
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as value) if abs(value) <= _LARGEST:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _number(operand)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=kind, right=right):
            one, other = _number(left), _number(right)
            return None if one is None or other is None else combined(kind, one, other)
    return None
