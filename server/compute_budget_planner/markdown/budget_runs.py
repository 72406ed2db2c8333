"""The full runs on the budget page: a table of all, then one account of each."""

from collections.abc import Sequence

from compute_budget_planner.markdown.blocks import (
    NONE,
    UNKNOWN,
    Section,
    bullets,
    joined,
    number,
    section,
    span,
    table,
    titled,
)
from compute_budget_planner.markdown.escape import code, escaped
from compute_budget_planner.numbers import shown
from compute_budget_planner.results import (
    ConflictOut,
    EstimateResult,
    FactOut,
    LimitOut,
    MemoryOut,
    StepsOut,
)

FITS = {
    "yes": "inside the limit",
    "no": "over the limit",
    "uncertain": "perhaps over the limit",
    "unknown": "limit or duration unknown",
}


def full_runs(estimates: Sequence[EstimateResult]) -> Section:
    """Return the section `Full Run Estimate`."""
    intro = (
        "Ranges are low – expected – high (10th, 50th, 90th percentile). "
        "GPU-hours are devices × hours; wall-clock is one run with one seed."
    )
    return section(
        "full-run-estimate",
        ["## Full Run Estimate"],
        [intro] if estimates else ["No run yet: name the files or facts of the main run."],
        table(
            [
                "Run",
                "GPUs",
                "GPU-hours (one seed)",
                "Seeds",
                "GPU-hours (all seeds)",
                "Wall-clock hours",
                "Memory",
                "Time limit",
            ],
            map(_overview, estimates),
        ),
        *map(_account, estimates),
    )


def devices(estimate: EstimateResult) -> str:
    """Return number and type of the accelerators of a run."""
    return f"{number(estimate.n_gpus)} × {code(estimate.gpu) if estimate.gpu else UNKNOWN}"


def fact_value(fact: FactOut) -> str:
    """Return a fact's value: numbers as everywhere, text as code."""
    match fact.value:
        case bool():
            return "yes" if fact.value else "no"
        case str():
            return code(fact.value)
        case _:
            return shown(fact.value)


def _overview(estimate: EstimateResult) -> list[str]:
    return [
        code(estimate.run),
        devices(estimate),
        span(estimate.gpu_hours),
        shown(estimate.seeds),
        span(estimate.gpu_hours_all_seeds),
        span(estimate.wall_clock_hours),
        estimate.memory.verdict if estimate.memory else UNKNOWN,
        FITS[estimate.limit.fits] if estimate.limit else UNKNOWN,
    ]


def _account(estimate: EstimateResult) -> list[str]:
    return joined(
        [f"### {code(estimate.run)}"],
        [escaped(estimate.summary)],
        titled("**No number without:**", bullets(map(escaped, estimate.missing))),
        titled("**Warnings:**", bullets(map(escaped, estimate.warnings))),
        titled("**What it takes:**", bullets([*_amounts(estimate), *_steps(estimate.steps)])),
        _memory(estimate.memory),
        _time(estimate),
        titled("**Limit and confidence:**", bullets([_limit(estimate.limit), *_trust(estimate)])),
        titled(
            "**Conflicts** (the value used, and what was overruled):",
            bullets(map(_conflict, estimate.conflicts)),
        ),
        titled("**Questions:**", bullets(map(escaped, estimate.questions))),
    )


def _amounts(estimate: EstimateResult) -> list[str]:
    """Return what is used up, and how fast."""
    lines = [
        ("Step time", estimate.step_seconds, "seconds"),
        ("Tokens per second (whole job)", estimate.tokens_per_second, ""),
        ("Samples per second (whole job)", estimate.samples_per_second, ""),
        ("Cost (one seed)", estimate.cost_usd, "USD"),
        ("Energy (one seed)", estimate.energy_kwh, "kWh"),
    ]
    shown_lines = [f"{label}: {span(value, unit)}" for label, value, unit in lines if value]
    if estimate.mfu is not None:
        convention = escaped(estimate.mfu.convention)
        shown_lines.append(f"MFU: {span(estimate.mfu.percent, '%')} ({convention})")
    if estimate.flops_total is not None:
        shown_lines.append(f"FLOPs in all: {shown(estimate.flops_total)}")
    if estimate.checkpoint_gib is not None:
        shown_lines.append(f"Checkpoint to resume from: {shown(estimate.checkpoint_gib)} GiB")
    if (count := estimate.parameters) is not None:
        shown_lines.append(
            f"Parameters: {shown(count.total)} in all, {shown(count.active)} active, "
            f"{shown(count.trainable)} trainable"
        )
    return shown_lines


def _steps(steps: StepsOut | None) -> list[str]:
    if steps is None:
        return []
    parts = [
        f"{shown(steps.optimizer_steps)} optimizer steps",
        f"{shown(steps.micro_steps)} micro steps",
    ]
    for label, value in (
        ("samples", steps.examples),
        ("tokens", steps.tokens),
        ("epochs", steps.epochs),
    ):
        if value is not None:
            parts.append(f"{shown(value)} {label}")
    return [f"Steps: {', '.join(parts)} ({escaped(steps.rule)})", *map(escaped, steps.notes)]


def _memory(memory: MemoryOut | None) -> list[str]:
    if memory is None:
        return []
    biggest = max(memory.terms, key=lambda term: term.gib, default=None)
    verdict = (
        f"**Memory: {memory.verdict}.** Peak of one accelerator {span(memory.peak_gib, 'GiB')} "
        f"of {number(memory.capacity_gib, 'GiB')}."
    )
    if biggest is not None:
        verdict += f" Biggest term: {escaped(biggest.name)}, {shown(biggest.gib)} GiB."
    return joined(
        [verdict],
        bullets(
            [
                escaped(memory.reason),
                f"Smallest fix: {escaped(memory.smallest_fix)}" if memory.smallest_fix else "",
                f"Largest micro batch that fits: {shown(memory.largest_micro_batch)}"
                if memory.largest_micro_batch is not None
                else "",
            ]
        ),
        table(
            ["Memory term", "GiB"],
            ([escaped(term.name), shown(term.gib)] for term in memory.terms),
        ),
    )


def _time(estimate: EstimateResult) -> list[str]:
    return joined(
        titled(
            "**Where the time goes.**"
            + (f" Bottleneck: {escaped(estimate.bottleneck)}." if estimate.bottleneck else ""),
            table(
                ["Part of a step", "Seconds", "Share (%)"],
                (
                    [escaped(part.name), shown(part.seconds), shown(part.share_percent)]
                    for part in estimate.breakdown
                ),
            ),
        ),
        table(
            ["Overhead", "Hours", "Meaning"],
            (
                [escaped(item.name), span(item.hours), escaped(item.meaning) or NONE]
                for item in estimate.overheads
            ),
        ),
    )


def _limit(limit: LimitOut | None) -> str:
    """Return the time limit in a line: does the run fit, and in how many jobs."""
    if limit is None:
        return ""
    text = f"Time limit: {number(limit.time_limit_hours, 'hours')}, {FITS[limit.fits]}"
    if limit.segments is not None:
        jobs = "job" if limit.segments == 1 else "jobs in a row"
        text += f"; {shown(limit.segments)} {jobs}"
    if limit.usable_hours_per_segment is not None:
        text += f", {shown(limit.usable_hours_per_segment)} usable hours each"
    return text + _because(limit.reason)


def _trust(estimate: EstimateResult) -> list[str]:
    """Return what the range rests on, and what would narrow it."""
    lines = []
    if (calibration := estimate.calibration) is not None:
        runs = ", ".join(map(code, calibration.runs)) or NONE
        factor = shown(calibration.factor)
        lines.append(f"Calibrated by {runs}: step time × {factor}{_because(calibration.reason)}")
    if estimate.narrow_by:
        lines.append(f"What would narrow the range most: {escaped(estimate.narrow_by)}")
    return lines


def _because(reason: str) -> str:
    return f" ({escaped(reason)})" if reason else ""


def _conflict(conflict: ConflictOut) -> str:
    used, overruled = (
        f"{fact_value(fact)} ({escaped(fact.basis)}, {code(fact.source)})"
        for fact in (conflict.used, conflict.overruled)
    )
    return f"{code(conflict.fact)}: {used} over {overruled}"
