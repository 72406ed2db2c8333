"""The ablation matrix on the budget page: a row per variant, and what the rows leave open."""

from collections.abc import Iterator, Sequence

from compute_budget_planner.markdown.blocks import (
    NONE,
    UNKNOWN,
    Section,
    bullets,
    section,
    span,
    table,
    titled,
)
from compute_budget_planner.markdown.budget_plan import BudgetPlan
from compute_budget_planner.markdown.escape import code, escaped
from compute_budget_planner.numbers import counted, shown
from compute_budget_planner.results import AblationsResult, EstimateResult, VariantOut

_NOT_COSTED = "Not costed yet: list the variants and cost each as a multiple of the main run."
_MULTIPLIER = (
    "The multiplier is one seed of the variant, all points of a sweep counted, over one seed of "
    "the baseline; GPU-hours are all seeds."
)
_COLUMNS = (
    "Variant",
    "Changed variable",
    "Cost multiplier",
    "GPU-hours",
    "Priority",
    "Seeds",
    "GPU-hours (one seed)",
    "Wall-clock hours (one run)",
    "Runs per seed",
    "GPUs",
    "Claim",
    "Basis",
    "Rule",
    "Source",
)
_MARKED = ("baseline", "open", "exists")
_MEMORY_DOUBTS = {
    "OOM": "does not fit in memory",
    "TIGHT": "barely fits in memory",
    "UNCERTAIN": "may not fit in memory",
}


def ablation_matrix(plan: BudgetPlan) -> Section:
    """Return the section `Ablation Matrix`; without variants, the main runs as its baselines."""
    matrix = plan.ablations
    if matrix is None:
        rows = map(_main_run, plan.estimates)
        blocks: Sequence[Sequence[str]] = [table(_COLUMNS[:8], rows), [_NOT_COSTED]]
    else:
        rules = bullets(map(escaped, plan.fairness_rules))
        blocks = [
            *_matrix(matrix),
            titled("**Fairness rules**, for every comparison of the matrix:", rules),
        ]
    return section("ablation-matrix", ["## Ablation Matrix"], [_MULTIPLIER], *blocks)


def _main_run(estimate: EstimateResult) -> list[str]:
    return [
        f"{code(estimate.run)} (baseline)",
        NONE,
        "1×",
        span(estimate.gpu_hours_all_seeds),
        "required",
        shown(estimate.seeds),
        span(estimate.gpu_hours),
        span(estimate.wall_clock_hours),
    ]


def _matrix(matrix: AblationsResult) -> list[list[str]]:
    mains = ", ".join(
        f"{code(run.run)} ({counted(run.seeds, 'seed')}, {span(run.gpu_hours, 'GPU-hours')})"
        for run in matrix.main_runs
    )
    excluded = (f"{escaped(name)}: 0 GPU-hours" for name in matrix.excluded)
    return [
        [f"Baseline: {code(matrix.baseline)}, under the controls of the matrix."],
        table(_COLUMNS, map(_variant, matrix.variants)),
        [f"Main runs, which count as required beside the matrix: {mains}."] if mains else [],
        titled("**Open**, not in any sum until answered:", bullets(_open(matrix))),
        titled("**To note:**", bullets(_notes(matrix.variants))),
        titled("**Excluded** from running:", bullets(excluded)),
    ]


def _variant(row: VariantOut) -> list[str]:
    mark = f" ({row.basis})" if row.basis in _MARKED else ""
    multiplier = NONE if row.cost_multiplier is None else f"{shown(row.cost_multiplier)}×"
    return [
        code(row.variant) + mark,
        escaped(row.changed_variable) or NONE,
        UNKNOWN if row.basis == "open" else multiplier,
        span(row.gpu_hours),
        row.priority,
        shown(row.seeds),
        span(row.gpu_hours_one_seed),
        NONE if row.basis == "exists" else span(row.wall_clock_hours),
        shown(row.runs_per_seed),
        NONE if row.n_gpus is None else shown(row.n_gpus),
        ", ".join(map(escaped, row.claims)) or NONE,
        row.basis,
        escaped(row.rule) or NONE,
        code(row.source) or NONE,
    ]


def _open(matrix: AblationsResult) -> Iterator[str]:
    """Yield the questions of open rows, which begin with the row's name, and those of the plan."""
    asked = [(row, row.question) for row in matrix.variants if row.basis == "open"]
    for row, question in asked:
        yield f"{code(row.variant)} ({row.priority}): {escaped(_after(row.variant, question))}"
    yield from (
        escaped(question)
        for question in matrix.questions
        if question not in {own for _, own in asked}
    )


def _after(variant: str, question: str) -> str:
    """Return a question without the variant's name, which stands before it already."""
    return question.removeprefix(f"{variant}: ") or "what does one seed cost?"


def _notes(rows: Sequence[VariantOut]) -> Iterator[str]:
    """Yield what a row's cells do not hold: memory, further seeds, tuning not costed."""
    for row in rows:
        name = code(row.variant)
        if row.memory_verdict in _MEMORY_DOUBTS:
            yield f"{name} {_MEMORY_DOUBTS[row.memory_verdict]} ({row.memory_verdict})"
        if row.further_seeds:
            further = counted(row.further_seeds, "seed")
            yield f"{name}: {further} beyond the required number, at most should-have"
        if row.tuning_trials and row.basis == "open":
            trials = counted(row.tuning_trials, "tuning trial")
            yield f"{name}: {trials} before the run itself are not costed either"
