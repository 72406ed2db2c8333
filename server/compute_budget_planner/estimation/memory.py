"""Does it fit: the verdict, the smallest change that helps, the largest micro-batch."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from compute_budget_planner.estimation.memory_terms import MemoryTerms, memory_terms
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.numbers import brief
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import TrainingRun


@dataclass(frozen=True)
class MemoryEstimate:
    """Peak of one accelerator in GiB against what the driver reports."""

    verdict: str
    peak: Range
    capacity_gib: float | None
    terms: dict[str, Range]
    reason: str
    smallest_fix: str
    largest_micro_batch: int | None


def verdict_of(peak: Range, capacity_gib: float | None, reference: Reference) -> str:
    """Return FITS, TIGHT, UNCERTAIN, OOM, or UNKNOWN when the capacity is.

    FITS: even the high end leaves the tight margin free. TIGHT: the high end still fits.
    OOM: even the low end does not fit. UNCERTAIN: in between.
    """
    if capacity_gib is None:
        return "UNKNOWN"
    if peak.low > capacity_gib:
        return "OOM"
    if peak.high <= capacity_gib * reference.value("tight_share_percent") / 100:
        return "FITS"
    if peak.high <= capacity_gib:
        return "TIGHT"
    return "UNCERTAIN"


def estimate_memory(
    run: TrainingRun,
    reference: Reference,
    others: tuple[TrainingRun, ...] = (),
    proven_gib: float | None = None,
) -> MemoryEstimate:
    """Return the memory estimate of a run.

    `others` are the same run with other plausible values of assumed facts: the peak spans them
    all, so an unstated gradient type or loss kernel makes the verdict UNCERTAIN, not wrong.
    """
    found = memory_terms(run, reference)
    if not isinstance(run.model, Architecture) and run.model.activations_per_sample is None:
        return MemoryEstimate(
            "UNKNOWN",
            found.peak,
            run.hardware.accelerator.memory_gib,
            found.terms,
            "states only: the activations of one sample are not known",
            "",
            None,
        )
    peak = found.peak
    capacity = run.hardware.accelerator.memory_gib
    ambiguous = False
    for other in others:
        span = memory_terms(other, reference).peak
        peak = Range(min(peak.low, span.low), peak.expected, max(peak.high, span.high))
        ambiguous |= other.hardware.accelerator.memory_gib != capacity
    if proven_gib is not None:
        peak = Range(
            min(peak.low, proven_gib), min(peak.expected, proven_gib), min(peak.high, proven_gib)
        )
    verdict = verdict_of(peak, capacity, reference)
    if ambiguous and verdict != "UNKNOWN":
        verdicts = {verdict_of(peak, o.hardware.accelerator.memory_gib, reference) for o in others}
        verdict = verdict if verdicts <= {verdict} else "UNCERTAIN"
    return MemoryEstimate(
        verdict,
        peak,
        capacity,
        found.terms,
        _reason(verdict, found, peak, capacity, proven_gib),
        "" if verdict in ("FITS", "TIGHT", "UNKNOWN") else _smallest_fix(run, reference),
        largest_micro_batch(run, reference),
    )


def _reason(
    verdict: str, found: MemoryTerms, peak: Range, capacity: float | None, proven: float | None
) -> str:
    biggest = max(found.terms, key=lambda name: found.terms[name].expected)
    size = brief(found.terms[biggest].expected)
    if capacity is None:
        return f"the guide gives no memory size for this device; biggest term: {biggest} {size} GiB"
    relation = {
        "FITS": "stays below",
        "TIGHT": "comes close to",
        "UNCERTAIN": "may exceed",
        "OOM": "exceeds",
    }[verdict]
    if proven is not None:
        return (
            f"an earlier run of this configuration ended well on this device; predicted peak "
            f"{brief(peak.low)} to {brief(peak.high)} GiB, biggest term: {biggest} {size} GiB"
        )
    return (
        f"the peak of {brief(peak.low)} to {brief(peak.high)} GiB {relation} "
        f"{brief(capacity)} GiB; biggest term: {biggest} {size} GiB"
    )


def _fits(run: TrainingRun, reference: Reference) -> bool:
    verdict = verdict_of(
        memory_terms(run, reference).peak, run.hardware.accelerator.memory_gib, reference
    )
    return verdict in ("FITS", "TIGHT")


def largest_micro_batch(run: TrainingRun, reference: Reference) -> int | None:
    """Return the largest power-of-two multiple or fraction that fits, None when not even 1."""
    if run.hardware.accelerator.memory_gib is None:
        return None

    def fits(size: int) -> bool:
        return _fits(replace(run, batch=replace(run.batch, micro_batch_size=size)), reference)

    if not fits(1):
        return None
    low, high = 1, 2
    while high <= 65536 and fits(high):
        low, high = high, high * 2
    while high - low > max(1, low // 16):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _smallest_fix(run: TrainingRun, reference: Reference) -> str:
    for text, changed in _fixes(run):
        if _fits(changed, reference):
            return text
    return "none of the single changes fits: use devices with more memory, or split the model"


def _fixes(run: TrainingRun) -> Iterator[tuple[str, TrainingRun]]:
    """Yield changes from harmless to drastic; the first that fits is the smallest."""
    numerics, parallelism, micro = run.numerics, run.parallelism, run.batch.micro_batch_size
    if isinstance(run.model, Architecture) and not numerics.fused_loss and run.model.vocab_size:
        yield "fused_loss=true", replace(run, numerics=replace(numerics, fused_loss=True))
    if parallelism.dp > 1:
        for sharding in ("zero1", "zero2", "fsdp"):
            yield (
                f"sharding={sharding}",
                replace(run, parallelism=replace(parallelism, sharding=sharding)),
            )
    if numerics.activation_checkpointing != "full":
        yield (
            "activation_checkpointing=full",
            replace(run, numerics=replace(numerics, activation_checkpointing="full")),
        )
    size = micro
    while size > 1:
        size //= 2
        yield (
            f"micro_batch_size={size} with grad_accum_steps × {micro // size}",
            replace(run, batch=replace(run.batch, micro_batch_size=size)),
        )
    least = replace(run.batch, micro_batch_size=1)
    checkpointed = replace(numerics, activation_checkpointing="full", fused_loss=True)
    yield (
        "micro_batch_size=1 and activation_checkpointing=full",
        replace(run, batch=least, numerics=checkpointed),
    )
    if parallelism.dp > 1:
        yield (
            "sharding=fsdp, micro_batch_size=1 and activation_checkpointing=full",
            replace(
                run,
                batch=least,
                numerics=checkpointed,
                parallelism=replace(parallelism, sharding="fsdp"),
            ),
        )
    yield (
        "optimizer=adamw-8bit, micro_batch_size=1 and activation_checkpointing=full",
        replace(run, batch=least, numerics=replace(checkpointed, optimizer="adamw-8bit")),
    )
    if numerics.method == "full-ft":
        for method, quantization in (("lora", "none"), ("qlora", "nf4")):
            adapter = replace(checkpointed, method=method, quantization=quantization, lora_rank=16)
            yield (
                f"method={method} with micro_batch_size=1 and activation_checkpointing=full",
                replace(run, batch=least, numerics=adapter),
            )
