"""Commands of a script as blocks: `if`, `case`, loops, functions and guards around commands.

Only keywords are looked at; what a branch means is decided where it is read. A block that is
never closed ends with the script, and one deeper than any script is read as if it were not there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from compute_budget_planner.readers.shell_words import RawCommand

_DEEPEST = 40
_TESTS = ("[", "[[", "test")
_CLOSES = {"fi": "if", "esac": "case", "done": "loop", "}": "group"}
_PASSED_OVER = ("!", "time", "exec", "command")


@dataclass
class Branch:
    """A branch: the commands that decide it (none for `else`), and what it runs.

    Of a `case`, `patterns` are the words one of which has to fit.
    """

    conditions: list[RawCommand] = field(default_factory=list)
    items: list["Item"] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)


@dataclass
class Block:
    """A block of a `kind` (`if`, `case`, `loop`, `group`, `function`) and its branches.

    `header` holds the words behind the keyword: `s in 1 2` of a `for`, the name of a function.
    """

    kind: str
    line: int
    header: tuple[str, ...] = ()
    branches: list[Branch] = field(default_factory=list)


Item: TypeAlias = RawCommand | Block


def blocks(commands: Sequence[RawCommand]) -> list[Item]:
    """Return the commands of a script as nested blocks, in order."""
    reader = _Reader()
    for command in commands:
        reader.take(command)
    return reader.top.branches[0].items


class _Reader:
    def __init__(self) -> None:
        self.top = Block("group", 1, (), [Branch()])
        self.open = [self.top]
        self.in_conditions = False
        self.in_patterns = False

    def take(self, command: RawCommand) -> None:
        while command.words:
            word = command.words[0]
            block = self.open[-1]
            if block.kind == "function" and not block.branches[0].items and word != "{":
                self.open.pop()  # a body in brackets: its commands are read where they stand
            if self.in_patterns and word not in ("esac", ";;"):
                self._pattern(command)
                return
            if word in _CLOSES:
                self._close(_CLOSES[word], command.end)
                return
            rest = replace(command, words=command.words[1:])
            if word in ("for", "select"):
                self._open(Block("loop", command.line, rest.words, [Branch()]))
                return
            if word == "case":
                self._case(rest)
                return
            if word == "function" and len(command.words) > 1:
                name, rest = rest.words[:1], replace(rest, words=rest.words[1:])
                self._open(Block("function", command.line, name, [Branch()]))
            elif (word == "!" and self.in_conditions) or not self._keyword(word, command.line):
                self._simple(command)
                return
            command = rest

    def _keyword(self, word: str, line: int) -> bool:
        """Take a keyword that opens a block or a branch; what stands behind it is a command."""
        block = self.open[-1]
        match word:
            case "if" | "while" | "until":
                self._open(Block("if" if word == "if" else "loop", line, (), [Branch()]))
                self.in_conditions = True
            case "elif" | "else":
                if block.kind == "if":
                    block.branches.append(Branch())
                    self.in_conditions = word == "elif"
            case "then" | "do":
                self.in_conditions = False
            case "{":
                self._open(Block("group", line, (), [Branch()]))
            case ";;":
                self.in_patterns = block.kind == "case"
                if self.in_patterns:
                    block.branches.append(Branch())
            case _:
                return word in _PASSED_OVER
        return True

    def _case(self, rest: RawCommand) -> None:
        behind = rest.words.index("in") + 1 if "in" in rest.words[1:2] else len(rest.words)
        self._open(Block("case", rest.line, rest.words[:1], [Branch()]))
        self.in_patterns = True
        if rest.words[behind:]:
            self._pattern(replace(rest, words=rest.words[behind:]))

    def _pattern(self, command: RawCommand) -> None:
        words = [word for word in command.words if word != "in"]
        self.open[-1].branches[-1].patterns += words
        self.in_patterns = command.end != ")"

    def _open(self, block: Block) -> None:
        self.in_conditions = False
        if len(self.open) < _DEEPEST:
            self.open[-1].branches[-1].items.append(block)
            self.open.append(block)

    def _close(self, kind: str, end: str) -> None:
        self.in_patterns = self.in_conditions = False
        kinds = [block.kind for block in self.open]
        if kind in kinds[1:]:
            del self.open[len(kinds) - 1 - kinds[::-1].index(kind) :]
        if kind == "group" and self.open[-1].kind == "function":
            self.open.pop()
        self._end_guard(end)

    def _simple(self, command: RawCommand) -> None:
        block = self.open[-1]
        branch = block.branches[-1]
        if self.in_conditions:
            branch.conditions.append(command)
        elif command.words[0] in _TESTS:
            # `[ … ] && command` and `[ … ] || command` run one command under a condition.
            if command.end in ("&&", "||"):
                if block.kind == "guard" and not branch.items:
                    branch.conditions.append(command)
                elif len(self.open) < _DEEPEST:
                    self._open(Block("guard", command.line, (), [Branch([command])]))
        else:
            branch.items.append(command)
            self._end_guard(command.end)

    def _end_guard(self, end: str) -> None:
        """Leave a guard behind its command; `||` behind it opens its other branch."""
        while self.open[-1].kind == "guard":
            guard = self.open[-1]
            if end == "||" and len(guard.branches) == 1:
                guard.branches.append(Branch())
                return
            if end == "&&":
                return
            self.open.pop()
