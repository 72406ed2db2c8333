"""What an objective costs beyond one pass of plain training: more passes, and rollouts.

Passes are counted and scale every part of the step. Rollouts are generated at decode speed: each
token of a completion reads the weights once for all completions that are generated together.
Nothing here is validated against measured runs; the range says so.
"""

import math

from compute_budget_planner.estimation.device_rate import device_rate
from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.estimation.step_time import StepTime, as_step_time
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import TrainingRun

_WITH_ROLLOUTS = {"ppo", "grpo"}
_WEIGHT_BYTES = 2.0


def with_objective(run: TrainingRun, time: StepTime, reference: Reference) -> StepTime:
    """Return the time of a step of the run's objective, from that of plain training.

    Raises:
        FactError: the guide lacks a rate of the device.
    """
    passes = reference.rows("objective_cost").get(f"objective_{run.numerics.objective}")
    if passes is None:
        return time
    factor = passes.required_number("expected")
    parts = {name: seconds * factor for name, seconds in time.parts.items()}
    if run.numerics.objective in _WITH_ROLLOUTS and isinstance(run.model, Architecture):
        parts["rollouts"] = rollout_seconds(run, run.model, reference)
    return as_step_time(parts)


def rollout_seconds(run: TrainingRun, model: Architecture, reference: Reference) -> float:
    """Return seconds in which one model replica generates the completions of one step.

    A batch counts completions. Decoding is bound by reading the weights, or by arithmetic when
    many completions are generated together.

    Raises:
        FactError: the guide lacks a rate of the device.
    """
    rate = device_rate(run.hardware.accelerator, run.numerics.precision, reference)
    completions = run.batch.micro_batch_size * run.batch.grad_accum_steps
    together = min(completions, reference.value("rollout_together"))
    length = (run.data.seq_len or 1) * reference.value("rollout_length_share")
    counts = count_parameters(model)
    devices = run.parallelism.tp * run.parallelism.pp * run.parallelism.cp
    bandwidth = rate.bytes_per_second * reference.value("rollout_bandwidth_share")
    reading = counts.total * _WEIGHT_BYTES / bandwidth
    computing = together * 2.0 * counts.active / rate.achievable_flops
    per_token = max(reading, computing) / devices
    return math.ceil(completions / together) * length * per_token
