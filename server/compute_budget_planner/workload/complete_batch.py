"""Fill in the batch: any two of micro-batch, accumulation and global batch give the third."""

from compute_budget_planner.errors import FactError
from compute_budget_planner.workload.ledger import Ledger
from compute_budget_planner.workload.run import Batch

_USUAL_TOKENS = 8192
_USUAL_SAMPLES = 64


def complete_batch(ledger: Ledger, dp: int, pp: int, seq_len: int | None) -> Batch:
    """Return the batch of a run with `dp` data-parallel ranks and `pp` pipeline stages.

    Raises:
        FactError: the three numbers contradict each other.
    """
    micro = ledger.count("micro_batch_size")
    accum = ledger.count("grad_accum_steps")
    global_batch = ledger.count("global_batch_size")
    if global_batch is not None and micro is not None and accum is not None:
        _check_product(ledger, micro, accum, dp, global_batch)
        return Batch(micro, accum, global_batch)
    if global_batch is not None:
        return _from_global(ledger, global_batch, micro, accum, dp, pp, seq_len)
    if accum is None:
        accum = 1
        ledger.derive("grad_accum_steps", 1, "no accumulation is configured")
    if micro is None:
        micro = _usual_micro_batch(seq_len)
        ledger.assume(
            "micro_batch_size",
            micro,
            "no file or argument gives a batch size",
            *_around(micro, micro * 4),
        )
        ledger.questions.append("What is the batch size (`micro_batch_size` per device)?")
    ledger.derive(
        "global_batch_size", micro * accum * dp, "micro_batch_size × grad_accum_steps × ranks"
    )
    return Batch(micro, accum, micro * accum * dp)


def _check_product(ledger: Ledger, micro: int, accum: int, dp: int, global_batch: int) -> None:
    if micro * accum * dp != global_batch:
        raise FactError(
            f"`micro_batch_size` {micro} ({ledger.source('micro_batch_size')}) × "
            f"`grad_accum_steps` {accum} ({ledger.source('grad_accum_steps')}) × {dp} "
            f"data-parallel ranks is {micro * accum * dp}, but `global_batch_size` is "
            f"{global_batch} ({ledger.source('global_batch_size')})",
            remedy="Correct one of them, or withdraw it with null.",
        )


def _from_global(
    ledger: Ledger,
    global_batch: int,
    micro: int | None,
    accum: int | None,
    dp: int,
    pp: int,
    seq_len: int | None,
) -> Batch:
    known = micro if micro is not None else accum
    name = "micro_batch_size" if micro is not None else "grad_accum_steps"
    if global_batch % dp or (known is not None and global_batch % (dp * known)):
        times = f" × `{name}` {known} ({ledger.source(name)})" if known is not None else ""
        raise FactError(
            f"`global_batch_size` {global_batch} ({ledger.source('global_batch_size')}) is not a "
            f"multiple of {dp} data-parallel ranks{times}",
            remedy="Choose a global batch that the ranks can share equally.",
        )
    per_rank = global_batch // dp
    if micro is not None:
        accum = per_rank // micro
        ledger.derive("grad_accum_steps", accum, "global_batch_size / micro_batch_size / ranks")
        return Batch(micro, accum, global_batch)
    if accum is not None:
        micro = per_rank // accum
        ledger.derive("micro_batch_size", micro, "global_batch_size / grad_accum_steps / ranks")
        return Batch(micro, accum, global_batch)
    # Whoever runs a pipeline keeps it full: four micro-batches per stage, at the least one.
    full = max(1, per_rank // (4 * pp)) if pp > 1 else per_rank
    usual = min(full, _usual_micro_batch(seq_len))
    micro = max(m for m in _divisors(per_rank) if m <= usual)
    if per_rank == 1:
        ledger.derive("micro_batch_size", 1, "global_batch_size / ranks")
    else:
        options = [m for m in _around(micro, max(1, per_rank // pp)) if per_rank % m == 0]
        ledger.assume("micro_batch_size", micro, "only the global batch size is known", *options)
    ledger.derive("grad_accum_steps", per_rank // micro, "global_batch_size / micro_batch_size")
    return Batch(micro, per_rank // micro, global_batch)


def _usual_micro_batch(seq_len: int | None) -> int:
    if not seq_len:
        return _USUAL_SAMPLES
    return max(
        1, 2 ** ((_USUAL_TOKENS // seq_len).bit_length() - 1) if seq_len < _USUAL_TOKENS else 1
    )


def _around(value: int, most: int) -> list[int]:
    return sorted({max(1, value // 4), min(most, value * 4)} - {value})


def _divisors(number: int) -> list[int]:
    return [m for m in range(1, min(number, 65536) + 1) if number % m == 0]
