"""YAML, JSON and TOML files as one tree of values with lines, under the same limits."""

import json
import math
import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate

from compute_budget_planner.errors import FormatError
from compute_budget_planner.readers.contract import Problem, SourceFile
from compute_budget_planner.readers.nodes import Document, Node
from compute_budget_planner.readers.yaml_nodes import MAX_DEPTH, load_yaml

_EXTENSIONS = (".yaml", ".yml", ".json", ".toml")
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"(?P<colon>\s*:)?', re.S)
_TOML_TABLE = re.compile(r"\s*\[\[?\s*([^\[\]]+?)\s*\]")
_TOML_KEY = re.compile(r"""\s*([\w"'-][\w."' -]*?)\s*=""")


def is_structured(file: SourceFile) -> bool:
    """Tell by its extension whether a file is YAML, JSON or TOML."""
    return file.name.lower().endswith(_EXTENSIONS)


def load_mapping(file: SourceFile) -> Document:
    """Return the mapping a file holds at its top; of several YAML documents the first.

    Raises:
        FormatError: the text is broken, too deep or too large, or its top is no mapping.
    """
    loaded = _loaded(file)
    if isinstance(loaded, FormatError):
        raise FormatError(loaded.what, where=loaded.where, remedy=loaded.remedy)
    return loaded


def mapping_of(file: SourceFile) -> Document | None:
    """Return the mapping of a file, or None when it is broken or of another kind."""
    loaded = _loaded(file) if is_structured(file) else None
    return loaded if isinstance(loaded, Document) else None


@lru_cache(maxsize=4)
def _loaded(file: SourceFile) -> Document | FormatError:
    """Load once what every reader in turn asks for, its failure included."""
    name = file.name.lower()
    try:
        if name.endswith(".toml"):
            document = _load_toml(file)
        elif name.endswith(".json"):
            document = _load_json(file)
        else:
            document = load_yaml(file)
    except FormatError as error:
        return error
    if isinstance(document.root.value, dict):
        return document
    return FormatError(
        "the file holds no mapping at its top",
        where=file.at(1),
        remedy="Write `key: value` pairs at the top level.",
    )


class _Pairs(list[tuple[str, object]]):
    """A JSON object as written: keys in order, repeated ones too."""


def _load_json(file: SourceFile) -> Document:
    text = file.text.removeprefix("\ufeff")
    try:
        value = json.loads(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise _broken(file, "JSON", error.lineno, error.msg) from error
    except RecursionError as error:
        raise _too_deep(file) from error
    except ValueError as error:
        raise _broken(file, "JSON", None, "a number of thousands of digits") from error
    tree = _JsonTree(file, _json_key_lines(text))
    return Document(tree.node(value, 1, 1), tuple(tree.problems))


def _json_key_lines(text: str) -> Iterator[int]:
    """Return the line of every key, in the order of the text."""
    ends = list(accumulate(len(line) + 1 for line in text.split("\n")))
    for match in _JSON_STRING.finditer(text):
        if match["colon"]:
            yield bisect_right(ends, match.start()) + 1


@dataclass
class _JsonTree:
    """Joins parsed values with the lines of their keys: both come in the order of the text."""

    file: SourceFile
    key_lines: Iterator[int]
    problems: list[Problem] = field(default_factory=list)

    def node(self, value: object, line: int | None, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise _too_deep(self.file)
        if isinstance(value, _Pairs):
            members: dict[str, Node] = {}
            for key, member in value:
                key_line = next(self.key_lines, None)
                if key in members:
                    text = f"key `{key[:60]}` is given twice; the last one counts"
                    self.problems.append(Problem(self.file.at(key_line), text))
                members[key] = self.node(member, key_line, depth + 1)
            return Node(members, line, sum(node.size for node in members.values()) + 1)
        if isinstance(value, list):
            items = tuple(self.node(item, line, depth + 1) for item in value)
            return Node(items, line, sum(item.size for item in items) + 1)
        return Node(_finite(value), line)


def _load_toml(file: SourceFile) -> Document:
    try:
        value = tomllib.loads(file.text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"line (\d+)", str(error))
        message = re.sub(r"\s*\(at .*\)$", "", str(error))
        raise _broken(file, "TOML", int(where[1]) if where else None, message) from error
    except RecursionError as error:
        raise _too_deep(file) from error
    except ValueError as error:
        raise _broken(file, "TOML", None, "a value out of bounds") from error
    return Document(_toml_node(file, value, "", _toml_lines(file.text), 1), ())


def _toml_lines(text: str) -> dict[str, int]:
    """Return the first line of every dotted key; keys inside inline tables have none."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _TOML_TABLE.match(line):
            table = _bare(header[1])
            lines.setdefault(table, number)
        elif key := _TOML_KEY.match(line):
            lines.setdefault(f"{table}.{_bare(key[1])}".lstrip("."), number)
    return lines


def _bare(key: str) -> str:
    return re.sub(r"""["'\s]""", "", key)


def _toml_node(
    file: SourceFile, value: object, dotted: str, lines: dict[str, int], depth: int
) -> Node:
    if depth > MAX_DEPTH:
        raise _too_deep(file)
    line = lines.get(dotted)
    if isinstance(value, dict):
        members = {
            key: _toml_node(file, member, f"{dotted}.{key}".lstrip("."), lines, depth + 1)
            for key, member in value.items()
        }
        return Node(members, line, sum(node.size for node in members.values()) + 1)
    if isinstance(value, list):
        items = tuple(_toml_node(file, item, dotted, lines, depth + 1) for item in value)
        return Node(items, line, sum(item.size for item in items) + 1)
    return Node(_finite(value), line)


def _finite(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return str(value)


def _broken(file: SourceFile, language: str, line: int | None, what: str) -> FormatError:
    return FormatError(
        f"the {language} cannot be read: {what}",
        where=file.at(line),
        remedy=f"Correct the line so that the file is valid {language}.",
    )


def _too_deep(file: SourceFile) -> FormatError:
    return FormatError(
        f"nested deeper than {MAX_DEPTH} levels",
        where=file.path,
        remedy="Pass the configuration itself, without bulk data.",
    )
