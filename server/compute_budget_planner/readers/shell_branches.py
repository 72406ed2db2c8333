"""Which branch of `if`, `case` and loops a script takes, as far as its own text decides."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import eq, ge, gt, le, lt, ne


class Taken(Enum):
    """Whether a branch is taken: the text says so, says not, or leaves it open."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"


@dataclass
class Block:
    """An open block: its kind, whether its present branch is taken and whether one was."""

    kind: str
    taken: Taken
    decided: Taken


class Branches:
    """The blocks that are open at one place of a script."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []

    @property
    def taken(self) -> Taken:
        """Whether commands at this place run."""
        states = {block.taken for block in self.blocks}
        if Taken.NO in states:
            return Taken.NO
        return Taken.MAYBE if Taken.MAYBE in states else Taken.YES

    def open(self, kind: str, taken: Taken) -> None:
        """Enter a block."""
        self.blocks.append(Block(kind, taken, taken))

    def next_branch(self, condition: Taken) -> None:
        """Enter an `elif` or `else` branch of the innermost `if`."""
        if not self.blocks or self.blocks[-1].kind != "if":
            return
        block = self.blocks[-1]
        if block.decided is Taken.YES:
            block.taken = Taken.NO
            return
        if block.decided is Taken.MAYBE and condition is not Taken.NO:
            block.taken = Taken.MAYBE
            return
        block.taken = condition
        if block.decided is Taken.NO:
            block.decided = condition

    def close(self, kind: str) -> None:
        """Leave the innermost block if it is of that kind."""
        if self.blocks and self.blocks[-1].kind == kind:
            self.blocks.pop()


def opposite(taken: Taken) -> Taken:
    """Return whether the other branch is taken."""
    return {Taken.YES: Taken.NO, Taken.NO: Taken.YES, Taken.MAYBE: Taken.MAYBE}[taken]


def condition_holds(words: Sequence[str]) -> Taken:
    """Decide `[ … ]`, `[[ … ]]` or `test …` from its expanded words; `$` in one leaves it open."""
    if not words or words[0] not in ("[", "[[", "test"):
        return Taken.MAYBE
    inside = [word for word in words[1:] if word not in ("]", "]]")]
    negated = inside[:1] == ["!"]
    result = _test(inside[1:] if negated else inside)
    if result is None:
        return Taken.MAYBE
    return Taken.YES if result != negated else Taken.NO


def _test(words: list[str]) -> bool | None:
    if words[:1] in (["-z"], ["-n"]) and len(words) <= 2:
        # A variable this file never sets is empty unless the caller sets it: its default holds.
        word = words[1] if len(words) == 2 else ""
        empty = not word or bool(re.fullmatch(r"\$(\w+|\{\w+[^}]*\})", word))
        return empty == (words[0] == "-z")
    if len(words) == 3 and not any("$" in word or "*" in word for word in words):
        return _comparison(*words)
    return None


def _comparison(left: str, operator: str, right: str) -> bool | None:
    if operator in ("=", "==", "!="):
        return (left == right) == (operator != "!=")
    if operator in _NUMBER_TESTS and all(re.fullmatch(r"-?\d{1,18}", w) for w in (left, right)):
        return _NUMBER_TESTS[operator](int(left), int(right))
    return None


_NUMBER_TESTS: dict[str, Callable[[int, int], bool]] = {
    "-eq": eq,
    "-ne": ne,
    "-lt": lt,
    "-le": le,
    "-gt": gt,
    "-ge": ge,
}
