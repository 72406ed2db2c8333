"""Fit the coefficients of the step-time model and write them into the guide.

    python benchmarks/fit.py llm_throughput.csv            # show the fit
    python benchmarks/fit.py llm_throughput.csv --write    # and write guide and held_out.csv

Robust regression of log(predicted / measured): sources weigh √n, each coefficient has a prior
from physics or from public kernel benchmarks and moves from it only as far as several sources
pull. Coefficients are fitted in logarithms by Gauss-Newton steps with Huber weights.
"""

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from coefficients import Cell, with_values, write
from compute_budget_planner.errors import PlannerError
from compute_budget_planner.estimation.step import step_time
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.shipped import load_reference, skill_directory
from compute_budget_planner.workload.run import TrainingRun
from held_out import write as write_held_out
from llm import VTRAIN, assessed, left_out_source, scored_rows, speed_of
from priors import COEFFICIENTS, Coefficient
from rows import measured_tokens_per_second_per_gpu

_ROW_DEVIATION = 0.15
"""Log deviation of a row that is modelled well; errors beyond it weigh less (Huber)."""

_EVERY_VTRAIN = 8
"""One project holds half of the rows: every eighth of them says as much."""

_SUSPECT = re.compile(
    r"torchao-0(0[89]|1[0-2]|1[6-9]|2[0-4])|nemoa100-0(0[7-9]|1[01])|dgxc-1(79|80|81)"
    r"|fsdpqlora-0(0[1-8]|13|22)|lambda_v0-(185|091)|lambda_v1-103|mbridge-137"
)
"""Rows the data's README marks as suspect (no batch, power limit, slow host, assumed layout, early
software): they are scored like all others, but teach nothing."""

_CHORDS = 4
"""Steps with the same slopes until a fit without one source stands still."""

Vector = np.ndarray


@dataclass(frozen=True)
class Observation:
    """A resolved run with its measured speed."""

    source: str
    run: TrainingRun
    log_speed: float


def observations(path: Path, reference: Reference) -> list[Observation]:
    """Return the measured runs to fit to."""
    found = []
    vtrain = 0
    for row in scored_rows(path):
        source = left_out_source(row)
        vtrain += source == VTRAIN
        if source == VTRAIN and vtrain % _EVERY_VTRAIN:
            continue
        try:
            run = assessed(row, reference).run
        except PlannerError:
            continue
        speed = measured_tokens_per_second_per_gpu(row)
        if run is not None and speed is not None and not _SUSPECT.fullmatch(row["id"]):
            found.append(Observation(source, run, float(np.log(speed))))
    return found


def errors(seen: Sequence[Observation], reference: Reference) -> Vector:
    """Return log(predicted / measured) speed."""
    runs = [_with_class_of(o.run, reference) for o in seen]
    seconds = [step_time(run, reference).seconds for run in runs]
    speeds = [speed_of(run, each) for run, each in zip(runs, seconds, strict=True)]
    return np.log(speeds) - np.array([o.log_speed for o in seen])


def _with_class_of(run: TrainingRun, reference: Reference) -> TrainingRun:
    """Return the run with the reference's own figures of its class of software."""
    software = reference.framework_classes[run.numerics.framework_class.name]
    return replace(run, numerics=replace(run.numerics, framework_class=software))


def cells(coefficients: Sequence[Coefficient], logs: Vector) -> dict[Cell, float]:
    """Return the number of every cell the coefficients stand in."""
    return {
        cell: float(np.exp(log))
        for each, log in zip(coefficients, logs, strict=True)
        for cell in each.cells
    }


class Fit:
    """The regression: observations, coefficients with priors, and the model between them."""

    def __init__(
        self,
        seen: Sequence[Observation],
        reference: Reference,
        coefficients: Sequence[Coefficient] = COEFFICIENTS,
    ) -> None:
        self.seen = seen
        self.reference = reference
        self.coefficients = coefficients
        self.prior = np.log([each.prior for each in coefficients])
        self.deviation = np.array([each.deviation for each in coefficients])
        self.sources = np.array([o.source for o in seen])

    def errors(self, logs: Vector) -> Vector:
        """Return the errors of all rows at these coefficients."""
        return errors(self.seen, with_values(self.reference, cells(self.coefficients, logs)))

    def jacobian(self, logs: Vector, at: Vector) -> Vector:
        """Return the change of every error with every coefficient, by differences."""
        step = 0.01
        return np.column_stack(
            [(self.errors(logs + step * unit) - at) / step for unit in np.eye(len(logs))]
        )

    def weights(self, without: str = "") -> Vector:
        """Return 1/√n of each row's source, 0 for the source left out."""
        counts = {s: int((self.sources == s).sum()) for s in set(self.sources)}
        per_row = np.array([0.0 if s == without else counts[s] ** -0.5 for s in self.sources])
        return per_row / _ROW_DEVIATION**2

    def step(self, logs: Vector, at: Vector, jacobian: Vector, weights: Vector) -> Vector:
        """Return the coefficients after one damped Gauss-Newton step."""
        size = np.maximum(np.abs(at), 1e-9)
        robust = weights * np.minimum(1.0, _ROW_DEVIATION / size)
        normal = jacobian.T @ (robust[:, None] * jacobian) + np.diag(self.deviation**-2)
        pull = jacobian.T @ (robust * at) + (logs - self.prior) / self.deviation**2
        moved: Vector = logs - np.clip(np.linalg.solve(normal, pull), -0.5, 0.5)
        return moved

    def solve(self, steps: int = 6, start: Vector | None = None, without: str = "") -> Vector:
        """Return the fitted coefficients, as logarithms."""
        logs = self.prior if start is None else start
        weights = self.weights(without)
        for _ in range(steps):
            at = self.errors(logs)
            logs = self.step(logs, at, self.jacobian(logs, at), weights)
        return logs

    def without_each(self, fitted: Vector) -> dict[str, Vector]:
        """Return the coefficients fitted without one source each.

        They lie near those fitted to all, so the slopes of there serve for all of them.
        """
        at = self.errors(fitted)
        jacobian = self.jacobian(fitted, at)
        found = {}
        for source in sorted(set(self.sources)):
            weights = self.weights(source)
            logs = self.step(fitted, at, jacobian, weights)
            for _ in range(_CHORDS):
                logs = self.step(logs, self.errors(logs), jacobian, weights)
            found[source] = logs
        return found


def median_percent(log_errors: Vector) -> float:
    """Return the median error factor less one, in percent."""
    return float(100 * (np.exp(np.median(np.abs(log_errors))) - 1))


def summary(sources: Vector, found: Vector) -> tuple[float, float]:
    """Return the median over all rows and the mean of source medians, vTrain left out."""
    usual = sources != VTRAIN
    medians = [median_percent(found[sources == s]) for s in sorted(set(sources[usual]))]
    return median_percent(found[usual]), float(np.mean(medians))


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, show, and write where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="llm_throughput.csv")
    parser.add_argument("--write", action="store_true", help="write guide and held_out.csv")
    options = parser.parse_args(arguments)
    if not options.data.is_file():
        parser.error(f"{options.data} does not exist; the data files are no part of the project")
    reference = load_reference()
    fit = Fit(observations(options.data, reference), reference)
    fitted = fit.solve()
    held_out = fit.without_each(fitted)
    _show(fit, fitted, held_out)
    if options.write:
        page = skill_directory() / "references" / "efficiency.md"
        write(page, cells(fit.coefficients, fitted))
        write_held_out({s: cells(fit.coefficients, logs) for s, logs in held_out.items()})
    return 0


def _show(fit: Fit, fitted: Vector, held_out: Mapping[str, Vector]) -> None:
    for each, log, prior in zip(fit.coefficients, fitted, fit.prior, strict=True):
        spread = [np.exp(logs[fit.coefficients.index(each)]) for logs in held_out.values()]
        print(
            f"{each.name:28s} prior {np.exp(prior):8.4g} fitted {np.exp(log):8.4g} "
            f"held out {min(spread):.4g} to {max(spread):.4g}"
        )
    at: Callable[[Vector], Vector] = fit.errors
    unseen = np.zeros(len(fit.seen))
    for source, logs in held_out.items():
        unseen[fit.sources == source] = at(logs)[fit.sources == source]
    for title, found in (
        ("priors alone", at(fit.prior)),
        ("fitted, seen", at(fitted)),
        ("fitted, source left out", unseen),
    ):
        rows, sources = summary(fit.sources, found)
        print(f"{title}: all rows {rows:.1f} %, mean of source medians {sources:.1f} %")


if __name__ == "__main__":
    sys.exit(main())
