"""The sums on the budget page, what of the matrix to run, and whether the plan fits."""

from collections import Counter
from collections.abc import Sequence

from compute_budget_planner.markdown.blocks import (
    NONE,
    Section,
    bullets,
    number,
    section,
    span,
    table,
    titled,
)
from compute_budget_planner.markdown.budget_plan import BudgetPlan
from compute_budget_planner.markdown.escape import code, escaped
from compute_budget_planner.numbers import counted, shown
from compute_budget_planner.results import AblationsResult

_COLUMNS = ("What", "GPU-hours")
_LATER = "not costed yet"
_MINIMUM_OF_MAIN_RUNS = (
    "Recommended minimum run set: the smoke tests, then every main run with all its seeds."
)
_Rows = list[tuple[str, str]]


def totals(plan: BudgetPlan) -> Section:
    """Return the section `Totals`: all seeds and one seed never in one table."""
    matrix = plan.ablations
    return section(
        "totals",
        ["## Totals"],
        titled("**All seeds:**", table(_COLUMNS, _all_seeds(plan))),
        [_not_in_sums(matrix)] if matrix else [],
        [_counted_in_matrix(matrix)] if matrix else [],
        titled("**One seed of each:**", table(_COLUMNS, _one_seed(plan))),
        *(_choice(matrix) if matrix else [[_MINIMUM_OF_MAIN_RUNS]]),
    )


def fit(plan: BudgetPlan) -> list[str]:
    """Return whether the plan fits the available hours, as the lines of a list.

    With a matrix its verdict decides; the ends of the range then say how sure it is.
    """
    matrix, by_range = plan.ablations, _by_range(plan)
    if matrix is None:
        return [by_range]
    lacking = ", ".join(map(code, matrix.uncosted_required))
    if matrix.verdict != "unknown":
        return [_verdict(matrix), f"Not counted, its cost is not known: {lacking}" * bool(lacking)]
    if lacking:
        return [
            f"Verdict: **unknown** until {lacking} is costed; the next line is without.",
            by_range,
        ]
    return [by_range]


def _all_seeds(plan: BudgetPlan) -> _Rows:
    sums = plan.totals
    rows = [
        ("Smoke tests", span(sums.smokes)),
        ("Main runs, all seeds", span(sums.main_all_seeds)),
    ]
    if (matrix := plan.ablations) is None:
        return [
            *rows,
            ("**Required** (main runs with all seeds, smoke tests)", span(sums.required)),
            ("**Should-have** (ablations)", _LATER),
            ("**Optional** (ablations)", _LATER),
        ]
    hours = {total.priority: span(total.gpu_hours) for total in matrix.totals}
    runs, everything = span(matrix.required_gpu_hours), span(matrix.all_gpu_hours)
    return [
        *rows,
        ("Required ablations, all seeds", hours["required"]),
        ("Required main runs and ablations, all seeds", runs),
        ("**Required** (smoke tests, main runs, required ablations)", span(sums.required)),
        ("**Should-have** (ablations)", hours["should-have"]),
        ("**Optional** (ablations)", hours["optional"]),
        ("**Everything** (main runs and all ablations; smoke tests apart)", everything),
    ]


def _one_seed(plan: BudgetPlan) -> _Rows:
    rows = [("Main runs, one seed each", span(plan.totals.main_one_seed))]
    if plan.ablations is not None:
        rows += [
            (
                f"{total.priority.capitalize()} ablations, one seed each",
                span(total.gpu_hours_one_seed),
            )
            for total in plan.ablations.totals
        ]
    return rows


def _not_in_sums(matrix: AblationsResult) -> str:
    """Say which required variants no sum holds, so that a part is not taken for the whole."""
    lacking = ", ".join(map(code, matrix.uncosted_required))
    return (
        f"Required is more than that: {lacking} is in no sum until it is costed, and what is kept "
        "or cut below may change then."
        if lacking
        else ""
    )


def _counted_in_matrix(matrix: AblationsResult) -> str:
    """Say it where a main run is the matrix' own baseline, whose sum then holds it."""
    if any(run.run == matrix.baseline for run in matrix.main_runs):
        return ""
    return f"{code(matrix.baseline)} is counted once, as the baseline among the ablations."


def _choice(matrix: AblationsResult) -> Sequence[Sequence[str]]:
    """Return the minimum run set, what is kept beyond it, and what is cut."""
    # Required and further seeds of a variant may be equally many and so read alike.
    beyond = (Counter(matrix.kept) - Counter(matrix.minimum_run_set)).elements()
    elapsed = (
        f"The main runs and what is kept of the matrix are done after "
        f"{number(matrix.elapsed_hours, 'hours')} on {number(matrix.max_gpus, 'GPUs')} at once."
    )
    return [
        titled(
            "**Recommended minimum run set**, after the smoke tests:",
            bullets(map(escaped, matrix.minimum_run_set)),
        ),
        titled(
            "**Kept beyond it**, as far as the hours go:"
            if matrix.available_gpu_hours is not None
            else "**Beyond it**, while no limit of hours is known:",
            bullets(map(escaped, beyond)),
        ),
        titled(
            "**Cut**, because the hours do not reach:",
            table(
                ["Variant", "Priority", "Seeds", "GPU-hours", "Claim", "What that does"],
                (
                    [
                        code(cut.variant),
                        cut.priority,
                        shown(cut.seeds),
                        span(cut.gpu_hours),
                        ", ".join(map(escaped, cut.claims)) or NONE,
                        escaped(cut.effect),
                    ]
                    for cut in matrix.cut
                ),
            ),
        ),
        [elapsed] if matrix.elapsed_hours is not None else [],
    ]


def _verdict(matrix: AblationsResult) -> str:
    available, required = matrix.available_gpu_hours, matrix.required_gpu_hours
    if matrix.verdict == "over":
        short = number(matrix.shortfall_gpu_hours, "GPU-hours")
        return f"Verdict: **over**. Required alone lacks {short}; all of it stays, the rest is cut."
    sure = required is not None and available is not None and required.high <= available
    end = "even at the high end" if sure else "at the expected value, not at the high end"
    cuts = ", ".join(f"{code(c.variant)} ({counted(c.seeds, 'seed')})" for c in matrix.cut)
    cut = f"; cut: {cuts}" if cuts else ""
    hours = number(available, "GPU-hours")
    return f"Verdict: **fits**. Required runs stay inside {hours} {end}{cut}."


def _by_range(plan: BudgetPlan) -> str:
    """Say which end of the range of the required hours the available ones cover."""
    required, available_gpu_hours = plan.totals.required, plan.envelope.available_gpu_hours
    if required is None or available_gpu_hours is None:
        return "Whether the plan fits cannot be said before both are known."
    if required.high <= available_gpu_hours:
        return "The plan fits: even the high end is inside the available hours."
    if required.expected <= available_gpu_hours:
        return "The plan probably fits: the expected value is inside, the high end is not."
    if required.low <= available_gpu_hours:
        return "The plan probably does not fit: only the low end is inside the available hours."
    return "The plan does not fit: even the low end is over the available hours."
