"""Curves with the slopes read from them, as a picture."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from compute_budget_planner.numbers import brief
from compute_budget_planner.planning.curve_reading import CurveReading
from compute_budget_planner.planning.diagnosis import Diagnosis
from compute_budget_planner.results.picture import Line, Picture

_FIT_POINTS = 9
_MOST_RUNS = 6


def picture_of_runs(runs: Sequence[tuple[str, str, Diagnosis]]) -> Picture | None:
    """Return a picture of (name, unit of steps, diagnosis); None without a curve to draw.

    Several runs end at different steps: each is drawn over the share of its own, by the curve
    that decides.
    """
    shown = runs[:_MOST_RUNS]
    if len(shown) == 1:
        ((name, unit, diagnosis),) = shown
        lines = list(_both(diagnosis))
        title = f"{name}: {diagnosis.kind}"
    else:
        unit, title = "share of the run (%)", "Loss by run"
        lines = [
            line
            for group, (name, _, diagnosis) in enumerate(shown)
            for line in _deciding(f"{name}: {diagnosis.kind}", group, diagnosis)
        ]
    if not any(len(line.x) > 1 for line in lines):
        return None
    return Picture(title, unit, "loss", tuple(lines))


def _both(diagnosis: Diagnosis) -> Iterator[Line]:
    train, validation = diagnosis.train, diagnosis.validation
    if train is not None:
        yield Line("training", train.smooth.steps, train.smooth.values, 0, style="dashed")
        if validation is None:
            yield from _fit(0, train)
    if validation is not None:
        yield Line("validation", validation.smooth.steps, validation.smooth.values, 1)
        yield from _fit(1, validation)


def _deciding(label: str, group: int, diagnosis: Diagnosis) -> Iterator[Line]:
    curve = diagnosis.validation or diagnosis.train
    if curve is None or curve.smooth.end <= 0:
        return
    end = curve.smooth.end
    whole = Line(label, curve.smooth.steps, curve.smooth.values, group)
    for line in (whole, *(replace(fit, label="") for fit in _fit(group, curve))):
        yield replace(line, x=tuple(100 * step / end for step in line.x))


def _fit(group: int, curve: CurveReading) -> Iterator[Line]:
    """Yield the fitted slope through the level at its middle, straight over log2 of the steps."""
    fall = curve.fall
    if fall is None or fall.from_step <= 0:
        return
    ratio = fall.to_step / fall.from_step
    steps = [fall.from_step * ratio ** (i / (_FIT_POINTS - 1)) for i in range(_FIT_POINTS)]
    middle = math.sqrt(fall.from_step * fall.to_step)
    per_doubling = fall.expected * curve.scale / 100
    losses = [curve.at(middle) - per_doubling * math.log2(step / middle) for step in steps]
    turn = "falls" if fall.expected >= 0 else "rises"
    text = f"{turn} by {brief(abs(fall.expected))} % per doubling"
    yield Line(text, tuple(steps), tuple(losses), group, style="fit")
