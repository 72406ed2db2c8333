"""What an assessment rests on though nobody said it, for the result of an estimate."""

from compute_budget_planner.estimation.assess import Assessment
from compute_budget_planner.results import AssumptionOut


def assumptions_of(assessment: Assessment) -> list[AssumptionOut]:
    """Return what is assumed: first what memory decided, then what widens the range most."""
    if assessment.uncertainty is None:
        return []
    decided = [
        AssumptionOut(fact=fact.name, value=fact.value, why=fact.source, spread=1.0)
        for fact in assessment.settled
    ]
    ranked = sorted(assessment.uncertainty.assumed, key=lambda each: -each.factor)
    return decided + [
        AssumptionOut(
            fact=each.assumption.fact,
            value=each.assumption.value,
            why=each.assumption.why,
            spread=each.factor,
        )
        for each in ranked
    ]


def settled_words(assessment: Assessment) -> str:
    """Return on which choices of nobody the verdict rests: unsaid, it would be circular."""
    choices = [f"`{fact.name}` {fact.value}" for fact in assessment.settled]
    if not choices:
        return ""
    return f"only with {' and '.join(choices)}, which nobody gives: else it would not fit"


def settled_questions(assessment: Assessment) -> list[str]:
    """Return a question for each such choice."""
    return [
        f"Will the run use `{fact.name}` {fact.value}? It is taken because {fact.source}."
        for fact in assessment.settled
    ]
