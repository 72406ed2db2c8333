"""One part of a change, such as `n_layers: 12 → 6` or `half the depth`, becomes facts.

A part gives one point, or several when it lists values. What follows no known form, or names
what is no fact, is refused: nothing is guessed from free text.
"""

import re
from collections.abc import Iterable

from compute_budget_planner.errors import FactError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.change_values import (
    NUMBER,
    ChangedFact,
    Target,
    changed_facts,
    factor_of,
    items_of,
    target_of,
)
from compute_budget_planner.readers.change_words import ACTIVATIONS, implied_fact
from compute_budget_planner.workload.vocabulary import VOCABULARY, Kind

Point = tuple[ChangedFact, ...]

_TOWARDS = re.compile(r"(?:reduce|increase|lower|raise|shrink|decrease|cut|extend|grow)\s+", re.I)
_LEADING = re.compile(r"(?:use|using|set|change|switch|switch to|train with|only)\s+", re.I)
_REPLACE = re.compile(r"(?:replace|swap)\s+(.+?)\s+(?:with|by|for)\s+(.+)", re.I)
_INSTEAD = re.compile(r"(.+?)\s+(?:instead of|in place of|rather than)\s+(.+)", re.I)
_NAMED = re.compile(r"([^:=∈{}\[\]|→]{1,60}?)\s*(?::=|[:=∈]|\bin\b(?=\s*[{\[]))\s*(.+)", re.I)
_SHARE = re.compile(
    rf"(?:a\s+)?(?P<factor>{NUMBER}\s*[×%]|1\s*/\s*\d+|half|twice|double|triple|a quarter)\s+"
    r"(?:as (?:many|much|long)\s+)?(?P<name>[a-z].*)",
    re.I,
)
_FEWER = re.compile(rf"({NUMBER})\s*%\s+(fewer|less|more)\s+(.+)", re.I)
_WITHOUT = re.compile(r"(?:no|without|w/o|disable|remove)\s+(.+)", re.I)
_OFF = re.compile(r"(.+?)\s*(?:[:=]\s*)?\b(?:off|disabled|removed)", re.I)
_WITH = re.compile(r"(?:with|enable|add|\+)\s*(.+)", re.I)
_ON = re.compile(r"(.+?)\s*(?:[:=]\s*)?\b(?:on|enabled)", re.I)
_LEADING_NUMBER = re.compile(rf"[~≈]?\s*({NUMBER}\s*[kKmMbBtT]?)\s+([A-Za-z].*)")
_LONGEST_NAME = 5


def read_clause(text: str, reference: Reference) -> list[Point]:
    """Return the points a part of a change names, each with the facts that change there.

    Raises:
        FactError: the part is not understood, or a value is not of its kind.
    """
    clause = _LEADING.sub("", text.strip(), count=1) if _LEADING.match(text.strip()) else text
    clause = clause.strip()
    if swap := _REPLACE.fullmatch(clause):
        clause = f"{swap[1]} → {swap[2]}"
    elif instead := _INSTEAD.fullmatch(clause):
        clause = f"{instead[2]} → {instead[1]}"
    if "→" not in clause and len(re.findall(r"\sto\s", clause)) == 1:
        clause = re.sub(r"\sto\s", " → ", clause)
    if "→" in clause:
        clause = _TOWARDS.sub("", clause, count=1) if _TOWARDS.match(clause) else clause
        points = _replaced(clause, reference)
    else:
        points = (
            _switched(clause, reference)
            or _scaled(clause, reference)
            or _named(clause, reference)
            or _implied(clause, "", reference)
        )
    if not points:
        raise FactError(f"{text.strip()[:80]!r} is not a change of facts")
    return points


def _replaced(clause: str, reference: Reference) -> list[Point]:
    """Read `name: old → new`, `name → new`, `old → new name` and `AdamW → Lion`."""
    before, _, after = clause.partition("→")
    before, after = re.sub(r"(?:^|\s)from\s+", " ", before, count=1).strip(), after.strip()
    if "→" in after or not after:
        return []
    if not before:
        return read_clause(after, reference)
    if before.lower() in ACTIVATIONS:  # `swiglu` is the name of an option as well
        return _implied(after, before, reference)
    split = _split(before) or _split_suffixed(before)
    if split is None and (target := target_of(before)):
        split = target, ""
    if split is None and re.fullmatch(NUMBER + r"\s*[kKmMbBtT]?", before):
        split = _split_suffixed(after)
        split = split and (split[0], before)
    if split is None:
        return _implied(after, before, reference)
    target, old = split
    if old and target.kind != "batch":
        changed_facts(target, old, "", reference)  # prose such as `layers of attention` ends here
    repeated = _split(after) or _split_suffixed(after)
    new = repeated[1] if repeated and repeated[0].words.lower() == target.words.lower() else after
    return _points(target, items_of(_without_unit(new, target), target), old, reference)


def _named(clause: str, reference: Reference) -> list[Point]:
    """Read `name = value`, `name value`, `value name`, each also with a list of values."""
    if (explicit := _NAMED.fullmatch(clause)) and (target := target_of(explicit[1])):
        values = items_of(_without_unit(explicit[2], target), target)
        return _points(target, values, "", reference)
    split = _split(clause) or _split_suffixed(clause)
    if split is None or (split[0].fact and VOCABULARY[split[0].fact].kind is Kind.TEXT):
        return []
    return _points(split[0], items_of(split[1], split[0]), "", reference)


def _scaled(clause: str, reference: Reference) -> list[Point]:
    """Read `2 × learning rate`, `half the depth`, `25 % of the data`, `30 % fewer steps`."""
    if fewer := _FEWER.fullmatch(clause):
        share = float(fewer[1]) / 100
        share = 1 + share if fewer[2].lower() == "more" else 1 - share
        text, name = f"× {share:.12g}", fewer[3]
    elif scaled := _SHARE.fullmatch(clause):
        text, name = scaled["factor"], scaled["name"]
    else:
        return []
    target = target_of(name)
    if target is None or not target.is_numeric or factor_of(text) is None:
        return []
    return [changed_facts(target, text, "", reference)]


def _switched(clause: str, reference: Reference) -> list[Point]:
    """Read `no activation checkpointing`, `packing off`, `with compile`, `no SwiGLU`."""
    for pattern, state in ((_WITHOUT, "off"), (_OFF, "off"), (_WITH, "on"), (_ON, "on")):
        match = pattern.fullmatch(clause)
        if match is None:
            continue
        name = match[1].strip()
        target = target_of(name)
        if target and target.fact:
            kind = VOCABULARY[target.fact].kind
            known = reference.choices.get(target.fact, {})
            word = state if kind is Kind.FLAG or state == "on" else "none"
            if kind is Kind.FLAG or (kind is Kind.CHOICE and word in known):
                return [changed_facts(target, word, "", reference)]
        if state == "on":
            return _named(name, reference) or _implied(name, "", reference)
        if ACTIVATIONS.get(name.lower()):
            return [(ChangedFact("glu", value=False),)]
        return []
    return []


def _implied(text: str, before: str, reference: Reference) -> list[Point]:
    """Read values that say themselves what they are: `Lion`, `bf16 → fp8`, `SwiGLU`."""
    points: list[Point] = []
    for item in items_of(text, None):
        gated = ACTIVATIONS.get(item.lower().replace("-", " "))
        fact = implied_fact(item, reference, before)
        if gated is not None:
            points.append((ChangedFact("glu", gated),))
        elif fact is not None:
            target = Target("fact", fact, fact)
            points.append(changed_facts(target, item, "", reference))
        elif reference.find_model(item) and (not before or reference.find_model(before)):
            points.append((ChangedFact("model", item),))
        else:
            return []
    return points if len({point[0].name for point in points}) == 1 else []


def _split(clause: str) -> tuple[Target, str] | None:
    """Split `name value` or `name: value` behind the longest name that means something."""
    if (explicit := _NAMED.fullmatch(clause)) and (target := target_of(explicit[1])):
        return target, explicit[2].strip()
    words = clause.split()
    for length in range(min(_LONGEST_NAME, len(words) - 1), 0, -1):
        if target := target_of(" ".join(words[:length])):
            return target, " ".join(words[length:])
    return None


def _split_suffixed(clause: str) -> tuple[Target, str] | None:
    """Split `12 layers`, `20B tokens` and `Lion optimizer` before the name."""
    if (number := _LEADING_NUMBER.fullmatch(clause)) and (target := target_of(number[2])):
        return (target, number[1]) if target.is_numeric else None
    words = clause.split()
    for length in range(1, min(3, len(words))):
        target = target_of(" ".join(words[-length:]))
        if target and not target.is_numeric:
            return target, " ".join(words[:-length])
    return None


def _without_unit(value: str, target: Target) -> str:
    """Drop the target's own name behind a value: `12 layers` of `n_layers`."""
    split = _split_suffixed(value)
    return split[1] if split and split[0].fact == target.fact else value


def _points(
    target: Target, values: Iterable[str], before: str, reference: Reference
) -> list[Point]:
    return [changed_facts(target, value, before, reference) for value in values]
