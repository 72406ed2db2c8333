"""Which Hydra configuration a command starts with, and what it overrides.

`--config-name`, `--config-path` and their short forms win over the `@hydra.main(...)` of the
script, which is parsed as text and never imported.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compute_budget_planner.readers.python_syntax import parsed_quietly

_OVERRIDE = re.compile(r"(?:\+{1,2}|~)?[A-Za-z_][\w./@-]*=.*|~[A-Za-z_][\w./@-]*", re.S)
_NAME = ("--config-name", "-cn")
_FOLDER = ("--config-path", "-cp", "--config-dir", "-cd")
_MOST_CHARACTERS = 400_000


@dataclass(frozen=True)
class HydraMain:
    """The folder, relative to the script, and the name of the configuration; empty: not said."""

    folder: str
    name: str


def named_on_command(words: Sequence[str]) -> HydraMain:
    """Return what a command says of its configuration."""
    return HydraMain(_option(words, _FOLDER), _option(words, _NAME))


def _option(words: Sequence[str], names: Sequence[str]) -> str:
    for position, word in enumerate(words):
        key, equals, value = word.partition("=")
        if key in names:
            following = words[position + 1] if position + 1 < len(words) else ""
            return value if equals else following
    return ""


def overrides_of(words: Sequence[str]) -> list[str]:
    """Return the overrides among the words of a command; lists of a multirun are left out."""
    multirun = any(word in ("-m", "--multirun") for word in words)
    found = [word for word in words[1:] if _OVERRIDE.fullmatch(word)]
    return [word for word in found if not (multirun and _lists_values(word))]


def _lists_values(word: str) -> bool:
    value = word.partition("=")[2]
    return "," in value and not value.startswith(("[", "{", "'", '"'))


def hydra_main(text: str) -> HydraMain | None:
    """Return what the `@hydra.main(...)` of a script says, None when it has none."""
    if "hydra" not in text or len(text) > _MOST_CHARACTERS:
        return None
    tree = parsed_quietly(text)
    for node in tree.body if tree is not None else ():
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and _called(decorator) == "main":
                given = {
                    word.arg: word.value.value
                    for word in decorator.keywords
                    if isinstance(word.value, ast.Constant)
                }
                return HydraMain(_text(given, "config_path"), _text(given, "config_name"))
    return None


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else ""


def _text(given: Mapping[str | None, object], key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""
