"""Python as text: parsed into its syntax tree, never compiled, imported or run."""

import ast
import warnings


def parsed_quietly(text: str) -> ast.Module | None:
    """Return the syntax tree of a program, or None when it has none; warnings are not passed on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None


def last_name(expression: ast.expr) -> str:
    """Return the `c` of a dotted name `a.b.c`; empty for what is no name."""
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""
