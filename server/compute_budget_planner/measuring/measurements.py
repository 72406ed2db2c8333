"""All that is measured on one device, in order and within a budget of time."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.measuring.backend import Backend, Device, Unmeasurable
from compute_budget_planner.measuring.collectives import AllReduce, measure_all_reduce
from compute_budget_planner.measuring.launch_floor import LaunchFloor, measure_launch_floor
from compute_budget_planner.measuring.matmul_rate import (
    MatmulRate,
    best_rate,
    measure_matmul_rates,
)
from compute_budget_planner.measuring.memory_bandwidth import measure_memory_bandwidth
from compute_budget_planner.measuring.training_steps import ReferenceStep, measure_steps
from compute_budget_planner.numbers import brief

_NOISY = 1.25

# Shares of the budget; collectives and compilation take the time they take.
_MATMUL, _BANDWIDTH, _LAUNCH, _STEPS = 0.35, 0.05, 0.2, 0.4


@dataclass(frozen=True)
class Measurements:
    """What was measured; None and empty where the device or the software could not."""

    device: Device
    matmuls: tuple[MatmulRate, ...] = ()
    bandwidth_gb_s: Range | None = None
    launch: LaunchFloor | None = None
    all_reduce: tuple[AllReduce, ...] = ()
    steps: tuple[ReferenceStep, ...] = ()
    problems: tuple[str, ...] = ()

    def best(self, precision: str) -> Range | None:
        """Return TFLOPS of the fastest matmul of a precision."""
        rate = best_rate(self.matmuls, precision)
        return rate.tflops if rate else None


@dataclass(frozen=True)
class Plan:
    """How to measure: at most about `budget_seconds`; `report` is told each result as it comes."""

    backend: Backend
    budget_seconds: float
    quick: bool
    report: Callable[[str], None]


def measure(plan: Plan) -> Measurements:
    """Measure what can be measured."""
    found = Measurements(plan.backend.device)
    for part in (_matmuls, _bandwidth, _launch_floor, _collectives, _training_steps):
        found = part(plan, found)
    return replace(found, problems=(*found.problems, *_noise(found)))


def _matmuls(plan: Plan, found: Measurements) -> Measurements:
    rates: list[MatmulRate] = []
    problems = []
    precisions = plan.backend.device.precisions
    for precision in precisions:
        share = plan.budget_seconds * _MATMUL / len(precisions)
        measured, problem = measure_matmul_rates(plan.backend, precision, share)
        rates += measured
        problems += [problem] if problem else []
        best = best_rate(measured, precision)
        if best:
            plan.report(f"{precision} matmul: {brief(best.tflops.expected)} TFLOPS")
    return replace(found, matmuls=tuple(rates), problems=(*found.problems, *problems))


def _bandwidth(plan: Plan, found: Measurements) -> Measurements:
    try:
        bandwidth = measure_memory_bandwidth(plan.backend, plan.budget_seconds * _BANDWIDTH)
    except Unmeasurable as reason:
        return replace(found, problems=(*found.problems, f"memory bandwidth: {reason}"))
    plan.report(f"memory bandwidth: {brief(bandwidth.expected)} GB/s")
    return replace(found, bandwidth_gb_s=bandwidth)


def _launch_floor(plan: Plan, found: Measurements) -> Measurements:
    try:
        floor, problems = measure_launch_floor(
            plan.backend, plan.budget_seconds * _LAUNCH, compiled=not plan.quick
        )
    except Unmeasurable as reason:
        return replace(found, problems=(*found.problems, f"launch floor: {reason}"))
    plan.report(f"one kernel: {brief(floor.kernel_seconds.expected * 1e6)} µs of the host")
    return replace(found, launch=floor, problems=(*found.problems, *problems))


def _collectives(plan: Plan, found: Measurements) -> Measurements:
    rates, problem = measure_all_reduce(plan.backend)
    if rates:
        plan.report(f"all-reduce: {brief(max(r.gb_s.expected for r in rates))} GB/s per device")
    problems = (*found.problems, *((problem,) if problem else ()))
    return replace(found, all_reduce=tuple(rates), problems=problems)


def _training_steps(plan: Plan, found: Measurements) -> Measurements:
    rate = found.best(plan.backend.device.training_precision)
    if rate is None:
        return found
    steps, problems = measure_steps(
        plan.backend, rate.expected, plan.budget_seconds * _STEPS, quick=plan.quick
    )
    for step in steps:
        seconds = brief(step.seconds.expected)
        plan.report(f"training step of {brief(step.shape.params_total / 1e6)}M: {seconds} s")
    return replace(found, steps=tuple(steps), problems=(*found.problems, *problems))


def _noise(found: Measurements) -> list[str]:
    """Name what spreads so much that something else must be using the machine."""
    spreads = {
        f"a {step.shape.params_total / 1e6:.2g}M training step": step.seconds.width
        for step in found.steps
    }
    best = found.best(found.device.training_precision)
    if best is not None:
        spreads["the best matmul"] = best.width
    return [
        f"{what} varies by {brief(width)}× between repeats: is something else using the machine?"
        for what, width in spreads.items()
        if width > _NOISY
    ]
