"""`#SBATCH` lines as options, and the GPUs and nodes those options ask for (`man sbatch`)."""

import re
from collections.abc import Iterable

from compute_budget_planner.readers.batch_directives import Directive, marked_lines
from compute_budget_planner.readers.contract import Problem, SourceFile

_LONG = {
    "N": "nodes", "n": "ntasks", "c": "cpus-per-task", "t": "time", "p": "partition",
    "J": "job-name", "G": "gpus", "C": "constraint", "a": "array", "o": "output", "e": "error",
    "q": "qos", "A": "account", "d": "dependency", "D": "chdir", "w": "nodelist", "x": "exclude",
}  # fmt: skip
_COUNT = re.compile(r"(?:(?P<type>[A-Za-z][\w.+-]*)[:=])?(?P<count>\d{1,6})")


def read_directives(file: SourceFile) -> tuple[list[Directive], list[Problem]]:
    """Return the options Slurm obeys by their long names, in order, and the lines it passes over.

    `#SBATCH` behind the first command is passed over by Slurm.
    """
    lines, problems = marked_lines(file, "SBATCH", head_only=True)
    directives = [
        Directive(name, value, line.line)
        for line in lines
        for name, value in directive_options(line.words)
    ]
    return directives, problems


def directive_options(words: Iterable[str]) -> list[tuple[str, str]]:
    """Return (long name, value) of words such as `--time=1:00 -N 2 -n4 --exclusive`."""
    found: list[tuple[str, str]] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--") and len(name) > 1:
            name, value, equals = word[1], word[2:].removeprefix("="), "="
        if not equals and rest and not rest[0].startswith("-"):
            value = rest.pop(0)
        found.append((_LONG.get(name, name), value))
    return found


def gres_count(text: str) -> tuple[str, int] | None:
    """Return (type, count) of the GPUs in a `--gres` such as `gpu:a100:4,nvme:1`; None: none.

    Raises:
        ValueError: the part that names GPUs is not `gpu[:type][:count]`.
    """
    for part in text.split(","):
        word = re.sub(r"\(.*\)$", "", part.strip()).removeprefix("gres:").removeprefix("gres/")
        if not re.match(r"gpu\b", word):
            continue
        rest = re.split(r"[:=]", word)[1:]
        if not rest:
            return "", 1
        if rest[-1].isdecimal() and len(rest) <= 2 and len(rest[-1]) < 7:
            return (rest[0] if len(rest) == 2 else ""), int(rest[-1])
        if len(rest) == 1 and re.fullmatch(r"[A-Za-z][\w.+-]*", rest[0]):
            return rest[0], 1
        message = f"{word[:60]!r} is not `gpu[:type][:count]`"
        raise ValueError(message)
    return None


def typed_count(text: str) -> tuple[str, int]:
    """Return (type, count) of `[type:]count` as `--gpus`, `--gpus-per-node` take it.

    Raises:
        ValueError: the text is not of that form.
    """
    match = _COUNT.fullmatch(text.strip())
    if match is None:
        message = f"{text[:60]!r} is not `[type:]count`"
        raise ValueError(message)
    return match["type"] or "", int(match["count"])
