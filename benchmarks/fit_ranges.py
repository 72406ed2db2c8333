"""Fit the widths of the ranges to errors on sources left out, and write them into the guide.

    python benchmarks/fit_ranges.py llm_throughput.csv [--write]

Run after fit.py --write. Each regime's deviation is the smallest with which the stated share of its
rows lies inside, sources weighing √n; a regime of fewer than three sources is widened, since
the next source is a new draw. vTrain counts as one source. What assumed facts, launches and the
network add is counted first.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from coefficients import Cell, write
from compute_budget_planner.errors import PlannerError
from compute_budget_planner.estimation.ranges import Z80
from compute_budget_planner.estimation.uncertainty import regime_sigma_name
from compute_budget_planner.guide.shipped import load_reference, skill_directory
from held_out import references_by_source
from llm import ReferenceOf, assessed, left_out_source, scored_rows, speed_of
from rows import measured_tokens_per_second_per_gpu

_SHARE = 0.82
_ROWS_BETWEEN = (0.77, 0.88)
"""Shares of the rows that shall lie inside at the least and at the most."""

_FEW_SOURCES = 3
_WIDER = 1.25


@dataclass(frozen=True)
class Miss:
    """Log of measured over predicted step time of a row, and what widens it beside its regime."""

    name: str
    source: str
    log_time: float
    down: float
    up: float

    def needed(self) -> float:
        """Return the regime deviation with which the row is just inside."""
        reach = abs(self.log_time) / Z80
        beside = self.up if self.log_time > 0 else self.down
        return float(np.sqrt(max(0.0, reach**2 - beside**2)))


def misses(path: Path, reference_of: ReferenceOf) -> list[Miss]:
    """Return every scored row's error with coefficients fitted without its source."""
    found = []
    for row in scored_rows(path):
        reference = reference_of(left_out_source(row))
        try:
            assessment = assessed(row, reference)
        except PlannerError:
            continue
        run, estimate, spread = assessment.run, assessment.estimate, assessment.uncertainty
        speed = measured_tokens_per_second_per_gpu(row)
        if run is None or estimate is None or spread is None or speed is None:
            continue
        name = regime_sigma_name(run)
        own = reference.value(name)
        beside = [
            float(np.sqrt(max(0.0, side**2 - own**2)))
            for side in (spread.spread.down, spread.spread.up)
        ]
        log_time = float(np.log(speed_of(run, estimate.step_seconds.expected) / speed))
        found.append(Miss(name, left_out_source(row), log_time, beside[0], beside[1]))
    return found


def deviation(group: Sequence[Miss]) -> float:
    """Return the deviation of a regime, sources weighing √n; rows alone bound it on both sides."""
    sources = [miss.source for miss in group]
    needed = np.array([miss.needed() for miss in group])
    order = np.argsort(needed)
    weights = np.array([sources.count(source) ** -0.5 for source in sources])[order]
    passed = np.cumsum(weights) / weights.sum()
    value = needed[order][np.searchsorted(passed, _SHARE)]
    if len(set(sources)) < _FEW_SOURCES:
        return float(value) * _WIDER
    low, high = (np.quantile(needed, share) for share in _ROWS_BETWEEN)
    return float(np.clip(value, low, high))


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, show, and write where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="llm_throughput.csv")
    parser.add_argument("--write", action="store_true", help="write the guide")
    options = parser.parse_args(arguments)
    if not options.data.is_file():
        parser.error(f"{options.data} does not exist; the data files are no part of the project")
    reference = load_reference()
    found = misses(options.data, references_by_source(reference))
    values = {}
    for name in sorted({miss.name for miss in found}):
        group = [miss for miss in found if miss.name == name]
        cell = Cell("range_sigma", name, "expected")
        values[cell] = deviation(group)
        sources = len({miss.source for miss in group})
        moved = f"{reference.value(name):.3f} → {values[cell]:.3f}"
        print(f"{name:24s} {len(group):5d} rows {sources:3d} sources {moved}")
    if options.write:
        write(skill_directory() / "references" / "efficiency.md", values, digits=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
