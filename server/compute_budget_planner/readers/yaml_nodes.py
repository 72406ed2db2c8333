"""YAML as a tree of nodes, read event by event.

No object is ever constructed from a tag, and depth and size are checked while the events arrive,
so neither a nested bomb nor an alias bomb is built. Plain scalars mean what their writer meant:
`1e-4` is a number (YAML 1.1 sees text), `12:30:00` is text (1.1 sees 45000), a leading zero keeps
a number text. Numbers are finite; `.inf` and `.nan` stay text.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from compute_budget_planner.errors import FormatError
from compute_budget_planner.readers.contract import Problem, SourceFile
from compute_budget_planner.readers.nodes import Document, Node, Scalar

MAX_CHARACTERS = 4_000_000
MAX_DEPTH = 40
MAX_SCALARS = 500_000
MAX_ALIASES = 1_000

# Wheels of PyYAML bring libyaml, ten times as fast; builds without it read the same.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: dict[str, Scalar] = {"": None, "~": None, "null": None, "true": True, "false": False}
_WORDS |= {"yes": True, "no": False, "on": True, "off": False}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9_]{0,30})")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*|[0-9][0-9_]*(?=[eE]))(?:[eE][-+]?[0-9]{1,4})?"
)


def plain_scalar(text: str) -> Scalar:
    """Return what an unquoted YAML scalar stands for."""
    if len(text) <= 5 and text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text.replace("_", ""))
    if _FLOAT.fullmatch(text):
        number = float(text.replace("_", ""))
        return number if math.isfinite(number) else text
    return text


def load_yaml(file: SourceFile) -> Document:
    """Return the first document of a YAML file.

    Raises:
        FormatError: the text is broken, too deep, too large or full of aliases.
    """
    if len(file.text) > MAX_CHARACTERS:
        raise _refused(file, None, f"more than {MAX_CHARACTERS:,} characters of YAML")
    builder = _Builder(file, _events(file))
    root = builder.document()
    return Document(root, tuple(builder.problems))


def _events(file: SourceFile) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(file.text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "a syntax error"
        raise _broken(file, mark.line + 1 if mark else None, what) from error
    except yaml.reader.ReaderError as error:
        line = file.text.count("\n", 0, error.position) + 1
        raise _broken(file, line, "a character YAML does not allow") from error
    except (yaml.YAMLError, ValueError, OverflowError, IndexError) as error:
        raise _broken(file, None, "a syntax error") from error


def _broken(file: SourceFile, line: int | None, what: str) -> FormatError:
    return FormatError(
        f"the YAML cannot be read: {what}",
        where=file.at(line),
        remedy="Correct the line; indent with blanks and quote texts that hold `: ` or `{`.",
    )


def _refused(file: SourceFile, line: int | None, what: str) -> FormatError:
    return FormatError(
        what, where=file.at(line), remedy="Pass the configuration itself, without bulk data."
    )


@dataclass
class _Builder:
    file: SourceFile
    events: Iterator[yaml.Event]
    problems: list[Problem] = field(default_factory=list)
    anchors: dict[str, Node] = field(default_factory=dict)
    n_aliases: int = 0
    n_scalars: int = 0

    def document(self) -> Node:
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                root = self.node(next(self.events), 1)
                next(self.events)
                self._note_further_document()
                return root
        return Node(None, 1)

    def _note_further_document(self) -> None:
        following = next(self.events)
        if isinstance(following, yaml.DocumentStartEvent):
            where = self.file.at(_line(following))
            self.problems.append(Problem(where, "only the first YAML document was read"))

    def node(self, event: yaml.Event, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise _refused(self.file, _line(event), f"nested deeper than {MAX_DEPTH} levels")
        match event:
            case yaml.AliasEvent():
                return self._alias(event)
            case yaml.MappingStartEvent():
                node = self._mapping(event, depth)
            case yaml.SequenceStartEvent():
                node = self._sequence(event, depth)
            case yaml.ScalarEvent():
                plain = event.implicit[0] and event.tag is None
                value = plain_scalar(event.value) if plain else _tagged(event)
                node = Node(value, _line(event))
                self._count(1, event)
            case _:
                raise _broken(self.file, _line(event), "a value is missing")
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def _count(self, scalars: int, event: yaml.Event) -> None:
        self.n_scalars += scalars
        if self.n_scalars > MAX_SCALARS:
            raise _refused(self.file, _line(event), f"more than {MAX_SCALARS:,} values")

    def _alias(self, event: yaml.AliasEvent) -> Node:
        self.n_aliases += 1
        if self.n_aliases > MAX_ALIASES:
            raise _refused(self.file, _line(event), f"more than {MAX_ALIASES:,} aliases")
        if event.anchor not in self.anchors:
            raise _broken(self.file, _line(event), "an alias without its anchor")
        node = self.anchors[event.anchor]
        self._count(node.size, event)
        return node

    def _sequence(self, start: yaml.Event, depth: int) -> Node:
        items = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self.node(event, depth + 1))
        return Node(tuple(items), _line(start), sum(item.size for item in items) + 1)

    def _mapping(self, start: yaml.Event, depth: int) -> Node:
        members: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key_node = self.node(event, depth + 1)
            value = self.node(next(self.events), depth + 1)
            where = self.file.at(_line(event))
            if isinstance(key_node.value, dict | tuple) or not isinstance(event, yaml.ScalarEvent):
                text = "a key that is no text was skipped (a template not yet filled in?)"
                self.problems.append(Problem(where, text))
                continue
            key = event.value
            if key == "<<":
                for source in value.items or (value,):
                    merged = {**source.mapping, **merged}
                continue
            if key in members:
                text = f"key `{key[:60]}` is given twice; the last one counts"
                self.problems.append(Problem(where, text))
            members[key] = Node(value.value, _line(event), value.size)
        whole = {**merged, **members}
        return Node(whole, _line(start), sum(node.size for node in whole.values()) + 1)


def _tagged(event: yaml.ScalarEvent) -> Scalar:
    number_tags = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
    return plain_scalar(event.value) if event.tag in number_tags else str(event.value)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
