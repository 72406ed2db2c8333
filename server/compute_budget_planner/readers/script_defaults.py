"""What a project's own training script takes when nothing is said, read from its text.

    parser.add_argument("--batch-size", type=int, default=32)      argparse, configargparse
    @click.option("--lr", default=3e-4)                            click, typer
    flags.DEFINE_integer("max_steps", 1000, "...")                 absl
    @dataclass class TrainArguments: epochs: int = 3               dataclasses, HfArgumentParser
    batch_size = 12                                                constants of nanoGPT's train.py

The script is parsed with `ast` and never imported. These values are the weakest a project gives:
whatever a command or a configuration says wins.
"""

import ast
from collections.abc import Iterator

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Layer, Reading, SourceFile
from compute_budget_planner.readers.nodes import Document, Leaf, Node
from compute_budget_planner.readers.option_names import Option, facts_from_options, is_known_option
from compute_budget_planner.readers.python_syntax import last_name
from compute_budget_planner.readers.python_values import assigned, module_of, value_of

_ADDS = {"add_argument", "option", "add"}
_NANOGPT = {"block_size", "n_layer", "gradient_accumulation_steps"}
_SPEAKS = ("add_argument(", "dataclass", "click.option", "DEFINE_", "gradient_accumulation_steps")


class ScriptDefaultsReader:
    """A Python script that declares options of training with their defaults."""

    format = "script_defaults"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a Python file declares at least two options that mean a fact."""
        if not file.name.endswith(".py") or not any(word in file.text for word in _SPEAKS):
            return False
        known = [name for name, _, _ in _declared(file) if is_known_option(name)]
        return len(set(known)) >= 2

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the defaults as what the framework takes where nothing is said.

        Raises:
            FormatError: never; a default that is no literal gives no fact.
        """
        options = [o for o in _declared(file) if not _unsettled(o[1])]
        framework = "nanogpt" if {name for name, _, _ in options} >= _NANOGPT else None
        facts, problems = facts_from_options(options, framework, Layer.FRAMEWORK_DEFAULT, reference)
        return Reading(file.path, self.format, "config", facts=facts, problems=problems)


def _unsettled(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.startswith("$"))


def _declared(file: SourceFile) -> Iterator[Option]:
    module = module_of(file)
    if module is None:
        return
    constants = assigned(module.body)
    if constants.root.mapping.keys() >= _NANOGPT:
        yield from _options(constants, file)
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            yield from _option(node, file, constants.root)
        elif isinstance(node, ast.ClassDef) and any(map(_is_dataclass, node.decorator_list)):
            yield from _fields(node, file, constants.root)


def _options(document: Document, file: SourceFile) -> Iterator[Option]:
    for leaf in document.leaves():
        if len(leaf.path) == 1 and not isinstance(leaf.value, tuple):
            yield leaf.key, leaf.value, leaf.place(file)


def _option(call: ast.Call, file: SourceFile, constants: Node) -> Iterator[Option]:
    """Yield a declared option; a switch (`store_true`) that nobody sets says nothing."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    words = [a.value for a in call.args if isinstance(a, ast.Constant)]
    names = [word for word in words if isinstance(word, str)]
    if called in _ADDS:
        long = [name for name in names if name.startswith("--")]
        default = next((k.value for k in call.keywords if k.arg == "default"), None)
        if long and default is not None:
            yield from _given(long[0], default, file, constants)
    elif called.startswith("DEFINE_") and names and len(call.args) >= 2:
        yield from _given(names[0], call.args[1], file, constants)


def _fields(node: ast.ClassDef, file: SourceFile, constants: Node) -> Iterator[Option]:
    for statement in node.body:
        if not isinstance(statement, ast.AnnAssign) or statement.value is None:
            continue
        if not isinstance(statement.target, ast.Name):
            continue
        value: ast.expr | None = statement.value
        if isinstance(value, ast.Call) and last_name(value.func) in ("field", "Field"):
            value = next((k.value for k in value.keywords if k.arg == "default"), None)
        if value is not None:
            yield from _given(statement.target.id, value, file, constants)


def _given(name: str, value: ast.expr, file: SourceFile, constants: Node) -> Iterator[Option]:
    node = value_of(value, constants)
    for leaf in Document(Node({name: node}, node.line), ()).leaves():
        if leaf.path == (name,):
            yield name, _raw(leaf), file.at(node.line)


def _raw(leaf: Leaf) -> object:
    return list(leaf.value) if isinstance(leaf.value, tuple) else leaf.value


def _is_dataclass(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return last_name(target) == "dataclass"


READER = ScriptDefaultsReader()
