"""Fit the coefficients of models counted per sample and write them into the guide.

    python benchmarks/fit_samples.py vision.csv other.csv            # show the fit
    python benchmarks/fit_samples.py vision.csv other.csv --write    # and write it

Two steps. Kinds of layers (compute, bytes per activation in both layouts) from the image models
on one device; then, with these, what software and 32 bit change, from other devices. Robust
regression of log(predicted / measured) in logarithms of the coefficients, each with a prior
from physics; a group of near-copies weighs the root of its rows. `--write` also repeats the fit
without each family and each project (held_out_samples.csv).
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import other
import vision
from coefficients import Cell, with_values, write
from compute_budget_planner.estimation.sample_time import layer_kind
from compute_budget_planner.estimation.step import step_time
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.shipped import load_reference, skill_directory
from compute_budget_planner.workload.architecture import SampleModel
from compute_budget_planner.workload.run import TrainingRun
from held_out import write as write_held_out
from rows import read_rows
from sample_rows import resolved

Vector = np.ndarray[Any, np.dtype[np.float64]]
_ROW_DEVIATION = 0.12
"""Log deviation of a row that is modelled well; the weight of others falls with its square."""

_KIND_PRIORS = {"compute": 1.0, "bytes_nchw": 74.0, "bytes_nhwc": 67.0}
_KIND_PRIOR_WEIGHT = 0.2

_SOFTWARE_PRIORS = {
    # A loader that decodes ten thousand images a second for each device.
    Cell("sample_time", "sample_loading_ms", "expected"): 0.1,
    # Winograd's F(2×2, 3×3) saves 2.25 on the half of the arithmetic that is 3×3.
    Cell("sample_time", "sample_compute_fp32", "expected"): 0.72,
    Cell("sample_time", "sample_width_32bit", "expected"): 2.0,
    Cell("sample_software", "fused", "speed"): 1.0,
    # That of a vision transformer (ViT-B/16: 23.9 M activations, 17.6 G multiply-adds).
    Cell("sample_time", "activations_per_mac", "expected"): 0.00136,
}
_SOFTWARE_DEVIATION = 0.5
"""Log deviation of those priors."""


@dataclass(frozen=True)
class Observation:
    """A resolved run and the logarithm of its measured samples per second."""

    group: str
    run: TrainingRun
    log_speed: float


def image_models(path: Path, reference: Reference) -> list[Observation]:
    """Return the image models on one device, by family."""
    found = []
    for row in read_rows(path):
        run = resolved(vision.row_facts(row), reference, "row") if vision.states_cost(row) else None
        if run is not None:
            speed = vision.measured_samples_per_second(row)
            found.append(Observation(vision.left_out_family(row), run, float(np.log(speed))))
    return found


def other_devices(path: Path, reference: Reference) -> list[Observation]:
    """Return everything else that can be mapped, by project."""
    found = []
    for row in read_rows(path):
        if other.set_aside(row):
            continue
        run = resolved(other.row_facts(row, reference), reference, row["id"])
        if run is not None:
            speed = other.measured_samples_per_second(row)
            found.append(Observation(other.left_out_project(row), run, float(np.log(speed))))
    return found


def fit_kinds(seen: Sequence[Observation], reference: Reference) -> dict[Cell, float]:
    """Return compute and bytes of every kind of layers that is seen."""
    by_kind: dict[str, list[Observation]] = {}
    for each in seen:
        by_kind.setdefault(_kind(each, reference), []).append(each)
    found: dict[Cell, float] = {}
    for kind, members in by_kind.items():
        cells = [Cell("layer_kinds", kind, column) for column in _KIND_PRIORS]
        flat = with_values(reference, dict.fromkeys(cells, 1.0))
        terms = np.array([_terms(o.run, flat) for o in members])
        last = np.array([o.run.numerics.channels_last for o in members])
        matrix = np.column_stack([terms[:, 0], terms[:, 1] * ~last, terms[:, 1] * last])
        targets = np.array([np.log(o.run.batch.global_batch_size) - o.log_speed for o in members])
        prior = np.log(list(_KIND_PRIORS.values()))

        def errors(logs: Vector, matrix: Vector = matrix, targets: Vector = targets) -> Vector:
            return np.asarray(np.log(matrix @ np.exp(logs)) - targets)

        weights = _weights([o.group for o in members])
        logs = _minimise(errors, prior, weights, np.full(3, _KIND_PRIOR_WEIGHT))
        found |= {cell: float(np.exp(log)) for cell, log in zip(cells, logs, strict=True)}
    return found


def fit_software(seen: Sequence[Observation], reference: Reference) -> dict[Cell, float]:
    """Return what software and 32 bit change."""
    cells = list(_SOFTWARE_PRIORS)
    prior = np.log(list(_SOFTWARE_PRIORS.values()))

    def errors(logs: Vector) -> Vector:
        values = {c: float(np.exp(log)) for c, log in zip(cells, logs, strict=True)}
        trial = with_values(reference, values)
        return np.array([o.log_speed - _log_speed(o.run, trial) for o in seen])

    groups = [o.group for o in seen]
    # A prior pulls like one row of its deviation beside rows of theirs.
    rows = sum(np.sqrt(groups.count(group)) for group in set(groups))
    pull = (_ROW_DEVIATION / _SOFTWARE_DEVIATION) ** 2 / rows
    logs = _minimise(errors, prior, _weights(groups), np.full(len(cells), pull))
    return {cell: float(np.exp(log)) for cell, log in zip(cells, logs, strict=True)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, print and, if asked, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("vision", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    reference = load_reference()
    images = image_models(options.vision, reference)
    devices = other_devices(options.other, reference)
    kinds = fit_kinds(images, reference)
    with_kinds = with_values(reference, kinds)
    software = fit_software(devices, with_kinds)
    for cell, value in (kinds | software).items():
        print(*cell, f"{value:.3g}")
    if options.write:
        write(skill_directory() / "references" / "efficiency.md", kinds | software)
        held_out = {
            family: _without_family(family, images, reference) for family in _groups(images)
        }
        for project in _groups(devices):
            kept = [o for o in devices if o.group != project]
            held_out[project] = fit_software(kept, with_kinds)
        write_held_out(held_out, vision.HELD_OUT)
    return 0


def _without_family(
    family: str, seen: Sequence[Observation], reference: Reference
) -> dict[Cell, float]:
    """Return the kinds of a family's models, fitted without the family."""
    kinds = {_kind(o, reference) for o in seen if o.group == family}
    kept = [o for o in seen if o.group != family and _kind(o, reference) in kinds]
    found = fit_kinds(kept, reference)
    for kind in kinds:
        for column, value in _KIND_PRIORS.items():
            found.setdefault(Cell("layer_kinds", kind, column), value)
    return found


def _kind(seen: Observation, reference: Reference) -> str:
    model = seen.run.model
    assert isinstance(model, SampleModel)  # noqa: S101  rows of this file are counted per sample
    return layer_kind(model.family, reference).required("kind")


def _log_speed(run: TrainingRun, reference: Reference) -> float:
    return float(np.log(run.batch.global_batch_size / step_time(run, reference).seconds))


def _terms(run: TrainingRun, reference: Reference) -> tuple[float, float]:
    parts = step_time(run, reference).parts
    return parts["matmuls"], parts["memory-bound work"]


def _groups(seen: Sequence[Observation]) -> list[str]:
    return sorted({o.group for o in seen})


def _weights(groups: Sequence[str]) -> Vector:
    weights = np.array([1 / np.sqrt(groups.count(group)) for group in groups])
    return np.asarray(weights / weights.sum())


def _minimise(
    errors: Callable[[Vector], Vector], prior: Vector, weights: Vector, pull: Vector
) -> Vector:
    """Return the logarithms that minimise Σ w·log(1 + (e/σ)²) + Σ pull·(x − prior)².

    Gauss-Newton steps with the weights of that loss; a step that does not improve is halved.
    """

    def loss(logs: Vector) -> float:
        robust = np.log1p((errors(logs) / _ROW_DEVIATION) ** 2)
        return float(weights @ robust + pull @ (logs - prior) ** 2)

    logs, best = prior.copy(), loss(prior)
    for _ in range(40):
        now = errors(logs)
        slopes = np.column_stack(
            [(errors(logs + step) - now) / 1e-3 for step in np.eye(len(logs)) * 1e-3]
        )
        robust = weights / (_ROW_DEVIATION**2 + now**2)
        curvature = slopes.T @ (robust[:, None] * slopes) + np.diag(pull)
        slope = slopes.T @ (robust * now) + pull * (logs - prior)
        step = -np.linalg.solve(curvature, slope)
        for _ in range(12):
            if loss(logs + step) < best - 1e-9:
                break
            step = step / 2
        else:
            break
        logs, best = logs + step, loss(logs + step)
    return logs


if __name__ == "__main__":
    sys.exit(main())
