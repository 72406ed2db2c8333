"""What a plan's `Change` cell says, as facts: `n_layers: 12 -> 6`, `2x lr`, `{128, 256, 512}`.

A variant is costed by estimating the run again with these facts. So a cell is read whole or not
at all: a part left out would make the variant look as dear as the baseline.
"""

import re
import unicodedata
from dataclasses import dataclass
from itertools import product

from compute_budget_planner.errors import FactError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.change_clauses import Point, read_clause
from compute_budget_planner.readers.change_values import (
    NUMBER,
    ChangedFact,
    factor_of,
)
from compute_budget_planner.readers.change_words import COST_WORDS

_UNCHANGED = {
    *("none", "no change", "no changes", "unchanged", "nothing", "baseline", "reference"),
    *("as baseline", "same as baseline", "as the baseline", "无", "基线"),
}
_NOT_STATED = {"", "-", "—", "–", "n/a", "tbd", "?"}
_ARROW = re.compile(r"-{1,2}>|={1,2}>|&rarr;|[⇒⟶➔➜]")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d.,]*\d)")
_ADAPTER = re.compile(
    r"\b(q?lora)\b[\s,-]*(?:\(\s*(?:rank|r)\b([^()]*)\)|(?:with\s+)?(?:rank|r)\b)", re.I
)
_NUMBERS_IN_BRACKETS = re.compile(r"\(([\d.\seE+-]+[,|/][\d.,|/\seE+-]+)\)")
_REMARK = re.compile(r"\(([^()]*)\)")
_BETWEEN = re.compile(r"(?:[;,\n]|<br\s*/?>|\s\+\s|\s&\s|\band\b)(?![^{\[]*[}\]])", re.I)
_CHANGING = re.compile(r"(?:no|without|w/o|remove|add|replace|swap)\s|\+|.*→", re.I)
_CONTINUED = re.compile(rf"(?:or\s+)?(?P<number>{NUMBER}\s*(?P<sign>[×%]?))", re.I)
_UNCLEAR = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,[1-9]\d{2})+(?!\d)(?![^{\[]*[}\]])")
_MULTIPLIER = re.compile(rf"(?:cost )?(?:multiplier|factor) ({NUMBER})")
_FILLER = re.compile(r"\b(?:about|approx|approximately|costs|the|baseline|as|expensive)\b|[~≈:=]")
_MOST_CHARACTERS = 500
_MOST_POINTS = 64
_REMEDY = "Write `fact: old -> new`, give `changes`, or state a cost multiplier such as 1.5×."


@dataclass(frozen=True)
class Change:
    """A change as facts.

    `points` holds one set of facts, or one for each point of a sweep; one empty set means that
    nothing changes, none at all that the text could not be read. `stated_multiplier` is the cost
    the text itself gives, in runs of the baseline with one seed. `changed_variable` is what is
    shown for it. `problem` says what is needed when there are neither points nor a multiplier.
    """

    points: tuple[Point, ...]
    stated_multiplier: float | None
    changed_variable: str
    problem: str


def read_change(text: str, reference: Reference) -> Change:
    """Return what a cell changes; what cannot be read is a problem, never an error."""
    shown = " ".join(text.split())[:120]
    if len(text) > _MOST_CHARACTERS:
        return Change((), None, shown, f"The change is too long to be read. {_REMEDY}")
    plain = _normal(text)
    if plain.lower() in _UNCHANGED:
        return Change(((),), None, "none", "")
    if plain.lower() in _NOT_STATED:
        return Change((), None, shown, f"The row does not say what changes. {_REMEDY}")
    clauses, remarks = _parts(plain)
    stated = None
    try:
        stated = _stated_multiplier([*clauses, *remarks])
        if unclear := _UNCLEAR.search(plain):
            raise FactError(
                f"`{unclear[0]}` may be one number or several",
                remedy="Write it without commas, or as a list in braces.",
            )
        points = _points(clauses, remarks, reference)
        if not points and stated is None:
            raise FactError(f"{shown!r} names no facts")
    except FactError as error:
        problem = f"{error.what}. {error.remedy or _REMEDY}" if stated is None else ""
        return Change((), stated, shown, problem)
    return Change(points, stated, _title(points) or shown, "")


def _normal(text: str) -> str:
    """Bring arrows, products, brackets and thousands into one form."""
    text = unicodedata.normalize("NFKC", text).replace("`", "").replace("**", "")
    text = _ARROW.sub("→", text).replace("⁄", "/").replace("−", "-").replace("✕", "×")
    text = _ADAPTER.sub(lambda match: f"{match[1]}, lora_rank {match[2] or ''}", text)
    text = _NUMBERS_IN_BRACKETS.sub(r"{\1}", text)
    text = re.sub(r"(?<=\d)\s*x(?!\w)|(?<!\w)x(?=\s*[\d{\[])|×", " × ", text)
    text = re.sub(r"(?<=[\w ])(?=[{\[])", " ", text)
    text = re.sub(rf"(?<=\d)\s+or\s+(?={NUMBER})", " | ", text)
    text = _THOUSANDS.sub(_joined, text)
    return re.sub(r"[^\S\n]+", " ", text).strip().strip(".").strip()


def _joined(match: re.Match[str]) -> str:
    """Join `1,024`: a group that starts with 0 is no number of its own, others may be a list."""
    groups = match[0].split(",")
    return "".join(groups) if any(group.startswith("0") for group in groups[1:]) else match[0]


def _parts(plain: str) -> tuple[list[str], list[str]]:
    """Return the parts of a change, and those that stand in brackets as remarks.

    A part that is only a number continues the list before it: `n_layers 4, 8, 12`.
    """
    clauses: list[str] = []
    for part in (text.strip() for text in _BETWEEN.split(_REMARK.sub(" ", plain))):
        continued = _CONTINUED.fullmatch(part)
        if continued and clauses and clauses[-1].endswith(continued["sign"]):
            clauses[-1] += f" | {continued['number']}"
        elif part:
            clauses.append(part)
    remarks = [part for remark in _REMARK.findall(plain) for part in _BETWEEN.split(remark)]
    return clauses, [remark.strip() for remark in remarks if remark.strip()]


def _points(clauses: list[str], remarks: list[str], reference: Reference) -> tuple[Point, ...]:
    """Return the points of all parts together.

    Raises:
        FactError: a part, or the whole, is not understood.
    """
    parts = [read_clause(clause, reference) for clause in clauses if _cost_of(clause) is None]
    given = {fact.name for points in parts for point in points for fact in point}
    for remark in remarks:
        if _cost_of(remark) is None:
            parts += _remark(remark, given, reference)
    return _combined(parts)


def _stated_multiplier(parts: list[str]) -> float | None:
    """Return the cost the parts state, None when none does.

    Raises:
        FactError: they state different costs.
    """
    costs = list(dict.fromkeys(cost for part in parts if (cost := _cost_of(part)) is not None))
    if len(costs) > 1:
        raise FactError("several costs are stated: " + ", ".join(f"{cost:g}×" for cost in costs))
    return costs[0] if costs else None


def _cost_of(part: str) -> float | None:
    """Return a cost such as `1.5 ×`, `twice the compute` or `cost multiplier: 2`, else None."""
    words = " ".join(_FILLER.sub(" ", part.lower()).split())
    if match := _MULTIPLIER.fullmatch(words):
        return factor_of(f"{match[1]} ×")
    for name in sorted(COST_WORDS, key=len, reverse=True):
        if words.startswith(f"{name} ") or words.endswith(f" {name}"):
            return factor_of(words.removeprefix(name).removesuffix(name))
    return factor_of(words) if "×" in words else None


def _remark(remark: str, given: set[str], reference: Reference) -> list[list[Point]]:
    """Read a remark in brackets: more facts, an explanation of those given, or mere words.

    Raises:
        FactError: a remark with a number, or one that changes something, is not understood.
    """
    if re.match(r"(?:from|was|vs|versus|instead of|baseline)\b", remark, re.I):
        return []
    try:
        points = read_clause(remark, reference)
    except FactError:
        if any(letter.isdigit() for letter in remark) or _CHANGING.match(remark):
            raise
        return []
    names = {fact.name for point in points for fact in point}
    return [] if names & given else [points]


def _combined(parts: list[list[Point]]) -> tuple[Point, ...]:
    """Return every combination of the parts.

    Raises:
        FactError: a fact is changed twice, or two lists may be pairs as well as a grid.
    """
    names = [fact.name for points in parts for fact in points[0]]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise FactError(f"`{twice}` is changed twice")
    lengths = [len(points) for points in parts if len(points) > 1]
    if len(set(lengths)) < len(lengths):
        raise FactError("lists of one length may be pairs or a grid", remedy="Use a row for each.")
    combinations = list(product(*parts)) if parts else []
    if len(combinations) > _MOST_POINTS:
        raise FactError(f"a sweep of {len(combinations)} points is too large for one row")
    return tuple(tuple(fact for point in points for fact in point) for points in combinations)


def _title(points: tuple[Point, ...]) -> str:
    """Write the facts for the column of changed variables: `n_layers = 6`, `n_layers ∈ {4, 8}`."""
    columns: dict[tuple[str, str], list[str]] = {}
    for fact in (fact for point in points for fact in point):
        sign = "=" if fact.factor is None else "×"
        shown = columns.setdefault((fact.name, sign), [])
        if (text := _shown(fact)) not in shown:
            shown.append(text)
    return ", ".join(
        f"{name} {sign} {texts[0]}"
        if len(texts) == 1
        else f"{name} {'∈' if sign == '=' else sign} {{{', '.join(texts)}}}"
        for (name, sign), texts in columns.items()
    )


def _shown(fact: ChangedFact) -> str:
    value = fact.value if fact.factor is None else fact.factor
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


__all__ = ["Change", "ChangedFact", "read_change"]
