"""The cheaper alternatives on the budget page: per main run and group, and what was decided."""

from collections.abc import Iterator, Sequence

from compute_budget_planner.markdown.blocks import (
    NONE,
    Section,
    bullets,
    joined,
    section,
    span,
    table,
    titled,
)
from compute_budget_planner.markdown.budget_plan import BudgetPlan
from compute_budget_planner.markdown.budget_runs import fact_value
from compute_budget_planner.markdown.escape import code, escaped
from compute_budget_planner.numbers import shown
from compute_budget_planner.results import AlternativeOut, AlternativesResult, FactOut

_NOT_CONSIDERED = (
    "Not costed yet: smaller model, shorter sequence or smaller image, fewer steps, less data, "
    "low-rank or adapter training, faster hardware."
)
_INTRO = (
    "Each is the run estimated anew. A saving is in percent of the run; where it is negative, "
    "the alternative takes more."
)
_GROUPS = {
    "free": "**Free**, the same result:",
    "lever": "**Levers**, how the model is trained and hardly what is learnt:",
    "question": "**Another question**, accepted they change the design:",
    "hardware": "**Other hardware**, the same result elsewhere:",
}
_COLUMNS = ("Alternative", "Saving", "Signal quality", "Misleading risk", "Decision")


def cheaper_alternatives(plan: BudgetPlan) -> Section:
    """Return the section `Cheaper Alternatives`."""
    return section(
        "cheaper-alternatives",
        ["## Cheaper Alternatives"],
        [_INTRO if plan.alternatives else _NOT_CONSIDERED],
        *map(_of_run, plan.alternatives),
        _decisions(plan),
    )


def _of_run(result: AlternativesResult) -> list[str]:
    hours = span(result.gpu_hours, "GPU-hours")
    base = f"The run as planned: {hours}, {span(result.wall_clock_hours, 'wall-clock hours')}."
    nothing = "" if result.alternatives else escaped(result.summary)
    return joined(
        [f"### Instead of {code(result.run)}"],
        [base] if result.gpu_hours else [],
        [nothing],
        titled("**No number without:**", bullets(map(escaped, result.missing))),
        *(_group(title, group, result.alternatives) for group, title in _GROUPS.items()),
        titled("**Tried, not worth listing:**", bullets(map(escaped, result.not_worth_listing))),
        titled("**Questions:**", bullets(map(escaped, result.questions))),
    )


def _group(title: str, group: str, alternatives: Sequence[AlternativeOut]) -> list[str]:
    chosen = [each for each in alternatives if each.group == group]
    rows = (
        [
            escaped(each.alternative),
            _saving(each),
            escaped(each.signal_quality) or NONE,
            escaped(each.misleading_risk) or NONE,
            each.decision,
        ]
        for each in chosen
    )
    return joined(titled(title, table(_COLUMNS, rows)), bullets(map(_detail, chosen)))


def _saving(each: AlternativeOut) -> str:
    """Return what falls and by how much, then what does not."""
    percents = {
        "GPU-hours": each.saving_gpu_hours_percent,
        "wall-clock": each.saving_wall_clock_percent,
        "cost": each.saving_cost_percent,
    }
    texts = {name: f"{name} {shown(p)} %" for name, p in percents.items() if p is not None}
    falling = ", ".join(text for name, text in texts.items() if name in each.falls)
    others = ", ".join(text for name, text in texts.items() if name not in each.falls)
    unknown = "cost unknown" if each.saving_cost_percent is None else ""
    return "; ".join(part for part in (falling, f"not {others}" * bool(others), unknown) if part)


def _detail(each: AlternativeOut) -> str:
    """Return the changes, the new numbers, the memory verdict and what to watch, as one item."""
    changes = ", ".join(
        f"{code(name)} = {fact_value(FactOut(value=value, basis='', source=''))}"
        for name, value in each.changes.items()
    )
    parts = [
        f"{escaped(each.alternative)}: {changes or NONE}",
        span(each.gpu_hours, "GPU-hours"),
        span(each.wall_clock_hours, "wall-clock hours"),
        f"memory {escaped(each.memory_verdict)}",
        "changes the design" if each.changes_design else "",
        f"watch {escaped(each.watch)}" if each.watch else "",
    ]
    return "; ".join(part for part in parts if part)


def _decisions(plan: BudgetPlan) -> list[str]:
    """Return every decision taken; one on an alternative that is no longer listed stays."""
    return titled(
        "**Decisions:**",
        table(["Alternative", "Decision", "Reason"], _decision_rows(plan)),
    )


def _decision_rows(plan: BudgetPlan) -> Iterator[list[str]]:
    listed = {each.alternative for result in plan.alternatives for each in result.alternatives}
    for taken in plan.decisions:
        gone = bool(plan.alternatives) and taken.alternative not in listed
        note = " (not listed now)" if gone else ""
        yield [escaped(taken.alternative) + note, taken.decision, escaped(taken.reason) or NONE]
