"""A reader of one framework's configuration: keys that tell it, and what its keys mean."""

from collections.abc import Callable
from dataclasses import dataclass

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_reading import Spelling, config_reading
from compute_budget_planner.readers.contract import Problem, Reading, SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.interpolation import interpolated
from compute_budget_planner.readers.nodes import Document, Node, Scalar
from compute_budget_planner.readers.structured import load_mapping, mapping_of


@dataclass(frozen=True)
class FrameworkReader:
    """Reads files `is_of` holds for, as `spelling` says the framework writes them."""

    format: str
    is_of: Callable[[Document], bool]
    spelling: Callable[["Settings"], Spelling]

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping has the framework's own keys."""
        document = mapping_of(file)
        return document is not None and self.is_of(document)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the settings the file gives.

        Raises:
            FormatError: the file is broken.
        """
        document = interpolated(load_mapping(file))
        spelling = self.spelling(Settings(file, document))
        return config_reading(file, document, reference, spelling)


def has_keys(*dotted: str) -> Callable[[Document], bool]:
    """Return a test whether all these keys stand in a file."""
    return lambda document: all(document.root.get(*key.split(".")) is not None for key in dotted)


@dataclass(frozen=True)
class Settings:
    """The values of one file by dotted key."""

    file: SourceFile
    document: Document

    def node(self, dotted: str) -> Node | None:
        """Return what stands under a key, or None."""
        return self.document.root.get(*dotted.split("."))

    def scalar(self, *dotted: str) -> Scalar:
        """Return the first of several keys' values that is there and not empty."""
        for key in dotted:
            node = self.node(key)
            if node is not None and node.scalar not in (None, ""):
                return node.scalar
        return None

    def text(self, *dotted: str) -> str:
        """Return the first of several keys' values as text, empty for none."""
        value = self.scalar(*dotted)
        return "" if value is None else str(value)

    def whole(self, *dotted: str) -> int | None:
        """Return the first of several keys' values when it is a whole number of at least 1."""
        value = self.scalar(*dotted)
        is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
        return int(value) if is_count and value is not None else None

    def place(self, *dotted: str) -> str:
        """Return `path:line` of the first of several keys that is there."""
        for key in dotted:
            node = self.node(key)
            if node is not None and node.scalar != "":
                return node.place(self.file)
        return self.file.path

    def give(self, fact: str, *dotted: str) -> DirectValue:
        """Return a fact as one of several keys gives it; no value where none does."""
        for key in dotted:
            node = self.node(key)
            if node is not None and node.scalar not in (None, "", "???", "auto"):
                return fact, node.scalar, node.place(self.file)
        return fact, None, self.file.path

    def say(self, fact: str, value: object, *dotted: str) -> DirectValue:
        """Return a fact that follows from keys, with the place of the first that is there."""
        return fact, value, self.place(*dotted)

    def ask(self, text: str, *dotted: str) -> Problem:
        """Return a problem at the place of a key."""
        return Problem(self.place(*dotted), text)


def last_part(name: str) -> str:
    """Return the class or function at the end of a dotted import path."""
    return name.rsplit(".", maxsplit=1)[-1]
