"""All-reduces over several devices: one worker process each, as training runs them.

The workers are started from a fresh interpreter and meet through a file; NCCL on GPUs, Gloo on
CPUs. They are the only processes the planner starts.
"""

import multiprocessing
import tempfile
from datetime import timedelta
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from time import perf_counter

from compute_budget_planner.measuring.backend import Unmeasurable

_PATIENCE_SECONDS = 120.0
_WARM_UP_CALLS = 3
_CALLS = 5


def all_reduce_seconds(
    n_workers: int, mib: int, samples: int, *, on_cpu: bool
) -> tuple[float, ...]:
    """Return seconds per all-reduce of `mib` MiB, one sample of several calls each.

    Raises:
        Unmeasurable: a worker failed or did not answer in time.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    with tempfile.TemporaryDirectory(prefix="compute-budget-") as folder:
        meeting_point = Path(folder) / "workers"
        workers = [
            context.Process(
                target=_work,
                args=(rank, n_workers, str(meeting_point), mib, samples, on_cpu, sender),
                daemon=True,
            )
            for rank in range(n_workers)
        ]
        try:
            for worker in workers:
                worker.start()
            # Only the workers hold the sending end now: when they are gone, waiting ends.
            sender.close()
            return _answer(receiver)
        finally:
            _end(workers)


def _answer(receiver: Connection) -> tuple[float, ...]:
    if not receiver.poll(_PATIENCE_SECONDS):
        raise Unmeasurable(f"the workers did not answer within {_PATIENCE_SECONDS:.0f} s")
    try:
        answer: tuple[float, ...] | str = receiver.recv()
    except EOFError as error:
        raise Unmeasurable("a worker process ended early") from error
    if isinstance(answer, str):
        raise Unmeasurable(f"a worker raises {answer}")
    return answer


def _end(workers: list[SpawnProcess]) -> None:
    for worker in workers:
        if worker.pid is None:
            continue
        worker.join(5)
        if worker.is_alive():
            worker.kill()
            worker.join()


def _work(
    rank: int,
    n_workers: int,
    meeting_point: str,
    mib: int,
    samples: int,
    on_cpu: bool,
    sender: Connection,
) -> None:
    """Take part as one worker; the first of them answers, and any that fails."""
    try:
        found = _samples(rank, n_workers, meeting_point, mib, samples, on_cpu)
    except Exception as error:
        sender.send(type(error).__name__)
    else:
        if rank == 0:
            sender.send(found)


def _samples(
    rank: int, n_workers: int, meeting_point: str, mib: int, samples: int, on_cpu: bool
) -> tuple[float, ...]:
    torch = import_module("torch")
    distributed = import_module("torch.distributed")
    if not on_cpu:
        torch.cuda.set_device(rank)
    distributed.init_process_group(
        "gloo" if on_cpu else "nccl",
        init_method=f"file://{meeting_point}",
        rank=rank,
        world_size=n_workers,
        timeout=timedelta(seconds=_PATIENCE_SECONDS / 2),
    )
    payload = torch.zeros(mib * 2**18, device="cpu" if on_cpu else f"cuda:{rank}")

    def seconds(calls: int) -> float:
        distributed.barrier()
        start = perf_counter()
        for _ in range(calls):
            distributed.all_reduce(payload)
        if not on_cpu:
            torch.cuda.synchronize()
        return (perf_counter() - start) / calls

    seconds(_WARM_UP_CALLS)
    found = tuple(seconds(_CALLS) for _ in range(samples))
    distributed.barrier()
    distributed.destroy_process_group()
    return found
