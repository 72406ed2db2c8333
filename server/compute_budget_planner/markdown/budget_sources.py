"""Where every value comes from: facts with basis and source, assumptions, files with hashes."""

from collections.abc import Iterator, Sequence

from compute_budget_planner.markdown.blocks import NONE, Section, section, table, titled
from compute_budget_planner.markdown.budget_plan import BudgetPlan
from compute_budget_planner.markdown.budget_runs import fact_value
from compute_budget_planner.markdown.escape import code, escaped
from compute_budget_planner.numbers import shown
from compute_budget_planner.results import EstimateResult, FactOut

ALL_RUNS = "all"
_HASH_DIGITS = 12


def assumptions_and_sources(plan: BudgetPlan) -> Section:
    """Return the section `Assumptions and Sources`; the date is the day the value was read."""
    several = len(plan.estimates) > 1
    return section(
        "assumptions-and-sources",
        ["## Assumptions and Sources"],
        titled(
            "**Assumed**, because nobody said (spread: high over low of the GPU-hours it causes):",
            table(
                ["Run", "Assumption", "Value", "Why", "Spread"],
                (
                    [
                        code(estimate.run),
                        code(item.fact),
                        fact_value(FactOut(value=item.value, basis="assumed", source="")),
                        escaped(item.why) or NONE,
                        f"{shown(item.spread)}×",
                    ]
                    for estimate in plan.estimates
                    for item in estimate.assumptions
                ),
            ),
        ),
        titled(
            "**Facts used:**",
            table(
                [*(["Run"] if several else []), "Fact", "Value", "Basis", "Source", "Date"],
                (
                    [
                        *([run] if several else []),
                        code(name),
                        fact_value(fact),
                        escaped(fact.basis),
                        code(fact.source) or NONE,
                        escaped(plan.generated),
                    ]
                    for run, name, fact in _facts(plan.estimates)
                ),
            ),
        ),
        titled(
            "**Files read** (first digits of their SHA-256):",
            table(
                ["File", "SHA-256"],
                (
                    [code(path), code(digest[:_HASH_DIGITS])]
                    for path, digest in sorted(plan.input_sha256.items())
                ),
            ),
        ),
    )


def _facts(estimates: Sequence[EstimateResult]) -> Iterator[tuple[str, str, FactOut]]:
    """Yield run, name and fact; a fact all runs share is told once, for all of them."""
    shared = {
        name: fact
        for name, fact in (estimates[0].facts if estimates else {}).items()
        if all(estimate.facts.get(name) == fact for estimate in estimates)
    }
    yield from ((ALL_RUNS, name, fact) for name, fact in shared.items())
    for estimate in estimates:
        for name, fact in estimate.facts.items():
            if name not in shared:
                yield code(estimate.run), name, fact
