"""A Python program printed into its own log: the hyperparameters that stand in it.

The program stands between two rules of `=` at the top. It is parsed as text with `ast`; only
literals and products or sums of them are taken, nothing is run.
"""

import ast
import operator
from collections.abc import Callable, Iterator

from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.log_lines import split_lines
from compute_budget_planner.readers.python_syntax import parsed_quietly

_RULE = "=" * 40
_MOST_LINES = 5_000
_MOST_NUMBER = 10**15
_OPTIONS = {
    "device_batch_size": "micro_batch_size",
    "batch_size": "global_batch_size",
    "sequence_length": "seq_len",
    "train_seq_len": "seq_len",
    "num_iterations": "max_steps",
    "learning_rate": "learning_rate",
    "n_layer": "n_layers",
    "n_head": "n_heads",
    "n_embd": "d_model",
}
"""What these names mean in modded-nanoGPT; its `batch_size` counts all devices."""

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Mult: operator.mul,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
}


def source_options(file: SourceFile) -> Iterator[tuple[str, object, int]]:
    """Yield the product's word, value and line of every hyperparameter in a printed program."""
    lines = split_lines(file)
    if not lines or not lines[0].startswith(_RULE):
        return
    body = lines[1:_MOST_LINES]
    end = next((i for i, line in enumerate(body) if line.startswith(_RULE)), None)
    tree = parsed_quietly("\n".join(body[:end])) if end is not None else None
    if tree is None:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and "param" in node.name.lower():
            yield from _assigned(node)
        elif isinstance(node, ast.Call):
            yield from _called(node)


def _assigned(node: ast.ClassDef) -> Iterator[tuple[str, object, int]]:
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name, value = statement.target.id, _constant(statement.value)
            if name in _OPTIONS and value is not None:
                yield _OPTIONS[name], value, statement.lineno + 1


def _called(node: ast.Call) -> Iterator[tuple[str, object, int]]:
    called = node.func.id if isinstance(node.func, ast.Name) else ""
    if called == "DDP":
        yield "sharding", "ddp", node.lineno + 1
    for keyword in node.keywords:
        if called.endswith("Config") and keyword.arg in ("n_layer", "n_head", "n_embd"):
            value = _constant(keyword.value)
            if value is not None:
                yield _OPTIONS[keyword.arg], value, node.lineno + 1
        if keyword.arg == "dtype" and isinstance(node.func, ast.Attribute):
            written = keyword.value.attr if isinstance(keyword.value, ast.Attribute) else ""
            if node.func.attr == "autocast" and written in ("bfloat16", "float16"):
                yield "precision", written, node.lineno + 1


def _constant(node: ast.expr | None) -> int | float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value if not isinstance(node.value, bool) else None
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _constant(node.left), _constant(node.right)
        if left is None or right is None or max(abs(left), abs(right)) > _MOST_NUMBER:
            return None
        return _OPERATORS[type(node.op)](left, right)
    return None
