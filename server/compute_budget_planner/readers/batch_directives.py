"""Lines such as `#BSUB -q long` and `#PBS -l walltime=1:00:00` as options."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from compute_budget_planner.readers.contract import Problem, SourceFile


@dataclass(frozen=True)
class Directive:
    """A one-letter or long option without its dash, its value (empty for a flag), its line."""

    name: str
    value: str
    line: int


@dataclass(frozen=True)
class MarkedLine:
    """The words behind a scheduler's mark, and the line they stand on."""

    words: tuple[str, ...]
    line: int


def marked_lines(
    file: SourceFile, mark: str, *, head_only: bool
) -> tuple[list[MarkedLine], list[Problem]]:
    """Return the lines that begin with `#mark`, and a problem for each that is not obeyed.

    `# SBATCH` and `##SBATCH` are comments. With `head_only` the scheduler stops looking at the
    first command.
    """
    found: list[MarkedLine] = []
    problems: list[Problem] = []
    in_head = True
    for number, text in enumerate(file.lines, start=1):
        if not re.match(rf"#{mark}\s", text):
            in_head = in_head and (not text.strip() or text.lstrip().startswith("#"))
            continue
        where = file.at(number)
        if head_only and not in_head:
            problem = f"`#{mark}` behind the first command is ignored. Move it up."
            problems.append(Problem(where, problem))
            continue
        try:
            words = shlex.split(text[len(mark) + 1 :], comments=True)
        except ValueError:
            problem = f"the quotes of this `#{mark}` line do not match. Close them."
            problems.append(Problem(where, problem))
            continue
        found.append(MarkedLine(tuple(words), number))
    return found, problems


def read_options(
    file: SourceFile, mark: str, flags: frozenset[str], *, head_only: bool
) -> tuple[list[Directive], list[Problem]]:
    """Return the options behind `#mark`, several on a line too, and the lines not obeyed.

    `flags` are options without a value.
    """
    lines, problems = marked_lines(file, mark, head_only=head_only)
    return [option for line in lines for option in _options(line, flags)], problems


def _options(line: MarkedLine, flags: frozenset[str]) -> Iterator[Directive]:
    rest = list(line.words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if not equals and name not in flags and rest:
            value = rest.pop(0)
        yield Directive(name, value, line.line)


def task_count(text: str) -> int | None:
    """Return the tasks of `1-10`, `0-9:3`, `1,3,7-9`, `1-10%2`; None for another text."""
    count = 0
    for part in text.partition("%")[0].split(","):
        match = re.fullmatch(r"\s*(\d{1,7})(?:-(\d{1,7})(?::(\d{1,7}))?)?\s*", part)
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        count += len(range(first, last + 1, max(1, int(match[3] or 1))))
    return count or None
