"""Options of a command line and keys of a config become facts."""

import re
from collections.abc import Iterable

from compute_budget_planner.guide.reference import Reference, spelling
from compute_budget_planner.readers.contract import Fact, Layer, Problem
from compute_budget_planner.readers.option_combinations import combine
from compute_budget_planner.readers.option_table import SWITCHES
from compute_budget_planner.readers.option_values import (
    OptionFacts,
    fact_of_key,
    key_spellings,
    option_key,
)

Option = tuple[str, object, str]
"""Name as written, raw value, source `path:line`."""


def facts_from_options(
    options: Iterable[Option], framework: str | None, layer: Layer, reference: Reference
) -> tuple[tuple[Fact, ...], tuple[Problem, ...]]:
    """Return the facts that named options give, and what is wrong with the others.

    Names may be `--like-this`, `like_this` or dotted (`train.lr`). Names that mean no fact are
    passed over; `auto`, empty and negative values give none. A bare `batch_size` of a framework
    nobody named is an assumed `micro_batch_size` and a question.
    """
    found = OptionFacts(reference, layer, framework_key(framework or ""))
    for name, raw, source in options:
        found.add(name, raw, source)
    combine(found)
    return tuple(found.facts.values()), tuple(found.problems)


def framework_key(framework: str) -> str:
    """Return the form in which frameworks are compared: `LLaMA-Factory` is `llamafactory`."""
    return re.sub("[^a-z0-9]", "", spelling(framework))


def is_known_option(name: str) -> bool:
    """Tell whether an option or key means a fact by itself."""
    key = option_key(name)
    fact = fact_of_key(key, "")
    return fact is not None or any(word in SWITCHES for word in key_spellings(key))
