"""Which branch of `if`, `case` and loops a script takes, as far as its own text decides."""

import re
from collections.abc import Callable, Sequence
from enum import Enum
from operator import eq, ge, gt, le, lt, ne

_MOST_WORDS = 60


class Taken(Enum):
    """Whether a branch is taken: the text says so, says not, or leaves it open."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"


def both(left: Taken, right: Taken) -> Taken:
    """Return whether two conditions hold together."""
    if Taken.NO in (left, right):
        return Taken.NO
    return Taken.YES if left is right is Taken.YES else Taken.MAYBE


def either(left: Taken, right: Taken) -> Taken:
    """Return whether one of two conditions holds."""
    return opposite(both(opposite(left), opposite(right)))


def opposite(taken: Taken) -> Taken:
    """Return whether the other branch is taken."""
    return {Taken.YES: Taken.NO, Taken.NO: Taken.YES, Taken.MAYBE: Taken.MAYBE}[taken]


def condition_holds(words: Sequence[str]) -> Taken:
    """Decide `[ … ]`, `[[ … ]]` or `test …` from its expanded words; `$` in one leaves it open."""
    if words[:1] == ["!"]:
        return opposite(condition_holds(words[1:]))
    if not words or words[0] not in ("[", "[[", "test"):
        return Taken.MAYBE
    inside = [word for word in words[1:] if word not in ("]", "]]")]
    for operator, join in (("||", either), ("-o", either), ("&&", both), ("-a", both)):
        if operator in inside[1:]:
            at = inside.index(operator, 1)
            left, right = inside[:at], inside[at + 1 :]
            if len(inside) > _MOST_WORDS:
                return Taken.MAYBE
            return join(condition_holds(["[", *left]), condition_holds(["[", *right]))
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
