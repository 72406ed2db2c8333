"""The compute paragraph a paper needs, and the points a plan leaves open."""

from collections.abc import Sequence

from compute_budget_planner.numbers import counted, shown
from compute_budget_planner.planner.sentences import spread
from compute_budget_planner.results import AblationsResult, EstimateResult, RangeOut, SmokeResult

_CONSUMER_GIB = 24.0


def disclosure(
    estimates: Sequence[EstimateResult],
    total: RangeOut | None,
    ablations: AblationsResult | None,
) -> str:
    """Return what to disclose: devices, hours, sums, checkpoints, and whether a small card does."""
    known = [e for e in estimates if e.status == "estimated" and e.gpu_hours is not None]
    if not known:
        return "Nothing to disclose yet: no run is estimated."
    sentences = []
    for e in known:
        assert e.gpu_hours is not None and e.wall_clock_hours is not None  # noqa: S101  estimated
        sentences.append(
            f"{e.run}: {shown(e.n_gpus or 0)} × {e.gpu}, "
            f"{spread(e.gpu_hours, 'GPU-hours')} per seed, "
            f"{spread(e.wall_clock_hours, 'h wall-clock')}, {counted(e.seeds, 'seed')}."
        )
    if total is not None:
        sentences.append(f"All main runs and seeds: {spread(total, 'GPU-hours')} (estimated).")
    if ablations is not None and ablations.all_gpu_hours is not None:
        everything = spread(ablations.all_gpu_hours, "GPU-hours")
        sentences.append(f"With the whole ablation matrix: {everything} (estimated).")
    sizes = {e.run: e.checkpoint_gib for e in known if e.checkpoint_gib is not None}
    if sizes:
        shown_sizes = ", ".join(f"{run} {shown(size)} GiB" for run, size in sizes.items())
        sentences.append(f"A checkpoint to resume from: {shown_sizes}.")
    sentences.append(_consumer(known))
    return " ".join(sentences)


def _consumer(estimates: Sequence[EstimateResult]) -> str:
    peaks = [e.memory.peak_gib for e in estimates if e.memory is not None]
    if any(peak is None for peak in peaks) or len(peaks) < len(estimates):
        return "Whether it reproduces on consumer hardware is not known: memory is not."
    if all(peak is not None and peak.high <= _CONSUMER_GIB for peak in peaks):
        return f"Each device needs at most {shown(_CONSUMER_GIB)} GiB: it runs on consumer cards."
    return (
        f"At this micro-batch a device may need more than {shown(_CONSUMER_GIB)} GiB: a consumer "
        "card needs a smaller micro-batch, checkpointing or adapters."
    )


def open_points(estimates: Sequence[EstimateResult], smokes: Sequence[SmokeResult]) -> list[str]:
    """Return questions and conflicts a reader of the plan must know about."""
    points = [f"{e.run}: {question}" for e in estimates for question in e.questions]
    points += [
        f"{e.run}: `{c.fact}` is {c.used.value} ({c.used.source}), but {c.overruled.value} in "
        f"{c.overruled.source}"
        for e in estimates
        for c in e.conflicts
    ]
    points += [f"{s.run}: {flag}" for s in smokes for flag in s.flags]
    return points
