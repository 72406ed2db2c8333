"""The smoke test's own run: the plan's micro-batch on the smallest group that holds it."""

from collections.abc import Iterator
from dataclasses import replace

from compute_budget_planner.estimation.memory import verdict_of
from compute_budget_planner.estimation.memory_terms import memory_terms
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.run import TrainingRun


def smoke_run(run: TrainingRun, reference: Reference) -> TrainingRun:
    """Return the run as its smoke test trains it.

    Micro-batch, accumulation, sequence length and precision stay; the group is one device, or
    the smallest one that can hold the run, so the global batch shrinks. When no smaller group
    can, the run's own devices are taken.
    """
    for n_gpus in _group_sizes(run):
        candidate = on_devices(run, n_gpus)
        peak = memory_terms(candidate, reference).peak
        verdict = verdict_of(peak, run.hardware.accelerator.memory_gib, reference)
        if verdict in ("FITS", "TIGHT", "UNKNOWN") or (
            verdict == "UNCERTAIN" and peak.expected <= (run.hardware.accelerator.memory_gib or 0)
        ):
            return candidate
    return run


def on_devices(run: TrainingRun, n_gpus: int) -> TrainingRun:
    """Return the run on another number of devices, micro-batch and accumulation unchanged.

    One device needs neither tensor nor pipeline ranks; a larger group keeps the run's.
    """
    parallelism = run.parallelism
    if n_gpus == 1:
        parallelism = replace(parallelism, sharding="none", tp=1, pp=1, cp=1, ep=1, dp=1)
    else:
        ranks = parallelism.tp * parallelism.pp * parallelism.cp
        dp = n_gpus // ranks
        parallelism = replace(parallelism, dp=dp, ep=min(parallelism.ep, n_gpus))
    batch = replace(
        run.batch,
        global_batch_size=run.batch.micro_batch_size * run.batch.grad_accum_steps * parallelism.dp,
    )
    hardware = replace(
        run.hardware, n_gpus=n_gpus, gpus_per_node=min(n_gpus, run.hardware.gpus_per_node)
    )
    return replace(run, hardware=hardware, parallelism=parallelism, batch=batch)


def _group_sizes(run: TrainingRun) -> Iterator[int]:
    """Yield one device and then doublings that the run's ranks divide."""
    ranks = run.parallelism.tp * run.parallelism.pp * run.parallelism.cp
    yield 1
    size = ranks if ranks > 1 else 2
    while size < run.hardware.n_gpus:
        yield size
        size *= 2
