"""The result of `cost_ablations`: totals, the minimum run set, the verdict and what is cut."""

from collections.abc import Sequence

from compute_budget_planner.estimation.ranges import Range, total
from compute_budget_planner.numbers import counted, shown
from compute_budget_planner.planner.matrix.ablating import TUNING, CostedMatrix
from compute_budget_planner.planner.sentences import spread
from compute_budget_planner.planning.ablations import (
    Portion,
    Priority,
    Selection,
    claims_hit,
    elapsed_hours,
    select,
    totals_by_priority,
)
from compute_budget_planner.results import (
    AblationsResult,
    CutOut,
    EstimateResult,
    MainRunOut,
    NextStep,
    PriorityTotalOut,
    RangeOut,
    VariantOut,
)

_VERDICTS = {
    "fits": "Required fits the",
    "over": "Required exceeds the",
    "unknown": "Required is not complete; against the",
}


def ablations_result(
    costed: CostedMatrix,
    main_runs: Sequence[EstimateResult],
    available_gpu_hours: float | None,
    max_gpus: int | None,
    arguments: dict[str, object],
) -> AblationsResult:
    """Return the whole answer; main runs count as required, with all their seeds."""
    mains = [
        MainRunOut(run=e.run, seeds=e.seeds, gpu_hours=e.gpu_hours_all_seeds) for e in main_runs
    ]
    fixed = _sum([m.gpu_hours for m in mains])
    chosen = select(costed.portions, 0.0 if fixed is None else fixed.expected, available_gpu_hours)
    running = [*(p for e in main_runs for p in _main_portions(e)), *chosen.kept]
    open_rows = [row for row in costed.rows if row.basis == "open"]
    by_priority = totals_by_priority(costed.portions)
    required = by_priority[Priority.REQUIRED].plus(fixed or Range.exact(0.0))
    everything = total(by_priority.values()).plus(fixed or Range.exact(0.0))
    complete = fixed is not None or not mains
    settled = complete and not any(row.priority == "required" for row in open_rows)
    result = AblationsResult(
        summary="",
        baseline=costed.baseline.name,
        controls=dict(costed.matrix.controls),
        variants=list(costed.rows),
        main_runs=mains,
        totals=[_total(p, by_priority[p], costed.portions, costed.rows) for p in Priority],
        required_gpu_hours=RangeOut.of(required) if complete else None,
        all_gpu_hours=RangeOut.of(everything) if complete else None,
        available_gpu_hours=available_gpu_hours,
        verdict=chosen.verdict if settled or chosen.verdict == "over" else "unknown",
        shortfall_gpu_hours=chosen.shortfall_gpu_hours,
        minimum_run_set=[
            *(f"{m.run} ({counted(m.seeds, 'seed')})" for m in mains),
            *(_named(p) for p in costed.portions if p.priority is Priority.REQUIRED),
        ],
        kept=[_named(p) for p in chosen.kept],
        cut=[_cut(p, chosen) for p in chosen.cut],
        elapsed_hours=elapsed_hours(running, max_gpus),
        max_gpus=max_gpus,
        excluded=list(costed.matrix.excluded),
        questions=[*costed.matrix.questions, *(row.question for row in open_rows)],
        next=_next(chosen, open_rows, arguments),
    )
    return result.model_copy(update={"summary": _summary(result)})


def _main_portions(estimate: EstimateResult) -> list[Portion]:
    """Return a main run as a portion, for the time until everything is done."""
    hours, wall = estimate.gpu_hours_all_seeds, estimate.wall_clock_hours
    if hours is None or wall is None or estimate.n_gpus is None:
        return []
    return [
        Portion(
            variant=estimate.run,
            priority=Priority.REQUIRED,
            seeds=estimate.seeds,
            runs=estimate.seeds,
            gpu_hours=Range(hours.low, hours.expected, hours.high),
            hours_of_one=wall.expected,
            n_gpus=estimate.n_gpus,
            claims=(),
        )
    ]


def _sum(parts: Sequence[RangeOut | None]) -> Range | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not known:
        return None
    return total(Range(p.low, p.expected, p.high) for p in known)


def _total(
    priority: Priority, hours: Range, portions: Sequence[Portion], rows: Sequence[VariantOut]
) -> PriorityTotalOut:
    """Return a priority's hours: all seeds, and one seed of each row that has any there."""
    names = {p.variant for p in portions if p.priority is priority}
    single = [
        row.gpu_hours_one_seed
        for row in rows
        if row.variant in names and row.priority == priority.value
    ]
    one = total(Range(r.low, r.expected, r.high) for r in single if r is not None)
    return PriorityTotalOut(
        priority=priority.value, gpu_hours_one_seed=RangeOut.of(one), gpu_hours=RangeOut.of(hours)
    )


def _named(portion: Portion) -> str:
    what = "trial" if portion.variant.endswith(TUNING) else "seed"
    return f"{portion.variant} ({counted(portion.seeds, what)})"


def _cut(portion: Portion, chosen: Selection) -> CutOut:
    hit = claims_hit([portion])
    left = any(kept.variant == portion.variant for kept in chosen.kept)
    if hit:
        effect = f"{', '.join(hit)} rests on fewer seeds" if left else f"weakens {', '.join(hit)}"
    else:
        effect = "no claim names it; say in the paper that it was left out"
    return CutOut(
        variant=portion.variant,
        priority=portion.priority.value,
        seeds=portion.seeds,
        gpu_hours=RangeOut.of(portion.gpu_hours),
        claims=list(portion.claims),
        effect=effect,
    )


def _next(
    chosen: Selection, open_rows: Sequence[VariantOut], arguments: dict[str, object]
) -> list[NextStep]:
    if open_rows:
        return [
            NextStep(tool="cost_ablations", arguments=arguments, question=open_rows[0].question)
        ]
    if chosen.verdict == "over":
        return [
            NextStep(
                tool="suggest_alternatives",
                arguments=arguments,
                question="Required alone exceeds the hours: which alternative, or more hours?",
            )
        ]
    return [NextStep(tool="suggest_alternatives", arguments=arguments)]


def _summary(result: AblationsResult) -> str:
    text = f"{shown(len(result.variants))} rows over the baseline `{result.baseline}`"
    if result.required_gpu_hours is not None:
        text += f": required {spread(result.required_gpu_hours, 'GPU-hours')}"
    by_name = {t.priority: t.gpu_hours for t in result.totals}
    text += f", should-have {spread(by_name['should-have'], 'GPU-hours')}"
    text += f", optional {spread(by_name['optional'], 'GPU-hours')}"
    if result.main_runs:
        text += " (main runs are in required)"
    if result.available_gpu_hours is not None:
        verdict = _VERDICTS[result.verdict]
        text += f". {verdict} {shown(result.available_gpu_hours)} GPU-hours available"
        if result.shortfall_gpu_hours:
            text += f", {shown(result.shortfall_gpu_hours)} GPU-hours short"
    if result.cut:
        text += f". Cut: {', '.join(c.variant for c in result.cut)}"
    if result.questions:
        text += f". Open: {shown(len(result.questions))}, first: {result.questions[0]}"
    return text.rstrip(".") + "."
