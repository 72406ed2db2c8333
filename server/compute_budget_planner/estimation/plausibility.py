"""Measured speeds that cannot be what they are called: set aside, with a question.

A rate per accelerator read as that of the job, or seconds of a micro-step read as those of an
optimizer step, is wrong by a known whole factor. A calibration on it would be wrong by that
factor as well, so it is better to ask.
"""

import math
from collections.abc import Sequence

from compute_budget_planner.estimation.calibration import Measured, predicted_seconds
from compute_budget_planner.estimation.device_rate import device_rate
from compute_budget_planner.estimation.step import flops_per_step
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.numbers import brief

_LEAST_FACTOR = 4
"""Smaller mistakes cannot be told from a slow or fast run."""

_NEAR = 0.35
"""How near (logarithm) the corrected measurement must come to the prediction."""

_FP8_SHARE = 2.0
"""Dense FP8 peak over the 16-bit one."""


def sift(
    measured: Sequence[Measured], reference: Reference
) -> tuple[tuple[Measured, ...], tuple[str, ...]]:
    """Return the measured runs to calibrate on, and a question about each of the others.

    Raises:
        FactError: the guide lacks a rate of a device.
    """
    kept: list[Measured] = []
    questions: list[str] = []
    for item in measured:
        doubt = _doubt(item, reference)
        if doubt:
            questions.append(f"{doubt} Calibrated without `{item.label}` until that is clear.")
        else:
            kept.append(item)
    return tuple(kept), tuple(questions)


def _doubt(item: Measured, reference: Reference) -> str:
    """Return what must be asked about a measured run, empty when it is plausible."""
    ratio = item.step_seconds / predicted_seconds(item, reference)
    n_gpus, accum = item.run.hardware.n_gpus, item.run.batch.grad_accum_steps
    times = brief(max(ratio, 1 / ratio))
    if _explains(n_gpus, 1 / ratio):
        return (
            f"`{item.label}` is {times} times slower than predicted, about its {n_gpus}"
            " accelerators: is its rate per accelerator rather than of the whole job?"
        )
    if _explains(accum, ratio):
        return (
            f"`{item.label}` is {times} times faster than predicted, about its {accum}"
            " accumulation steps: are its steps micro-steps (forward passes)?"
        )
    if _explains(n_gpus, ratio):
        return (
            f"`{item.label}` is {times} times faster than predicted, about its {n_gpus}"
            " accelerators: is its rate that of the whole job rather than per accelerator?"
        )
    if _beyond_peak(item, reference):
        return (
            f"`{item.label}` would need more than the peak of its accelerators: does the rate"
            " count tokens for samples, or the whole job for one GPU?"
        )
    return ""


def _explains(factor: int, ratio: float) -> bool:
    return factor >= _LEAST_FACTOR and abs(math.log(ratio * factor)) < _NEAR


def _beyond_peak(item: Measured, reference: Reference) -> bool:
    run = item.run
    flops, _ = flops_per_step(run)
    peak = device_rate(run.hardware.accelerator, run.numerics.precision, reference).peak_flops
    if run.numerics.precision == "fp8":
        peak *= _FP8_SHARE
    return flops / item.step_seconds / run.hardware.n_gpus > peak
