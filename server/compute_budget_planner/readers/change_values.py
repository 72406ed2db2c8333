"""What stands behind a changed name: one value, a factor, or several of either."""

import re
from dataclasses import dataclass

from compute_budget_planner.errors import FactError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.change_words import (
    ACTIVATION_WORDS,
    ACTIVATIONS,
    BATCH_WORDS,
    DATA_WORDS,
    fact_of_words,
)
from compute_budget_planner.workload.facts import FactValue
from compute_budget_planner.workload.known_datasets import DATASET_SIZES
from compute_budget_planner.workload.vocabulary import VOCABULARY, parse_fact

NUMBER = r"[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_FACTOR = re.compile(rf"(?:[~≈]\s*)?(?:({NUMBER})\s*[×%]|[×*]\s*({NUMBER})|[÷/]\s*({NUMBER}))")
_FRACTION = re.compile(r"1\s*/\s*([2-9]|[1-9][0-9])")
_WORD_FACTORS = {
    **dict.fromkeys(("half", "halved", "half as many", "half as much", "half as long"), 0.5),
    **dict.fromkeys(("quarter", "a quarter"), 0.25),
    **dict.fromkeys(("double", "doubled", "twice", "twice as many", "twice as much"), 2.0),
    **dict.fromkeys(("triple", "tripled"), 3.0),
}
_UNIT = re.compile(
    r"(?<=[0-9kKmMbBtT])\s*(?:tokens?|px|pixels?|steps?|layers?|heads?|epochs?|experts?|images?)$"
)
_SQUARE = re.compile(r"([0-9]{1,6})\s*[x×]\s*\1")
_LIST = re.compile(r"[{\[](?P<items>[^{}\[\]]*)[}\]]")
_LARGEST_FACTOR = 1e4


@dataclass(frozen=True)
class ChangedFact:
    """A fact with its new value, or with the factor on the baseline's value.

    Exactly one of `value` and `factor` is set. A share of the data stands under both
    `dataset_examples` and `dataset_tokens`; it holds for those the baseline has.
    """

    name: str
    value: FactValue | None = None
    factor: float | None = None


@dataclass(frozen=True)
class Target:
    """What a name means: `fact`, or the kind `batch`, `data` or `activation`, as written."""

    kind: str
    fact: str | None
    words: str

    @property
    def is_numeric(self) -> bool:
        """Tell whether numbers and factors make sense."""
        return self.kind in ("batch", "data") or (
            self.fact is not None and VOCABULARY[self.fact].kind.is_number
        )


def target_of(words: str) -> Target | None:
    """Return what words name, None when they name nothing that can be changed."""
    plain = re.sub(r"\b(?:the|a|an|of|our|its)\b", " ", words.lower().replace("number of", " "))
    plain = " ".join(plain.replace("_", " ").replace("-", " ").split())
    fact = fact_of_words(plain)
    for kind, known in (
        ("activation", ACTIVATION_WORDS),
        ("batch", BATCH_WORDS),
        ("data", DATA_WORDS),
    ):
        if plain in known:
            return Target(kind, fact, words)
    return None if fact is None else Target("fact", fact, words)


def factor_of(text: str) -> float | None:
    """Return the factor a text is: `2 ×`, `× 0.5`, `50 %`, `/ 2`, `1/4`, `half`, `twice`."""
    text = text.strip().lower()
    if text in _WORD_FACTORS:
        return _WORD_FACTORS[text]
    if fraction := _FRACTION.fullmatch(text):
        return 1 / int(fraction[1])
    match = _FACTOR.fullmatch(text)
    if match is None:
        return None
    number = float(match[1] or match[2] or match[3])
    if not 1 / _LARGEST_FACTOR <= number <= _LARGEST_FACTOR:
        return None
    if match[3]:
        return 1 / number
    return number / 100 if text.endswith("%") else number


def items_of(text: str, target: Target | None) -> list[str]:
    """Return the values of a list `{a, b}`, `a | b` or, of numbers, `a / b`; else the text."""
    text = text.strip()
    before, items = "", ""
    if listed := _LIST.fullmatch(text.lstrip("×* ")):
        before, items = ("× " if text[0] in "×*" else ""), listed["items"]
        return [before + item.strip() for item in re.split(r"[,;|/]", items) if item.strip()]
    if "|" in text:
        return [item.strip() for item in text.split("|")]
    if target and target.is_numeric and "/" in text and factor_of(text) is None:
        return [item.strip() for item in text.split("/")]
    return [text]


def changed_facts(
    target: Target, text: str, before: str, reference: Reference
) -> tuple[ChangedFact, ...]:
    """Return the facts of one new value; `before` is the old one, empty when not told.

    Raises:
        FactError: the text is no value of the target.
    """
    text = text.strip().strip("\"'")
    if target.kind == "activation":
        gated = ACTIVATIONS.get(text.lower().replace("-", " "))
        if gated is None:
            raise FactError(f"the activation {text[:40]!r} is not known")
        return (ChangedFact("glu", gated),)
    factor = factor_of(text)
    if target.kind == "batch" and factor is None:
        # The ratio holds whichever batch is meant; a bare size does not say which.
        factor = _ratio(text, before)
    if factor is not None and target.is_numeric:
        # A share of the data is a share of either size, whichever describes the run.
        names = {"batch": ("global_batch_size",), "data": DATASET_SIZES}.get(target.kind)
        return tuple(ChangedFact(name, factor=factor) for name in names or (target.fact or "",))
    if target.fact is None:
        if target.kind == "data" or not any(letter.isdigit() for letter in text):
            raise FactError(f"`{target.words}` {text[:40]} is not a change of facts")
        raise FactError(
            f"`{target.words}` {text[:40]} does not say whether per device or in all",
            remedy="Write `micro_batch_size` or `global_batch_size`.",
        )
    return (ChangedFact(target.fact, _value(target.fact, text, reference)),)


def _ratio(text: str, before: str) -> float | None:
    numbers = [re.fullmatch(r"[1-9][0-9]{0,8}", number.strip()) for number in (text, before)]
    if numbers[0] is None or numbers[1] is None:
        return None
    return int(numbers[0][0]) / int(numbers[1][0])


def _value(fact: str, text: str, reference: Reference) -> FactValue:
    """Return a value; a model and a device must be known ones, so that prose is not taken."""
    if VOCABULARY[fact].kind.is_number:
        text = _SQUARE.sub(r"\1", _UNIT.sub("", text.lstrip("~≈ ")))
    if fact == "model" and not (reference.find_model(text) or text.endswith(".json")):
        raise FactError(f"the model {text[:40]!r} is not known", remedy="Name its config.json.")
    if fact == "gpu" and not reference.find_accelerators(text):
        raise FactError(f"the accelerator {text[:40]!r} is not known")
    return parse_fact(fact, text, reference)
