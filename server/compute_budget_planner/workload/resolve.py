"""From facts to a training run: merge, complete, check, freeze.

What nobody gave is derived, taken from the guide, or assumed with its plausible other values;
what cannot be assumed is missing, and then there is no run.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import Architecture, SampleModel
from compute_budget_planner.workload.complete_batch import complete_batch
from compute_budget_planner.workload.complete_hardware import (
    complete_hardware,
    complete_parallelism,
)
from compute_budget_planner.workload.complete_model import complete_model
from compute_budget_planner.workload.complete_numerics import complete_numerics
from compute_budget_planner.workload.facts import Fact
from compute_budget_planner.workload.known_datasets import complete_dataset
from compute_budget_planner.workload.ledger import Assumption, Ledger
from compute_budget_planner.workload.merge import Conflict, merge
from compute_budget_planner.workload.overtaken import drop_overtaken, still_conflicts
from compute_budget_planner.workload.run import Data, Limits, Model, Schedule, TrainingRun

_TUNING = ("full-ft", "lora", "qlora")


@dataclass(frozen=True)
class Resolution:
    """The run, if there is one, and how it came about."""

    run: TrainingRun | None
    facts: Mapping[str, Fact]
    conflicts: tuple[Conflict, ...]
    assumptions: tuple[Assumption, ...]
    missing: tuple[str, ...]
    questions: tuple[str, ...]
    warnings: tuple[str, ...]


def resolve(
    facts: Iterable[Fact],
    reference: Reference,
    *,
    name: str = "run",
    withdrawn: Iterable[str] = (),
) -> Resolution:
    """Resolve the facts of one run.

    Raises:
        FactError: facts contradict each other, or name something the guide does not know.
    """
    winners, conflicts = merge((_canonical(fact, reference) for fact in facts), withdrawn)
    ledger = Ledger(dict(winners), list(conflicts))
    drop_overtaken(ledger, reference)
    model = complete_model(ledger, reference)
    hardware = complete_hardware(ledger, reference)
    complete_dataset(ledger, reference)
    data = _data(ledger, model) if model is not None else None
    schedule = _schedule(ledger, data)
    run = None
    if model is not None and hardware is not None and data is not None and schedule is not None:
        parallelism = complete_parallelism(ledger, hardware.n_gpus)
        batch = complete_batch(ledger, parallelism.dp, parallelism.pp, data.seq_len)
        numerics = complete_numerics(ledger, model, hardware.accelerator, reference)
        if not ledger.missing:
            run = TrainingRun(
                name,
                model,
                data,
                schedule,
                batch,
                hardware,
                numerics,
                parallelism,
                _limits(ledger),
            )
    return Resolution(
        run,
        ledger.facts,
        tuple(c for c in ledger.conflicts if still_conflicts(c, ledger)),
        tuple(ledger.assumptions),
        tuple(ledger.missing),
        tuple(ledger.questions),
        tuple(ledger.warnings),
    )


def _canonical(fact: Fact, reference: Reference) -> Fact:
    """Return a `gpu` under its canonical name when the spelling means one device only."""
    if fact.name != "gpu":
        return fact
    found = reference.find_accelerators(str(fact.value))
    return replace(fact, value=found[0].name) if len(found) == 1 else fact


def _data(ledger: Ledger, model: Model) -> Data | None:
    seq_len = ledger.count("seq_len")
    if isinstance(model, Architecture) and model.patch_size and model.image_size:
        seq_len = (model.image_size // model.patch_size) ** 2 + 1
        ledger.derive("seq_len", seq_len, "(image_size / patch_size)² + 1")
    elif isinstance(model, SampleModel):
        seq_len = None
    elif seq_len is None:
        ledger.missing.append("seq_len")
        ledger.questions.append("How many tokens has one training sequence (`seq_len`)?")
        return None
    return Data(
        dataset=ledger.text("dataset") or "",
        dataset_examples=ledger.count("dataset_examples"),
        dataset_tokens=ledger.count("dataset_tokens"),
        seq_len=seq_len,
        packing=bool(ledger.flag("packing")),
    )


def _schedule(ledger: Ledger, data: Data | None) -> Schedule | None:
    epochs, steps = ledger.number("epochs"), ledger.count("max_steps")
    tokens = ledger.count("train_tokens")
    sized = data is not None and (data.dataset_examples or (data.dataset_tokens and data.seq_len))
    if not (steps or (tokens and data and data.seq_len) or (epochs and sized)):
        lacking = "dataset_examples" if epochs else "max_steps"
        if data is not None or not (steps or tokens or epochs):
            ledger.missing.append(lacking)
            ledger.questions.append(
                "How many examples or tokens has the data set (`dataset_examples` or "
                "`dataset_tokens`)?"
                if epochs
                else "How long is trained: `max_steps`, `train_tokens`, or `epochs` of how many "
                "`dataset_examples`?"
            )
            return None
    if data is not None and data.packing and not data.dataset_tokens and not (steps or tokens):
        ledger.questions.append(
            "How many tokens has the data set (`dataset_tokens`)? With `packing` the steps follow "
            "from tokens; counted by examples they, and the cost, are an upper bound."
        )
    if data is not None and data.seq_len and _pads_rows(ledger):
        ledger.questions.append(
            f"Are batches padded to all {data.seq_len:,} tokens of `seq_len`? Each row is counted "
            "with that many; where a batch is padded to its longest row only, the cost is an "
            "upper bound."
        )
    return Schedule(
        epochs=epochs,
        max_steps=steps,
        train_tokens=tokens,
        eval_every_steps=ledger.count("eval_every_steps"),
        eval_examples=ledger.count("eval_examples"),
        checkpoint_every_steps=ledger.count("checkpoint_every_steps"),
        drop_last=bool(ledger.flag("framework_drop_last")),
        framework=ledger.text("framework") or "",
        num_generations=ledger.count("num_generations"),
    )


def _pads_rows(ledger: Ledger) -> bool:
    """Tell whether a run trains on whole texts of unlike lengths, as fine-tuning does."""
    tunes = ledger.text("method") in _TUNING or ledger.has("lora_rank")
    return tunes and not ledger.flag("packing") and not ledger.has("image_size")


def _limits(ledger: Ledger) -> Limits:
    return Limits(
        time_limit_hours=ledger.number("time_limit_hours"),
        available_gpu_hours=ledger.number("available_gpu_hours"),
        max_gpus=ledger.count("max_gpus"),
        deadline=ledger.text("deadline"),
    )
