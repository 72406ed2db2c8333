"""The steps ledger: samples, micro-steps, optimizer steps and tokens, as frameworks count them.

Rules by framework are those of the guide's steps section. Micro-steps (forward passes of one
data-parallel rank) and optimizer steps (updates) are two numbers and never mixed.
"""

import math
from dataclasses import dataclass

from compute_budget_planner.guide.reference import spelling
from compute_budget_planner.workload.run import TrainingRun

_FLOORING = {"transformers-4.44", "colossalai"}
_CARRYING = {"lightning", "pytorch-lightning", "megatron", "megatron-lm", "nemo"}


@dataclass(frozen=True)
class StepsLedger:
    """Whole numbers; None where the run does not know them. `epochs` may be a fraction."""

    examples: int
    micro_steps: int
    optimizer_steps: int
    tokens: int | None
    epochs: float | None
    rule: str
    notes: tuple[str, ...]


def rows_in_dataset(run: TrainingRun) -> int | None:
    """Return the samples one epoch has: examples, or full sequences when packed."""
    data = run.data
    if data.seq_len and data.dataset_tokens and (data.packing or not data.dataset_examples):
        return math.ceil(data.dataset_tokens / data.seq_len)
    return data.dataset_examples


def count_steps(run: TrainingRun) -> StepsLedger | None:
    """Count the steps of a run; None when neither steps nor tokens nor epochs × data are known.

    `max_steps` wins over `train_tokens`, and that over `epochs`, as in the frameworks.
    """
    rows = rows_in_dataset(run)
    if run.schedule.max_steps:
        return _from_steps(run, run.schedule.max_steps, rows, "max_steps as given")
    if run.schedule.train_tokens and run.data.seq_len:
        tokens_per_step = run.batch.global_batch_size * run.data.seq_len
        steps = math.ceil(run.schedule.train_tokens / tokens_per_step)
        return _from_steps(run, steps, rows, "ceil(train_tokens / (global_batch_size × seq_len))")
    if run.schedule.epochs and rows:
        return _from_epochs(run, run.schedule.epochs, rows)
    return None


def _from_steps(run: TrainingRun, steps: int, rows: int | None, rule: str) -> StepsLedger:
    examples = steps * run.batch.global_batch_size
    tokens = examples * run.data.seq_len if run.data.seq_len else None
    return StepsLedger(
        examples=examples,
        micro_steps=steps * run.batch.grad_accum_steps,
        optimizer_steps=steps,
        tokens=tokens,
        epochs=examples / rows if rows else None,
        rule=rule,
        notes=(),
    )


def _from_epochs(run: TrainingRun, epochs: float, rows: int) -> StepsLedger:
    micro, accum = run.batch.micro_batch_size, run.batch.grad_accum_steps
    dp = run.parallelism.dp
    framework = spelling(run.schedule.framework)
    notes: list[str] = []
    if run.schedule.num_generations:
        rows *= run.schedule.num_generations
        notes.append("a batch counts completions: prompts × num_generations")
    if run.schedule.drop_last:
        per_rank = rows // dp
        micro_per_epoch = per_rank // micro
    else:
        per_rank = math.ceil(rows / dp)
        micro_per_epoch = math.ceil(per_rank / micro)
    if micro_per_epoch == 0:
        notes.append("the data set is smaller than one batch; one micro-step per epoch is counted")
        micro_per_epoch = 1
    if framework in _CARRYING:
        steps = math.ceil(epochs * micro_per_epoch / accum)
        rule = "accumulation carries over the end of an epoch: ceil(epochs × micro-steps / accum)"
    elif framework in _FLOORING:
        steps = math.ceil(epochs * max(1, micro_per_epoch // accum))
        rule = "updates per epoch floored: max(1, floor(micro-steps / grad_accum_steps))"
    else:
        steps = math.ceil(epochs * math.ceil(micro_per_epoch / accum))
        rule = "updates per epoch: ceil(ceil(rows / dp / micro_batch_size) / grad_accum_steps)"
        if run.schedule.drop_last:
            rule = "updates per epoch: ceil(floor(rows / dp / micro_batch_size) / grad_accum_steps)"
    used = min(rows, micro_per_epoch * micro * dp)
    if framework in _FLOORING:
        # Micro-batches left over at the end of an epoch make no update.
        used = min(used, max(1, micro_per_epoch // accum) * accum * micro * dp)
    if used < rows:
        lost = rows - used
        notes.append(f"{lost} samples of each epoch are dropped with the last incomplete batch")
    examples = round(used * epochs)
    return StepsLedger(
        examples=examples,
        micro_steps=math.ceil(epochs * micro_per_epoch),
        optimizer_steps=max(1, steps),
        tokens=examples * run.data.seq_len if run.data.seq_len else None,
        epochs=epochs,
        rule=rule,
        notes=tuple(notes),
    )
