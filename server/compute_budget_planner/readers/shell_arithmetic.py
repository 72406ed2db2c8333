"""Whole-number arithmetic as the shell does it, from text that is never evaluated."""

import ast
import re
from collections.abc import Callable

_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    # The shell divides towards zero.
    ast.Div: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    ast.Mod: lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
    ast.Pow: lambda a, b: a ** min(max(b, 0), 64) if abs(a) <= 1024 else 10**30,
}


def integer_value(expression: str) -> int | None:
    """Return the value of a whole-number expression with + - * / % **, or None."""
    if not re.fullmatch(r"[0-9+*/%() -]{1,500}", expression.strip()):
        return None
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        return _integer(tree.body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _integer(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            result = value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            result = -_integer(operand)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATIONS:
            result = _OPERATIONS[type(operator)](_integer(left), _integer(right))
        case _:
            message = "not a whole-number expression"
            raise ValueError(message)
    if abs(result) > 10**18:
        message = "too large"
        raise ValueError(message)
    return result
