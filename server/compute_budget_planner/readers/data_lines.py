"""JSON lines, CSV and plain text as training data: counted, and their tokens estimated.

A whole file is counted; of a long one head, middle and tail give the bytes a line takes. Tokens
follow from characters (`characters_per_token` of the guide) and are an estimate: templates,
languages and tokenizers differ.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import mean, stdev

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Problem, Reading, SourceFile
from compute_budget_planner.readers.dataset_sizes import dataset_reading

_ENDINGS = (".jsonl", ".ndjson", ".csv", ".tsv", ".txt")
_NAMED = re.compile(
    r"(?:^|[/_.-])(?:data|datasets?|train|training|corpus|corpora|sft|instruct|pretrain)"
    r"(?=$|[/_.\d-])",
    re.I,
)
_NOT_TRAINING = re.compile(
    r"(?:^|[/_.-])(?:eval|val|valid|test|dev|logs?|results?)(?=[/_.-]|$)", re.I
)
_MOST_SAMPLED = 20_000
_LONGEST_LINE = 2_000_000


@dataclass(frozen=True)
class _Count:
    examples: int
    counted: bool
    characters: list[int]


class DataLinesReader:
    """A text file of training examples, recognised by its place and by its lines."""

    format = "data_lines"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the file lies where data lie and its first line is no log's."""
        if not file.name.lower().endswith(_ENDINGS):
            return False
        if not _NAMED.search(file.path) or _NOT_TRAINING.search(file.path):
            return False
        if not file.name.lower().endswith((".jsonl", ".ndjson")):
            return True
        first = next(_objects(file.text[:_LONGEST_LINE].splitlines()[:1]), None)
        return first is not None and any(isinstance(v, str | list) for v in first.values())

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return examples and estimated tokens.

        Raises:
            FormatError: never; lines that cannot be read are passed over.
        """
        name = file.name.lower()
        if name.endswith(".txt"):
            whole = file.size_bytes or len(file.text.encode(errors="replace"))
            count = _Count(0, counted=True, characters=[whole])
        elif name.endswith((".csv", ".tsv")):
            count = _rows(file, "\t" if name.endswith(".tsv") else ",")
        else:
            count = _lines(file)
        per_token = reference.quantity("characters_per_token")
        average = mean(count.characters) if count.characters else 0.0
        total = average * max(count.examples, 1)
        spread = _spread(count)
        problems = [
            Problem(
                file.path,
                f"tokens are estimated from characters ({per_token.low:g} to {per_token.high:g} a"
                " token): give `dataset_tokens` once the data are tokenised.",
            )
        ]
        if not count.counted:
            text = f"the examples are estimated from samples of the file (about ±{spread:.0%})"
            problems.append(Problem(file.path, text))
        return dataset_reading(
            file.path,
            self.format,
            reference,
            examples=count.examples,
            tokens=round(total / per_token.expected),
            counted=count.counted,
            notes={
                "characters_per_example": round(average),
                "relative_error": round(spread, 3),
            },
            problems=problems,
        )


def _lines(file: SourceFile) -> _Count:
    lines = [line for line in file.text.splitlines() if line.strip()]
    sample = lines[:: max(1, len(lines) // _MOST_SAMPLED)]
    characters = [_characters(entry) for entry in _objects(sample)]
    return _estimated(file, lines, characters)


def _rows(file: SourceFile, delimiter: str) -> _Count:
    """Count the records of a table below its header; quoted fields may hold line ends."""
    rows = []
    try:
        for row in csv.reader(file.text.splitlines(), delimiter=delimiter):
            if row:
                rows.append(sum(len(cell) for cell in row))
    except csv.Error:
        rows = [len(line) for line in file.text.splitlines() if line.strip()]
    return _estimated(file, rows[1:], rows[1:])


def _estimated(file: SourceFile, found: list[str] | list[int], characters: list[int]) -> _Count:
    if not file.sampled:
        return _Count(len(found), counted=True, characters=characters)
    sampled_bytes = len(file.text.encode(errors="replace")) or 1
    examples = round(len(found) * file.size_bytes / sampled_bytes)
    return _Count(examples, counted=False, characters=characters)


def _spread(count: _Count) -> float:
    """Return the relative standard error of the mean length of the sampled examples."""
    if len(count.characters) < 2 or mean(count.characters) == 0:
        return 0.0
    return float(stdev(count.characters) / mean(count.characters) / len(count.characters) ** 0.5)


def _objects(lines: Iterable[str]) -> Iterator[dict[str, object]]:
    for line in lines:
        if len(line) > _LONGEST_LINE:
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            yield entry


def _characters(entry: dict[str, object]) -> int:
    """Return the characters of all texts of an example, those of its turns too."""
    total = 0
    waiting: list[object] = [entry]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            total += len(value)
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return total


READER = DataLinesReader()
