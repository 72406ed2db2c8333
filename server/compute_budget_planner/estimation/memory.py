"""Does it fit: the verdict, the smallest change that helps, the largest micro-batch."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

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
    seen_gib: float | None = None,
) -> MemoryEstimate:
    """Return the memory estimate of a run.

    `others` are the same run with other plausible values of assumed facts: the peak spans them
    all, so an unstated gradient type or loss kernel makes the verdict UNCERTAIN, not wrong.
    `proven_gib` was enough for a run of this configuration, `seen_gib` was reached by one.
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
    risen = seen_gib is not None and seen_gib > peak.high
    if seen_gib is not None:
        peak = Range(
            max(peak.low, seen_gib), max(peak.expected, seen_gib), max(peak.high, seen_gib)
        )
    verdict = verdict_of(peak, capacity, reference)
    if ambiguous and verdict != "UNKNOWN":
        sizes = {other.hardware.accelerator.memory_gib for other in others}
        verdicts = {verdict, *(verdict_of(peak, size, reference) for size in sizes)}
        if len(verdicts) > 1:
            verdict = "TIGHT" if verdicts == {"FITS", "TIGHT"} else "UNCERTAIN"
    return MemoryEstimate(
        verdict,
        peak,
        capacity,
        found.terms,
        _above_prediction(found.peak, peak)
        if risen
        else _reason(verdict, found, peak, capacity, proven_gib),
        "" if verdict in ("FITS", "TIGHT", "UNKNOWN") else _smallest_fix(run, others, reference),
        largest_micro_batch(run, reference),
    )


def _reason(
    verdict: str, found: MemoryTerms, peak: Range, capacity: float | None, proven: float | None
) -> str:
    # What the allocator and the driver add is nobody's choice: the cause is among the others.
    named = {n: t for n, t in found.terms.items() if n not in ("fragmentation", "framework")}
    biggest = max(named, key=lambda name: named[name].expected)
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


def _above_prediction(predicted: Range, peak: Range) -> str:
    return (
        f"an earlier run of this configuration reached {brief(peak.expected)} GiB; "
        f"{brief(predicted.low)} to {brief(predicted.high)} GiB were predicted: some fact differs"
    )


def _fits(run: TrainingRun, reference: Reference) -> bool:
    verdict = verdict_of(
        memory_terms(run, reference).peak, run.hardware.accelerator.memory_gib, reference
    )
    return verdict in ("FITS", "TIGHT")


def largest_micro_batch(run: TrainingRun, reference: Reference) -> int | None:
    """Return the largest micro-batch that fits, None when not even one sample does."""
    if run.hardware.accelerator.memory_gib is None:
        return None

    def fits(size: int) -> bool:
        return _fits(replace(run, batch=replace(run.batch, micro_batch_size=size)), reference)

    if not fits(1):
        return None
    low, high = 1, 2
    while high <= 65536 and fits(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _smallest_fix(run: TrainingRun, others: tuple[TrainingRun, ...], reference: Reference) -> str:
    """Return the first change after which the run fits whatever is true of the assumed facts."""
    for change in _changes(run):
        if all(_fits(_changed(each, change), reference) for each in (run, *others)):
            return _in_words(change, run)
    return "none of the single changes fits: use devices with more memory, or split the model"


def _changes(run: TrainingRun) -> Iterator[dict[str, Any]]:
    """Yield changes, fact to value, from harmless to drastic; the first that fits is smallest."""
    numerics, parallelism, micro = run.numerics, run.parallelism, run.batch.micro_batch_size
    loss: dict[str, Any] = {}
    if isinstance(run.model, Architecture) and not numerics.fused_loss and run.model.vocab_size:
        loss = {"fused_loss": True}
        yield loss
    sharding: dict[str, Any] = {}
    if parallelism.dp > 1 and parallelism.sharding not in ("fsdp", "zero3"):
        sharding = {"sharding": "fsdp"}
        yield from ({"sharding": kind} for kind in ("zero1", "zero2", "fsdp"))
    if numerics.activation_checkpointing != "full":
        yield {"activation_checkpointing": "full"}
    for size in range(micro // 2, 0, -1):
        if micro % size == 0:
            yield {"micro_batch_size": size}
    least = {"micro_batch_size": 1, "activation_checkpointing": "full"} | loss
    yield least
    if sharding:
        yield least | sharding
    yield least | sharding | {"optimizer": "adamw-8bit"}
    if numerics.method == "full-ft":
        yield least | {"method": "lora"}
        yield least | {"method": "qlora"}


def _changed(run: TrainingRun, change: dict[str, Any]) -> TrainingRun:
    values = dict(change)
    batch, parallelism = run.batch, run.parallelism
    if "micro_batch_size" in values:
        batch = replace(batch, micro_batch_size=values.pop("micro_batch_size"))
    if "sharding" in values:
        parallelism = replace(parallelism, sharding=values.pop("sharding"))
    if "method" in values:
        quantization = "nf4" if values["method"] == "qlora" else "none"
        values |= {"quantization": quantization, "lora_rank": run.numerics.lora_rank or 16}
    numerics = replace(run.numerics, **values)
    return replace(run, batch=batch, parallelism=parallelism, numerics=numerics)


def _in_words(change: dict[str, Any], run: TrainingRun) -> str:
    words = []
    for name, value in change.items():
        text = f"{name}={str(value).lower()}"
        if name == "micro_batch_size" and value < run.batch.micro_batch_size:
            text += f" with grad_accum_steps × {run.batch.micro_batch_size // value}"
        words.append(text)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
