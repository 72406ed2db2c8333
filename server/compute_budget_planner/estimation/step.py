"""The time of one optimizer step, whatever the model and the objective."""

from compute_budget_planner.estimation.flops import (
    TrainingFlops,
    training_flops_per_sample,
    training_flops_per_token,
)
from compute_budget_planner.estimation.objective_time import with_objective
from compute_budget_planner.estimation.sample_time import sample_step_time
from compute_budget_planner.estimation.step_time import StepTime, transformer_step_time
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import TrainingRun


def step_time(run: TrainingRun, reference: Reference) -> StepTime:
    """Return seconds of one optimizer step and its parts.

    Raises:
        FactError: the guide lacks a rate of the device.
    """
    if isinstance(run.model, Architecture):
        time = transformer_step_time(run, run.model, reference)
    else:
        time = sample_step_time(run, run.model, reference)
    return with_objective(run, time, reference)


def flops_per_step(run: TrainingRun) -> tuple[float, str]:
    """Return model FLOPs of one optimizer step over all devices, and their convention."""
    lora_rank = run.numerics.adapter_rank
    flops: TrainingFlops
    if isinstance(run.model, Architecture):
        seq_len = run.data.seq_len or 1
        flops = training_flops_per_token(run.model, seq_len, lora_rank=lora_rank)
        units = run.batch.global_batch_size * seq_len
    else:
        flops = training_flops_per_sample(run.model, lora_rank=lora_rank)
        units = run.batch.global_batch_size
    return flops.model * units, flops.convention
