"""Diagnosed runs as results: curves, evidence, and all of them at equal compute."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.planner.curves.run_curves import LoggedRun
from compute_budget_planner.planning.curve_reading import CurveReading
from compute_budget_planner.planning.diagnosis import Diagnosis
from compute_budget_planner.planning.equal_compute import compare
from compute_budget_planner.planning.repetition import DataUse
from compute_budget_planner.results.base import RangeOut
from compute_budget_planner.results.diagnosis import (
    CurveOut,
    EqualComputeOut,
    RunDiagnosisOut,
    StandingOut,
)


@dataclass(frozen=True)
class JudgedCurves:
    """A run with its diagnosis, its size where known, and how it used its data."""

    run: LoggedRun
    diagnosis: Diagnosis
    params: float | None
    use: DataUse | None
    epochs: float | None

    @property
    def main(self) -> CurveReading | None:
        """The curve that decides: validation where there is one."""
        return self.diagnosis.validation or self.diagnosis.train


def run_out(one: JudgedCurves, reference: Reference) -> RunDiagnosisOut:
    """Return the diagnosis of one run."""
    row = reference.row("run_kinds", one.diagnosis.kind)
    use = one.use
    return RunDiagnosisOut(
        run=one.run.name,
        kind=one.diagnosis.kind.value,
        candidates=[kind.value for kind in one.diagnosis.candidates],
        means=row.required("means"),
        evidence=list(one.diagnosis.evidence),
        next_experiment=one.diagnosis.next_experiment,
        curves=_curves_out(one.diagnosis),
        epochs=one.epochs,
        repeated_percent=None if use is None else use.repeated_percent,
        effective_tokens=None if use is None else use.effective_tokens,
        sources=list(one.run.sources),
    )


def _curves_out(diagnosis: Diagnosis) -> list[CurveOut]:
    rows = []
    if diagnosis.train is not None:
        rows.append(_curve_out("training", diagnosis.train))
    if diagnosis.validation is not None:
        rows.append(_curve_out("validation", diagnosis.validation))
    return rows


def _curve_out(name: str, reading: CurveReading) -> CurveOut:
    fall = reading.fall
    return CurveOut.model_validate(
        {
            "curve": name,
            "points": reading.points,
            "level": reading.level,
            "lowest": reading.lowest,
            "lowest_step": reading.lowest_step,
            "rise_percent": reading.rise_percent,
            "fall_per_doubling": None
            if fall is None
            else RangeOut(low=fall.low, expected=fall.expected, high=fall.high),
            "fall_from_step": None if fall is None else fall.from_step,
            "fall_to_step": None if fall is None else fall.to_step,
            "noise": reading.noise,
            "spikes": len(reading.spikes),
            "restarts": len(reading.restarts),
        }
    )


def equal_compute_out(judged: Sequence[JudgedCurves]) -> EqualComputeOut | None:
    """Return the runs at equal compute; None below two whose FLOPs per step are known."""
    on_steps = [one for one in judged if one.run.unit == "steps" and one.main is not None]
    curves = {one.run.name: one.main.smooth for one in on_steps if one.main is not None}
    per_step: Mapping[str, float] = {
        one.run.name: flops
        for one in on_steps
        if (flops := one.run.known.flops_per_step) is not None
    }
    comparison = compare(curves, per_step)
    if comparison is None:
        return None
    params = {one.run.name: one.params for one in on_steps}
    return EqualComputeOut(
        flops=comparison.flops,
        steps=comparison.steps,
        order_differs=comparison.order_differs,
        standings=[
            StandingOut(
                run=s.run,
                params_total=None if (n := params[s.run]) is None else int(n),
                step=s.step,
                loss=s.loss,
                loss_at_equal_steps=s.loss_at_equal_steps,
                inside_schedule=s.inside_schedule,
            )
            for s in comparison.standings
        ],
    )
