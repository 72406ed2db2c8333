"""The one-line summaries of the tools' results."""

from collections.abc import Iterable, Sized

from compute_budget_planner.numbers import shown
from compute_budget_planner.results import (
    EstimateResult,
    InspectResult,
    LimitOut,
    MemoryOut,
    RangeOut,
    SmokeResult,
)


def spread(value: RangeOut, unit: str) -> str:
    """Return `expected (low to high) unit`."""
    return f"{shown(value.expected)} ({shown(value.low)} to {shown(value.high)}) {unit}"


def not_estimated(results: Iterable[EstimateResult]) -> str:
    """Return a sentence's end that says which runs have no numbers and why; empty for none."""
    lacking = [
        f"`{each.run}` lacks {', '.join(f'`{name}`' for name in each.missing)}"
        for each in results
        if each.missing
    ]
    return f". Not estimated yet: {'; '.join(lacking)}" if lacking else ""


def estimate_summary(result: EstimateResult, model: str) -> str:
    """Return what an estimate says in a sentence or two."""
    if result.status == "incomplete" or result.gpu_hours is None:
        lacking = ", ".join(result.missing)
        return (
            f"No estimate yet for `{result.run}`: {lacking} missing. {' '.join(result.questions)}"
        )
    parts = [f"{model} on {shown(result.n_gpus or 0)} × {result.gpu}"]
    parts.append(spread(result.gpu_hours, "GPU-hours"))
    if result.wall_clock_hours is not None:
        parts.append(spread(result.wall_clock_hours, "h wall-clock"))
    sentence = f"{parts[0]}: {', '.join(parts[1:])}."
    if result.seeds > 1 and result.gpu_hours_all_seeds is not None:
        everything = spread(result.gpu_hours_all_seeds, "GPU-hours")
        sentence += f" {shown(result.seeds)} seeds: {everything}."
    sentence += _memory(result.memory) + _limit(result.limit)
    if result.narrow_by:
        sentence += f" The range narrows most with `{result.narrow_by}`."
    return sentence


def _memory(memory: MemoryOut | None) -> str:
    if memory is None:
        return ""
    fix = f"; smallest fix: {memory.smallest_fix}" if memory.smallest_fix else ""
    return f" Memory {memory.verdict}: {memory.reason}{fix}."


def _limit(limit: LimitOut | None) -> str:
    if limit is None or limit.time_limit_hours is None:
        return ""
    hours = shown(limit.time_limit_hours)
    if limit.fits == "yes":
        return f" Fits the {hours} h limit."
    jobs = "" if limit.segments is None else f" ({shown(limit.segments)} jobs in a row)"
    verdict = "may not fit" if limit.fits == "uncertain" else "does not fit"
    return f" It {verdict} the {hours} h limit{jobs}."


def smoke_summary(result: SmokeResult) -> str:
    """Return what a smoke test is in a sentence or two."""
    if result.status == "incomplete" or result.steps is None or result.wall_clock_minutes is None:
        return f"No smoke test yet for `{result.run}`: {', '.join(result.missing)} missing."
    devices = "one GPU" if result.n_gpus == 1 else f"{shown(result.n_gpus or 0)} GPUs"
    text = (
        f"Smoke test of `{result.run}`: {shown(result.steps)} steps on {devices}, "
        f"{spread(result.wall_clock_minutes, 'minutes')}"
    )
    if result.share_of_run_percent is not None:
        text += f", {shown(result.share_of_run_percent)} % of the run's GPU-hours"
    text += f". Decided by: {result.bound}."
    return text + "".join(f" Flag: {flag}." for flag in result.flags)


def inspect_summary(result: InspectResult) -> str:
    """Return what a project holds in a sentence or two."""
    kinds: dict[str, int] = {}
    for file in result.files:
        kinds[file.kind] = kinds.get(file.kind, 0) + 1
    counted = ", ".join(f"{shown(n)} {kind}" for kind, n in sorted(kinds.items()))
    text = f"{result.project}: {_counted(result.files, 'file')} ({counted or 'none'}), "
    text += _counted(result.runs, "run")
    if result.runs:
        text += ": " + ", ".join(run.name for run in result.runs)
    text += "."
    if result.gaps:
        text += f" {_counted(result.gaps, 'gap')}: {result.gaps[0]}"
    return text


def _counted(things: Sized, noun: str) -> str:
    return f"{shown(len(things))} {noun if len(things) == 1 else noun + 's'}"
