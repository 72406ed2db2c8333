"""Everything that can go wrong, for the agent who must act on it.

    PlannerError
    ├── GuideError       a reference page is broken: page, table, row and column are named
    ├── FactError        a fact is unknown, ill-formed or contradicts another
    ├── RequestError     the call itself cannot be carried out as asked (several runs fit, ...)
    ├── ProjectError     a path is missing, outside the project, too large or not writable
    └── FormatError      a file is what it claims to be, but cannot be parsed

Every message says what was wrong, where, and what would be right.
"""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST_LISTED = 24


class PlannerError(Exception):
    """Base of all errors the product raises on purpose.

    `what` is the fault, `where` a path, line or argument, `remedy` what would be accepted.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        text = f"{where}: {what}" if where else what
        super().__init__(f"{text}. {remedy}" if remedy else text)


class GuideError(PlannerError):
    """A reference page is broken."""


class FactError(PlannerError):
    """A fact is unknown, ill-formed or contradicts another."""


class RequestError(PlannerError):
    """The call cannot be carried out as asked."""


class ProjectError(PlannerError):
    """A path is missing, outside the project, too large or not writable."""


class FormatError(PlannerError):
    """A file cannot be parsed as what it claims to be."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a sentence naming the nearest of `known`, or when none is near, those there are."""
    by_lower = {choice.lower(): choice for choice in reversed(list(known))}
    close = get_close_matches(name.lower(), by_lower, n=3, cutoff=0.6)
    if close:
        return "Did you mean " + " or ".join(f"`{by_lower[c]}`" for c in close) + "?"
    choices = sorted(by_lower.values())
    listed = ", ".join(f"`{choice}`" for choice in choices[:_MOST_LISTED])
    more = len(choices) - _MOST_LISTED
    return f"Accepted: {listed}" + (f" and {more} more." if more > 0 else ".")
