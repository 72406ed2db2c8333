"""The defaults list of a Hydra configuration: its entries as data.

    defaults:
      - _self_
      - data: mnist                    group and option
      - optional local: default        may be absent
      - override /trainer: ddp         another option for a group chosen elsewhere
      - /optimizer@model.opt: adamw    absolute group, package of its own
      - base                           a configuration of the same folder

Source: hydra.cc, "The Defaults List" and "Packages".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.structured import mapping_of

SELF = "_self_"
_HEADER = re.compile(r"^#\s*@package\s+(\S+)\s*$", re.M)
_HEADER_LINES = 2_000
_KEY = re.compile(
    r"(?P<words>(?:(?:optional|override)\s+)*)(?P<group>[^@\s]*)(?:@(?P<package>\S*))?"
)
_PRIMARY_NAMES = ("config.yaml", "train.yaml", "main.yaml", "default.yaml", "base.yaml")
_MOST_FOLDERS = 4
_NO_OPTION = {"null", "none", "~", ""}


@dataclass(frozen=True)
class Entry:
    """One entry: a group with its options, or (`group` empty) configurations of the folder.

    `group` and names may begin with `/`: they are counted from the top of the tree. `package` is
    None unless the entry gives one.
    """

    group: str
    options: tuple[str, ...]
    package: str | None
    line: int | None
    optional: bool = False
    override: bool = False

    @property
    def is_self(self) -> bool:
        """Whether the entry stands for the configuration itself."""
        return not self.group and self.options == (SELF,)


def entries_of(root: Node) -> list[Entry]:
    """Return the entries of a configuration's defaults list, its own place among them.

    A list that does not name `_self_` has it at its end.
    """
    defaults = root.get("defaults")
    found = [e for item in defaults.items for e in _entries(item)] if defaults else []
    if not any(entry.is_self for entry in found):
        found.append(Entry("", (SELF,), None, None))
    return found


def _entries(item: Node) -> Iterator[Entry]:
    if isinstance(item.value, str):
        name, _, package = item.value.partition("@")
        optional = name.startswith("optional ")
        name = name.removeprefix("optional ").strip()
        yield Entry("", (name,), package or None, item.line, optional=optional)
    for key, node in item.mapping.items():
        match = _KEY.fullmatch(key.strip())
        if match is None or not match["group"]:
            continue
        values = node.items or (node,)
        options = (str(v.scalar) for v in values if v.scalar is not None)
        yield Entry(
            match["group"],
            tuple(o for o in options if o.lower() not in _NO_OPTION),
            match["package"],
            node.line,
            optional="optional" in match["words"],
            override="override" in match["words"],
        )


def package_header(text: str) -> str | None:
    """Return what the `# @package` line of a configuration says."""
    match = _HEADER.search(text[:_HEADER_LINES])
    return match[1] if match else None


def experiment_of(file: SourceFile) -> tuple[SourceFile, str] | None:
    """Return the configuration a file is an experiment of, and the choice `group=option` it is.

    An experiment is `@package _global_` in a folder below one whose configuration names its group.
    """
    if package_header(file.text) != "_global_":
        return None
    folders = file.path.split("/")[:-1]
    for depth in range(1, min(len(folders), _MOST_FOLDERS) + 1):
        group = "/".join(folders[-depth:])
        for name in _PRIMARY_NAMES:
            primary = file.beside("../" * depth + name)
            document = mapping_of(primary) if primary is not None else None
            if primary is None or document is None or not is_primary(document.root):
                continue
            for entry in entries_of(document.root):
                named = entry.group.strip("/")
                if named and f"{group}/".startswith(f"{named}/"):
                    option = f"{group}/{file.name}".removeprefix(f"{named}/")
                    return primary, f"{named}={option.rsplit('.', maxsplit=1)[0]}"
    return None


def is_primary(root: Node) -> bool:
    """Tell whether a mapping is a Hydra configuration that composes others."""
    defaults = root.get("defaults")
    if defaults is None or not defaults.items:
        return False
    return all(
        isinstance(item.value, str) or (item.mapping and len(item.mapping) == 1)
        for item in defaults.items
    )
