"""Changes that cost nothing: those that name only what the guide's table `cost_neutral` lists.

A change is taken as neutral only when every part of it is such a name with a value. Whatever else
is said could cost something, and a part left out would make a variant look as cheap as the
baseline.
"""

import re
import unicodedata
from collections.abc import Mapping

from compute_budget_planner.guide.reference import Reference, spelling
from compute_budget_planner.readers.change_values import NUMBER

RULE = "changes no cost: guide, table `cost_neutral`"

_PARTS = re.compile(r"(?:[;,\n]|\s\+\s|\s&\s|\band\b)(?![^{\[]*[}\]])", re.I)
_ARROW = re.compile(r"-{1,2}>|={1,2}>|[→⇒⟶➔➜]|\bto\b", re.I)
_GIVES = re.compile(r"[:=∈]|\bin\b(?=\s*[{\[])", re.I)
_VERBS = re.compile(
    r"(?:use|using|set|change|switch|vary|sweep|increase|decrease|reduce|raise|lower|add|remove|no"
    r"|without|with|disable|enable|w/o)\s+",
    re.I,
)
_OTHER_VALUES = re.compile(r"\s*[|/,;]\s*|\s+or\s+")
_NUMERIC = re.compile(rf"[~≈×]?\s*[+-]?{NUMBER}\s*(?:[%×x]|steps?)?", re.I)
_STATES = {"", "on", "off", "none", "enabled", "disabled", "removed", "default"}
_NUMBERS = "number"
"""Stands in the table's column `values` where numbers are accepted."""


def neutral_values(text: str, reference: Reference) -> int:
    """Return how many values a change tries that cost nothing; 0 when it may cost something."""
    counts: list[int] = []
    for part in (p.strip() for p in _PARTS.split(_plain(text))):
        if counts and _NUMERIC.fullmatch(part):
            # `dropout 0.1, 0.2` is one list.
            counts[-1] += 1
            continue
        values = _values_of(part, reference)
        if not values:
            return 0
        counts.append(values)
    several = [count for count in counts if count > 1]
    # Two lists may be pairs as well as a grid.
    return 0 if len(several) > 1 else max(counts, default=0)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).replace("`", "").replace("**", "")
    return " ".join(text.split()).strip(" .")


def _values_of(part: str, reference: Reference) -> int:
    """Return the number of values one part gives a neutral name, 0 when it is anything else."""
    part = _VERBS.sub("", part, count=1) if _VERBS.match(part) else part
    known = _names(reference)
    words = _GIVES.sub(" = ", part).split()
    splits = [(words[:length], words[length:]) for length in range(len(words), 0, -1)]
    splits.append((words[1:], words[:1]))  # `0.1 dropout`
    for name, value in splits:
        if (values := known.get(spelling(" ".join(name)))) is not None:
            return _count(" ".join(value).lstrip("= "), values)
    return 0


def _names(reference: Reference) -> Mapping[str, frozenset[str]]:
    """Return every spelling of a neutral name with the words it takes as values."""
    found = {}
    for row in reference.rows("cost_neutral").values():
        values = frozenset(spelling(value) for value in row.words("values"))
        for name in (row.required("name"), *row.words("aliases")):
            found[spelling(name)] = values
    return found


def _count(value: str, words: frozenset[str]) -> int:
    """Return how many values a text lists; 0 when one of them is neither number nor known word."""
    old_and_new = [side.strip() for side in _ARROW.split(value)]
    if len(old_and_new) > 2:
        return 0
    new = old_and_new[-1]
    if len(new) > 1 and new[0] + new[-1] in ("{}", "[]", "()"):
        new = new[1:-1]
    listed = _OTHER_VALUES.split(new.strip())
    if len(old_and_new) == 2:
        old = old_and_new[0].removeprefix("from ").strip()
        if not _is_value(old, words) or not new:
            return 0
    return len(listed) if all(_is_value(item, words) for item in listed) else 0


def _is_value(text: str, words: frozenset[str]) -> bool:
    if _NUMERIC.fullmatch(text.strip()):
        return _NUMBERS in words
    return spelling(text) in _STATES | words
