"""Wall-clock time that is not a training step, line by line, each with a reference range."""

import math
from dataclasses import dataclass

from compute_budget_planner.estimation.ranges import Range, times
from compute_budget_planner.estimation.sample_time import hides_loading
from compute_budget_planner.estimation.step_time import trainable_parameters
from compute_budget_planner.estimation.steps import StepsLedger
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.numbers import brief
from compute_budget_planner.workload.architecture import Architecture, SampleModel
from compute_budget_planner.workload.run import TrainingRun


@dataclass(frozen=True)
class Overhead:
    """One line of the ledger: hours of wall-clock and what they are."""

    name: str
    hours: Range
    meaning: str


def startup_hours(run: TrainingRun, reference: Reference) -> Range:
    """Return hours from allocation to the first full-speed step of one job."""
    base = times(reference.quantity("startup_minutes"), 1 / 60)
    doublings = math.log2(max(1, run.hardware.n_nodes))
    hours = base.plus(times(reference.quantity("startup_minutes_per_doubling"), doublings / 60))
    if run.numerics.compile:
        hours = hours.plus(times(reference.quantity("compile_minutes"), 1 / 60))
    return hours


def checkpoint_gib(run: TrainingRun, reference: Reference) -> float:
    """Return the size of a resumable checkpoint on disk in GiB."""
    return _checkpoint_bytes(run, reference).expected / 2**30


def _checkpoint_bytes(run: TrainingRun, reference: Reference) -> Range:
    """Return bytes of weights, master copy and moments of what is trained."""
    params = float(run.model.params_total) if isinstance(run.model, SampleModel) else 0.0
    if isinstance(run.model, Architecture):
        params = float(trainable_parameters(run, run.model))
    return times(reference.quantity("checkpoint_bytes_full"), params)


def checkpoint_hours(run: TrainingRun, reference: Reference) -> Range:
    """Return hours one resumable checkpoint stalls training."""
    size = _checkpoint_bytes(run, reference)
    rate = reference.quantity("checkpoint_write_gb_s")
    nodes = run.hardware.n_nodes * 1e9 * 3600
    return Range(
        size.low / (rate.high * nodes),
        size.expected / (rate.expected * nodes),
        size.high / (rate.low * nodes),
    )


def overheads(
    run: TrainingRun, steps: StepsLedger, step_hours: float, reference: Reference
) -> tuple[Overhead, ...]:
    """Return the lines for a run whose steps alone take `step_hours` hours of wall-clock."""
    lines = [
        Overhead(
            "start-up", startup_hours(run, reference), "imports, data, weights, process group"
        ),
        _data_stalls(run, step_hours, reference),
        _evaluation(run, steps, step_hours, reference),
        _checkpoints(run, steps, step_hours, reference),
        _restarts(run, step_hours, reference),
    ]
    return tuple(line for line in lines if line.hours.high > 0)


def _data_stalls(run: TrainingRun, step_hours: float, reference: Reference) -> Overhead:
    text = isinstance(run.model, Architecture) and run.model.patch_size is None
    ready = text or hides_loading(run, reference)
    name = "data_stall_lm_percent" if ready else "data_stall_sample_percent"
    return Overhead(
        "data stalls",
        times(reference.quantity(name), step_hours / 100),
        "steps that wait for the loader",
    )


def _evaluation(
    run: TrainingRun, steps: StepsLedger, step_hours: float, reference: Reference
) -> Overhead:
    schedule = run.schedule
    if schedule.eval_every_steps and schedule.eval_examples:
        evaluations = steps.optimizer_steps // schedule.eval_every_steps
        train_equivalents = evaluations * schedule.eval_examples / max(1, steps.examples)
        hours = times(reference.quantity("eval_sample_cost"), train_equivalents * step_hours)
        meaning = f"{evaluations} evaluations of {schedule.eval_examples} samples"
    elif schedule.eval_every_steps:
        hours = times(reference.quantity("eval_default_percent"), step_hours / 100)
        meaning = "evaluations of unknown size"
    else:
        hours = times(reference.quantity("eval_default_percent"), step_hours / 100)
        meaning = "no evaluation is configured; a usual share"
    return Overhead("evaluation", hours, meaning)


def best_checkpoint_interval_hours(run: TrainingRun, reference: Reference) -> float:
    """Return the interval between checkpoints that loses least time in all.

    √(2·δ/λ), with δ hours one checkpoint stalls training and λ failures per hour of all machines
    (Young 1974; Daly 2006, eq. 20 in first order), kept to what people use.
    """
    failures_per_hour = run.hardware.n_nodes * reference.value("node_failures_per_1k_hours") / 1000
    stall = checkpoint_hours(run, reference).expected
    usual = reference.quantity("checkpoint_default_hours")
    return min(usual.high, max(usual.low, math.sqrt(2 * stall / failures_per_hour)))


def _checkpoints(
    run: TrainingRun, steps: StepsLedger, step_hours: float, reference: Reference
) -> Overhead:
    one = checkpoint_hours(run, reference)
    every = run.schedule.checkpoint_every_steps
    if every:
        count = float(max(1, steps.optimizer_steps // every))
        meaning = f"{int(count)} checkpoints"
    else:
        interval = best_checkpoint_interval_hours(run, reference)
        count = max(1.0, step_hours / interval)
        meaning = f"one checkpoint per {brief(interval)} h and one at the end"
    return Overhead("checkpoints", one.scaled(count), meaning)


def _restarts(run: TrainingRun, step_hours: float, reference: Reference) -> Overhead:
    most = reference.quantity("restart_percent_most")
    # Nobody waits for years: work that one device would need them for is done by many.
    longest = reference.value("longest_run_hours")
    n_gpus = max(run.hardware.n_gpus, run.hardware.n_gpus * step_hours / longest)
    at_scale = n_gpus / (n_gpus + reference.value("restart_half_gpus"))
    # Failures need time to happen: a run of less than a day hardly sees one.
    exposed_hours = at_scale * min(1.0, step_hours / 24) * step_hours
    return Overhead(
        "restarts", times(most, exposed_hours / 100), "failures, hangs and the work they lose"
    )
