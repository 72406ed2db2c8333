"""A shell script as what it assigns and what it runs. The text is read, never run.

Loops are read once, branches the text cannot decide are all read. A word that still holds a `$`
is not settled by this file alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from compute_budget_planner.errors import FormatError
from compute_budget_planner.readers.contract import Problem, SourceFile
from compute_budget_planner.readers.shell_branches import (
    Branches,
    Taken,
    condition_holds,
    opposite,
)
from compute_budget_planner.readers.shell_expansion import Variables
from compute_budget_planner.readers.shell_words import RawCommand, raw_commands

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=(.*)", re.DOTALL)
_DECLARATIONS = ("export", "declare", "typeset", "local", "readonly")
_TESTS = ("[", "[[", "test")
_OPENERS = ("then", "do", "!", "time", "{", "exec", "command")
_SHELLS = ("bash", "sh", "zsh")
_LARGEST_SCRIPT = 1_000_000
_DEEPEST = 3


@dataclass(frozen=True)
class Assignment:
    """A variable the script sets: its value, its line and whether programs see it."""

    name: str
    value: str
    line: int
    exported: bool


@dataclass(frozen=True)
class ShellCommand:
    """A command with its words expanded, its own variables and the runs of its loop.

    `loop_runs` is how often the loops around it run it, None when the text does not say.
    """

    words: tuple[str, ...]
    line: int
    environment: Mapping[str, str] = field(default_factory=dict)
    loop_runs: int | None = 1


@dataclass(frozen=True)
class ShellScript:
    """What a script assigns and runs."""

    assignments: Mapping[str, Assignment]
    commands: tuple[ShellCommand, ...]
    problems: tuple[Problem, ...]


def read_commands(file: SourceFile, known: Mapping[str, str] | None = None) -> ShellScript:
    """Read a script; `known` are variables set from outside, such as `SLURM_NNODES`.

    Raises:
        FormatError: the script is larger than 1 MB.
    """
    if len(file.text) > _LARGEST_SCRIPT:
        raise FormatError(
            "the script is larger than 1 MB", where=file.path, remedy="Name the job script itself."
        )
    script = _Script(file, Variables(dict(known or {})))
    script.read(raw_commands(file.text))
    return ShellScript(script.assignments, tuple(script.commands), tuple(script.problems))


class _Script:
    def __init__(self, file: SourceFile, variables: Variables) -> None:
        self.file = file
        self.variables = variables
        self.branches = Branches()
        self.assignments: dict[str, Assignment] = {}
        self.commands: list[ShellCommand] = []
        self.problems: list[Problem] = []
        self.loops: list[int | None] = []

    def read(
        self, commands: list[RawCommand], prefix: tuple[str, ...] = (), depth: int = 0
    ) -> None:
        guard = Taken.YES
        for command in commands:
            words = list(command.words)
            while words and self._keyword(words, command.end):
                words = words[1:]
            self.branches.open("guard", guard)
            guard = Taken.YES
            if words and words[0] in _TESTS:
                # `[ … ] && command` and `[ … ] || command` run one command under a condition.
                holds = condition_holds(self.variables.expand_words(tuple(words)))
                guard = {"&": holds, "|": opposite(holds)}.get(command.end, Taken.YES)
            elif words and self.branches.taken is not Taken.NO:
                self._command(words, command, prefix, depth)
            self.branches.close("guard")

    def _keyword(self, words: list[str], end: str) -> bool:
        """Take a keyword off the front; what stands behind most is a command of its own."""
        word, rest = words[0], tuple(words[1:])
        match word:
            case "if" | "elif":
                holds = condition_holds(self.variables.expand_words(rest))
                holds = Taken.MAYBE if end in "&|" else holds
                if word == "if":
                    self.branches.open("if", holds)
                else:
                    self.branches.next_branch(holds)
                if rest[:1] and rest[0] not in _TESTS:
                    return True
            case "fi" | "esac":
                self.branches.close("if" if word == "fi" else "case")
            case "case":
                self.branches.open("case", Taken.MAYBE)
            case "for" | "select":
                self._loop(list(rest))
            case "while" | "until":
                self.branches.open("loop", Taken.MAYBE)
                self.loops.append(None)
            case "done":
                self.branches.close("loop")
                del self.loops[-1:]
            case "else":
                self.branches.next_branch(Taken.YES)
                return True
            case _:
                return word in _OPENERS
        del words[1:]
        return True

    def _loop(self, header: list[str]) -> None:
        self.branches.open("loop", Taken.YES)
        values = self.variables.expand_words(tuple(header[2:])) if header[1:2] == ["in"] else []
        self.loops.append(_loop_runs(values))
        if header:
            self.variables.scalars.pop(header[0], None)
            if self.loops[-1] == 1 and len(values) == 1:
                self.variables.scalars[header[0]] = values[0]

    def _command(
        self, words: list[str], command: RawCommand, prefix: tuple[str, ...], depth: int
    ) -> None:
        declares = words[0] in _DECLARATIONS
        exported = words[0] == "export"
        rest = [w for w in words[1:] if not w.startswith("-")] if declares else words
        if command.array is not None:
            self._array(rest[-1], command.array)
            rest = rest[:-1]
        environment = {}
        while rest and (match := _ASSIGNMENT.fullmatch(rest[0])):
            name, append, raw = match.groups()
            value = self.variables.expand_text(raw)
            if len(rest) == 1 or declares or self._only_assignments(rest):
                self._assign(name, value, command.line, append=bool(append), exported=exported)
            else:
                environment[name] = value
            rest = rest[1:]
        if declares:
            for name in rest:
                if exported and name in self.assignments:
                    known = self.assignments[name]
                    self.assignments[name] = Assignment(name, known.value, known.line, exported)
            return
        expanded = prefix + tuple(self.variables.expand_words(tuple(rest)))
        if not rest or not expanded or self._inner(expanded, command.line, depth):
            return
        runs: int | None = 1
        for count in self.loops:
            runs = None if runs is None or count is None else min(runs * count, 10**6)
        self.commands.append(ShellCommand(expanded, command.line, environment, runs))

    @staticmethod
    def _only_assignments(words: list[str]) -> bool:
        return all(_ASSIGNMENT.fullmatch(word) for word in words)

    def _inner(self, words: tuple[str, ...], line: int, depth: int) -> bool:
        """Read the text of `bash -c TEXT NAME ARGUMENTS` and `eval TEXT` as commands."""
        split = _inner_text(words) if depth < _DEEPEST else None
        if split is None:
            return False
        prefix, text, arguments = split
        inner = [RawCommand(line, c.words, c.end, c.array) for c in raw_commands(text)]
        outer = self.variables
        if arguments:
            self.variables = outer.with_arguments(arguments)
        self.read(inner, prefix, depth + 1)
        self.variables = outer
        return True

    def _array(self, word: str, raw: tuple[str, ...]) -> None:
        name = word.rstrip("(=+")
        elements = self.variables.expand_words(raw)[:10_000]
        if word.endswith("+=("):
            elements = self.variables.arrays.get(name, [])[:10_000] + elements
        self.variables.arrays[name] = elements
        self.variables.scalars[name] = elements[0] if elements else ""

    def _assign(self, name: str, value: str, line: int, *, append: bool, exported: bool) -> None:
        before = self.variables.scalars.get(name)
        if append:
            value = (before or "") + value
            value = value if len(value) <= 10_000 else "$_"
        if self.branches.taken is Taken.MAYBE and before is not None and before != value:
            if "$" in value and before and not append:
                return  # the arguments of a call may replace the value this file gives
            if name in self.assignments and not {"$"} & {*before, *value} and not append:
                text = (
                    f"`{name}` is `{before[:60]}` or `{value[:60]}`, by a condition this file "
                    "does not decide."
                )
                self.problems.append(Problem(self.file.at(line), text))
                value = f"${name}"
        self.variables.scalars[name] = value
        known = self.assignments.get(name)
        shown = exported or (known is not None and known.exported)
        self.assignments[name] = Assignment(name, value, line, shown)


def _inner_text(words: tuple[str, ...]) -> tuple[tuple[str, ...], str, tuple[str, ...]] | None:
    """Return what stands before a shell, the text it runs, and the words behind the text."""
    if words[0] == "eval":
        return (), " ".join(words[1:]), ()
    for index, word in enumerate(words):
        if word.rsplit("/", maxsplit=1)[-1] in _SHELLS:
            rest = words[index + 1 :]
            while rest and rest[0].startswith("-"):
                if not rest[0].startswith("--") and rest[0].endswith("c") and len(rest) > 1:
                    return words[:index], rest[1], rest[2:]
                rest = rest[1:]
    return None


def _loop_runs(values: list[str]) -> int | None:
    """Return how many values a `for` goes through; ranges count, unknown ones give None."""
    runs = 0
    for value in values:
        if match := re.fullmatch(r"\{(\d{1,9})\.\.(\d{1,9})\}", value):
            runs += abs(int(match[2]) - int(match[1])) + 1
        elif match := re.fullmatch(r"\$\(seq (?:(\d{1,9}) )?(\d{1,9})\)", value):
            runs += max(0, int(match[2]) - int(match[1] or 1) + 1)
        elif "$" in value or "*" in value:
            return None
        else:
            runs += 1
    return runs or None
