"""Files of several YAML documents: the one that is wanted, at the lines it has in the file."""

import re
from collections.abc import Iterator

from compute_budget_planner.readers.contract import SourceFile

_SEPARATOR = re.compile(r"^---(?:[ \t].*)?$", re.MULTILINE)
_MOST = 50


def documents(file: SourceFile) -> Iterator[SourceFile]:
    """Yield each document as a file in which the others are empty lines."""
    starts = [0, *(match.end() for match in _SEPARATOR.finditer(file.text))]
    ends = [*(match.start() for match in _SEPARATOR.finditer(file.text)), len(file.text)]
    for start, end in zip(starts[:_MOST], ends[:_MOST], strict=False):
        text = file.text[start:end]
        if text.strip():
            yield SourceFile(file.path, "\n" * file.text.count("\n", 0, start) + text)


def document_with(file: SourceFile, pattern: re.Pattern[str]) -> SourceFile:
    """Return the first document whose text has the pattern, else the whole file."""
    return next((part for part in documents(file) if pattern.search(part.text)), file)
