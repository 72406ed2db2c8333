"""Fit the few numbers of table `memory` that no arithmetic gives, and once without each source.

    python benchmarks/memory_fit.py llm_throughput.csv

Everything else of the memory estimate is counted. A number moves only as far as the rows insist:
its logarithm is held to the prior, which is the same for all stacks, and sources weigh alike.
The low and the high end keep their ratio to the expected value.
"""

import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coefficients import Cell, with_values, write
from compute_budget_planner.errors import PlannerError
from compute_budget_planner.estimation.assess import assess
from compute_budget_planner.estimation.memory_terms import memory_terms
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.workload.run import TrainingRun
from held_out import write as write_held_out
from memory import HELD_OUT, OTHER_QUANTITY, measured_without_driver, memory_facts, memory_rows
from rows import source_of

PAGE = Path(__file__).parent.parent / "references" / "efficiency.md"
PRIORS = {
    "fragmentation": (0.03, 0.08, 0.25),
    "fragmentation_sharded": (0.03, 0.08, 0.25),
    "fragmentation_hf": (0.03, 0.08, 0.25),
    "fragmentation_sharded_hf": (0.05, 0.2, 0.4),
    "logits_kept": (0.0, 0.1, 0.5),
    "logits_kept_hf": (0.0, 0.1, 0.5),
}
"""Low, expected and high of each number before any row has been seen."""
_STEPS = (0.4, 0.7, 0.9, 1.1, 1.4, 2.5)
_ROUNDS = 3
_PULL = 0.005
"""What a number that is e times its prior costs, in mean log error."""


@dataclass(frozen=True)
class Point:
    """A resolved row: what it ran, what was measured in GiB, and in which kind."""

    source: str
    run: TrainingRun
    measured_gib: float
    without_driver: bool


def points(path: Path, reference: Reference) -> list[Point]:
    """Return the rows that can be resolved and hold what is predicted."""
    found = []
    for row in memory_rows(path):
        if row["id"] in OTHER_QUANTITY:
            continue
        try:
            run = assess(memory_facts(row, reference), reference).run
        except PlannerError:
            continue
        if run is not None:
            peak = float(row["peak_mem_gb"])
            found.append(Point(source_of(row), run, peak, measured_without_driver(row)))
    return found


def fit(rows: Sequence[Point], reference: Reference) -> dict[str, float]:
    """Return the expected value of each number, by coordinate search from the priors."""
    values = {name: prior[1] for name, prior in PRIORS.items()}
    best = _loss(rows, reference, values)
    for _ in range(_ROUNDS):
        for name in PRIORS:
            for step in _STEPS:
                trial = {**values, name: values[name] * step}
                loss = _loss(rows, reference, trial)
                if loss < best:
                    best, values = loss, trial
    return values


def cells(values: Mapping[str, float]) -> dict[Cell, float]:
    """Return expected values and the ends that go with them as cells of the guide."""
    found = {}
    for name, value in values.items():
        low, expected, high = PRIORS[name]
        # The expected value first: setting it clears the ends.
        found[Cell("memory", name, "expected")] = value
        found[Cell("memory", name, "low")] = low * value / expected
        found[Cell("memory", name, "high")] = high * value / expected
    return found


def _loss(rows: Sequence[Point], reference: Reference, values: Mapping[str, float]) -> float:
    trial = with_values(reference, cells(values))
    errors: dict[str, list[float]] = {}
    for row in rows:
        found = memory_terms(row.run, trial)
        peak = found.peak.expected
        if row.without_driver:
            peak -= found.terms["framework"].expected
        errors.setdefault(row.source, []).append(abs(math.log(peak / row.measured_gib)))
    pull = sum(math.log(value / PRIORS[name][1]) ** 2 for name, value in values.items())
    return statistics.fmean(map(statistics.fmean, errors.values())) + _PULL * pull


def main(arguments: Sequence[str]) -> int:
    """Fit, write the guide's table and the values without each source."""
    if len(arguments) != 1 or not Path(arguments[0]).is_file():
        print("usage: python benchmarks/memory_fit.py llm_throughput.csv (no part of the project)")
        return 2
    reference = load_reference()
    rows = points(Path(arguments[0]), reference)
    sources = sorted({row.source for row in rows})
    held_out = {
        source: cells(fit([row for row in rows if row.source != source], reference))
        for source in sources
    }
    write_held_out(held_out, HELD_OUT)
    final = fit(rows, reference)
    write(PAGE, cells(final), digits=2)
    for name, value in final.items():
        print(f"{name}: {value:.3g} (prior {PRIORS[name][1]:g})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
