"""What a batch size means beside the devices of its job, where the option itself does not say."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from compute_budget_planner.readers.contract import Basis, Fact, Layer, Problem


def settled_batch(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts of a job with its batch settled as far as the devices settle it.

    On one device the batch of the device is that of the job. A batch smaller than the number of
    data-parallel ranks cannot be that of the job. Accumulation follows from global batch, micro
    batch and ranks (`global = micro · accumulation · ranks`, Megatron-LM's `num_microbatches`).
    """
    found = list(facts)
    known = _strongest(found)
    ranks = _ranks(known)
    micro = known.get("micro_batch_size")
    if ranks is None or micro is None:
        return found
    if micro.basis is Basis.ASSUMED and (ranks == 1 or int(micro.value) < ranks):
        settled = replace(micro, basis=Basis.CONFIGURED, layer=Layer.COMMAND_LINE)
        found = [settled if fact is micro else fact for fact in found]
        micro = settled
    if micro.basis is Basis.ASSUMED:
        return found
    whole, accumulation = known.get("global_batch_size"), known.get("grad_accum_steps")
    step = int(micro.value) * ranks
    if whole is not None and accumulation is None and int(whole.value) % step == 0:
        count = int(whole.value) // step
        found.append(_derived("grad_accum_steps", count, whole))
    elif whole is None and ranks == 1:
        count = step * int(accumulation.value) if accumulation is not None else step
        found.append(_derived("global_batch_size", count, micro))
    return found


def still_open(problems: Iterable[Problem], facts: Iterable[Fact]) -> list[Problem]:
    """Return the problems without the question which batch is meant, where that is settled."""
    settled = {
        fact.source
        for fact in facts
        if fact.name == "micro_batch_size" and fact.basis is not Basis.ASSUMED
    }
    return [p for p in problems if not (p.source in settled and _asks_which_batch(p))]


def still_asked(problems: Iterable[Problem], batch: Fact | None) -> list[Problem]:
    """Return the problems of all files without the question which batch is meant, once answered.

    It is open only where the batch of the device that a run uses is taken from the place itself.
    """
    place = batch.source if batch is not None and batch.basis is Basis.ASSUMED else None
    return [p for p in problems if p.source == place or not _asks_which_batch(p)]


def _asks_which_batch(problem: Problem) -> bool:
    return "per device or global" in problem.text


def split_problems(facts: Iterable[Fact]) -> Iterator[Problem]:
    """Yield a problem where the devices cannot hold one copy of the model as it is split."""
    known = _strongest(facts)
    devices, split = known.get("n_gpus"), _split(known)
    if devices is not None and int(devices.value) % split:
        text = (
            f"tensor, pipeline and context parallelism need a multiple of {split} GPUs; the file "
            f"names {devices.value}, perhaps a placeholder. Give `n_gpus`."
        )
        yield Problem(devices.source, text)


def _strongest(facts: Iterable[Fact]) -> dict[str, Fact]:
    return {fact.name: fact for fact in sorted(facts, key=lambda fact: -fact.layer)}


def _split(known: Mapping[str, Fact]) -> int:
    sizes = (int(known[name].value) for name in ("tp", "pp", "cp") if name in known)
    return math.prod(sizes)


def _ranks(known: Mapping[str, Fact]) -> int | None:
    """Return the data-parallel ranks; tensor, pipeline and context ranks share one batch."""
    devices, split = known.get("n_gpus"), _split(known)
    if devices is None or int(devices.value) % split:
        return None
    return int(devices.value) // split


def _derived(name: str, value: int, origin: Fact) -> Fact:
    return Fact(name, value, Basis.DERIVED, origin.source, Layer.FRAMEWORK_DEFAULT)
