"""A Hydra configuration composed from its tree of files, without Hydra.

Groups, packages, overrides and the order of composition follow hydra.cc ("The Defaults List",
"Packages", "Basic Override syntax"). Plugins are not needed and nothing a configuration names is
called, so a tree that asks for a plugin composes too; blocks under `hydra` stay plain data.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from compute_budget_planner.errors import FormatError
from compute_budget_planner.readers.contract import Problem, SourceFile
from compute_budget_planner.readers.hydra_defaults import SELF, Entry, entries_of, package_header
from compute_budget_planner.readers.interpolation import interpolated
from compute_budget_planner.readers.nodes import Document, Node
from compute_budget_planner.readers.structured import load_mapping
from compute_budget_planner.readers.tree_merge import from_file, merged, placed, without
from compute_budget_planner.readers.yaml_nodes import load_yaml

_MOST_FILES = 300
_MOST_DEPTH = 30
_OVERRIDE = re.compile(r"(?P<sign>\+{1,2}|~)?(?P<key>[\w./@-]+)(?:=(?P<value>.*))?", re.S)
_GLOBAL = "_global_"


@dataclass(frozen=True)
class Composition:
    """The composed tree, the paths it was composed from, and the option chosen of each group."""

    document: Document
    paths: tuple[str, ...]
    choices: dict[str, str]


@dataclass(frozen=True)
class _Part:
    """One file of the composition and where its content goes."""

    root: Node
    package: tuple[str, ...]


def composed(head: SourceFile, overrides: Sequence[tuple[str, str]] = ()) -> Composition:
    """Compose the tree whose top is the folder of `head`.

    `overrides` are (`group=option` or `key=value` as written on a command line, its place).

    Raises:
        FormatError: the head or a file it includes is broken.
    """
    composer = _Composer(head)
    settings = [o for o in overrides if not composer.take_group(o[0])]
    parts = composer.parts_of(head, load_mapping(head).root, "", (), 0)
    root = Node({}, 1)
    for part in parts:
        root = merged(root, placed(part.root, part.package))
    for text, place in settings:
        root = _with_setting(root, text, place)
    document = Document(root, tuple(composer.problems))
    return Composition(interpolated(document), tuple(composer.paths), composer.choices)


@dataclass
class _Composer:
    head: SourceFile
    problems: list[Problem] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    choices: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, tuple[str, ...]] = field(default_factory=dict)
    added: list[Entry] = field(default_factory=list)

    def take_group(self, text: str) -> bool:
        """Take an override that chooses an option of a group; others are values."""
        match = _OVERRIDE.fullmatch(text)
        if match is None or "." in match["key"].partition("@")[0]:
            return False
        group, _, package = match["key"].partition("@")
        option = (match["value"] or "").strip("'\"")
        if match["sign"] == "~":
            known = any(e.group.strip("/") == group for e in self._head_entries())
            self.chosen |= {group: ()} if known else {}
            return known
        if match["sign"]:
            if self._file(f"{group}/{option}") is None:
                return False
            self.added.append(Entry(f"/{group}", (option,), package or None, None))
            return True
        empty = option.lower() in ("null", "none", "")
        known = any(e.group.strip("/") == group for e in self._head_entries())
        if not known and (empty or self._file(f"{group}/{option}") is None):
            return False
        listed = option.strip("[]").split(",") if option.startswith("[") else [option]
        self.chosen[group] = () if empty else tuple(part.strip() for part in listed)
        return True

    def _head_entries(self) -> list[Entry]:
        return entries_of(load_mapping(self.head).root)

    def _file(self, name: str) -> SourceFile | None:
        """Return the file of a configuration by its name from the top of the tree."""
        stem = posixpath.normpath(name.strip("/"))
        if stem.startswith(".."):
            return None
        names = [stem] if stem.endswith((".yaml", ".yml")) else [f"{stem}.yaml", f"{stem}.yml"]
        return next((file for n in names if (file := self.head.beside(n)) is not None), None)

    def parts_of(
        self, file: SourceFile, root: Node, group: str, package: tuple[str, ...], depth: int
    ) -> list[_Part]:
        """Return the parts a configuration is composed of, in the order they are laid over."""
        if depth > _MOST_DEPTH or len(self.paths) >= _MOST_FILES:
            raise FormatError(
                "the defaults lists include one another without end",
                where=file.at(1),
                remedy="Remove the configuration that includes itself.",
            )
        if file.path not in self.paths:
            self.paths.append(file.path)
        entries = entries_of(root) + (self.added if depth == 0 else [])
        for entry in entries:
            if entry.override:
                self.chosen.setdefault(_joined(group, entry.group), entry.options)
        body = from_file(without(root, "defaults"), "" if file is self.head else file.path)
        found: list[list[_Part]] = []
        # What stands later may override what stands earlier, so it is looked at first.
        for entry in reversed([entry for entry in entries if not entry.override]):
            if entry.is_self:
                found.append([_Part(body, package)])
            else:
                found.append(list(self._included(file, entry, group, package, depth)))
        return [part for parts in reversed(found) for part in parts]

    def _included(
        self, file: SourceFile, entry: Entry, group: str, package: tuple[str, ...], depth: int
    ) -> Iterator[_Part]:
        inner = _joined(group, entry.group) if entry.group else group
        options = self.chosen.get(inner, entry.options) if entry.group else entry.options
        for option in options:
            if not entry.group and option == SELF:
                continue
            absolute = option.startswith("/")
            folder, _, name = option.strip("/").rpartition("/")
            where = folder if absolute else _joined(inner, folder)
            included = self._file(f"{where}/{name}")
            if included is None:
                self._missing(file, entry, f"{where}/{name}".strip("/"))
                continue
            if entry.group:
                self.choices[inner] = option
            root = _mapping_of(included)
            target = self._package(entry, included.text, where, group, package, absolute)
            yield from self.parts_of(included, root, where, target, depth + 1)

    def _package(
        self,
        entry: Entry,
        text: str,
        group: str,
        parent_group: str,
        parent: tuple[str, ...],
        absolute: bool,
    ) -> tuple[str, ...]:
        """Return the keys a configuration goes under: the entry's word, its header, its group."""
        header = entry.package if entry.package is not None else package_header(text)
        if header is None or header == "_group_":
            if absolute or entry.group.startswith("/") or not parent_group:
                own = () if absolute or entry.group.startswith("/") else parent
                return (*own, *_keys(group))
            inside = _keys(group)[len(_keys(parent_group)) :]
            return (*parent, *inside)
        if header.startswith(_GLOBAL):
            return _keys(header.removeprefix(_GLOBAL).strip(".").replace(".", "/"))
        if header == "_here_":
            return parent
        keys = _keys(header.replace(".", "/"))
        return (*parent, *keys) if entry.package is not None else keys

    def _missing(self, file: SourceFile, entry: Entry, name: str) -> None:
        if entry.optional or name.startswith("hydra/"):
            return
        if "${" in name or "???" in name:
            text = f"`{name[:80]}` in the defaults list is chosen elsewhere; name the option"
        else:
            text = f"the defaults list names `{name[:80]}`, and there is no such configuration"
        self.problems.append(Problem(file.at(entry.line), text))


def _joined(group: str, inner: str) -> str:
    return inner.strip("/") if inner.startswith("/") else f"{group}/{inner}".strip("/")


def _keys(group: str) -> tuple[str, ...]:
    return tuple(key for key in group.split("/") if key)


def _mapping_of(file: SourceFile) -> Node:
    """Return what a file of the tree holds; an empty one holds nothing."""
    document = load_yaml(file)
    return Node({}, 1) if document.root.value is None else load_mapping(file).root


def _with_setting(root: Node, text: str, place: str) -> Node:
    """Return the tree with `key=value`, `+key=value` or `~key` of the command line."""
    match = _OVERRIDE.fullmatch(text)
    if match is None or "/" in match["key"]:
        return root
    keys = tuple(key for key in match["key"].split(".") if key)
    if match["sign"] == "~":
        return _removed(root, keys)
    line = SourceFile(place, match["value"] or "")
    try:
        value = load_yaml(line).root
    except FormatError:
        value = Node(match["value"], None)
    path, _, number = place.rpartition(":")
    value = from_file(value, path if number.isdigit() else place)
    return merged(root, placed(_on_line(value, int(number) if number.isdigit() else None), keys))


def _on_line(node: Node, line: int | None) -> Node:
    if isinstance(node.value, dict):
        members = {key: _on_line(member, line) for key, member in node.value.items()}
        return replace(node, value=members, line=line)
    return replace(node, line=line)


def _removed(root: Node, keys: tuple[str, ...]) -> Node:
    if len(keys) == 1:
        return without(root, keys[0])
    inner = root.get(keys[0]) if keys else None
    if inner is None or not inner.mapping:
        return root
    members = {**root.mapping, keys[0]: _removed(inner, keys[1:])}
    return replace(root, value=members)
