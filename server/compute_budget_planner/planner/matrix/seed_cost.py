"""What one seed of a row of the matrix costs: estimated anew, or as somebody stated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compute_budget_planner.errors import FactError
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.planner.assessing import Assessed
from compute_budget_planner.planner.matrix.rows import MatrixRow, point_changes
from compute_budget_planner.planner.matrix.variation import varied
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.readers.change_clauses import Point
from compute_budget_planner.results import RangeOut
from compute_budget_planner.workload.facts import FactValue
from compute_budget_planner.workload.known_datasets import DATASET_SIZES


@dataclass(frozen=True)
class SeedCost:
    """One seed of a row: GPU-hours, hours of one job, jobs, devices, memory, how it is known."""

    gpu_hours: RangeOut
    wall_clock: RangeOut
    multiplier: float
    jobs: int
    n_gpus: int
    memory: str
    basis: str


def cost_of_seed(workspace: Workspace, base: Assessed, row: MatrixRow) -> SeedCost | str:
    """Return the cost of one seed, or the question that blocks it."""
    estimate, run = base.assessment.estimate, base.assessment.run
    assert estimate is not None and run is not None  # noqa: S101  checked by cost_matrix
    memory = base.assessment.memory.verdict if base.assessment.memory is not None else ""
    own = RangeOut.of(estimate.gpu_hours)
    wall = RangeOut.of(estimate.wall_clock_hours)
    if row.points and not any(row.points):
        count, basis = len(row.points), "reference" if row.neutral else "baseline"
        return SeedCost(
            times(own, count), wall, float(count), count, run.hardware.n_gpus, memory, basis
        )
    if row.multiplier is not None and not row.points:
        scaled = RangeOut.of(estimate.gpu_hours.scaled(row.multiplier))
        hours = RangeOut.of(estimate.wall_clock_hours.scaled(row.multiplier))
        return SeedCost(scaled, hours, row.multiplier, 1, run.hardware.n_gpus, memory, "stated")
    if not row.points:
        return row.problem
    known = base.assessment.resolution.facts
    values = {name: fact.value for name, fact in known.items()}
    hours_sum, walls, verdicts, n_gpus = Range.exact(0.0), [], [], run.hardware.n_gpus
    for point in row.points:
        changes = point_changes(point, values)
        if unknown := _without_value(point, changes):
            return f"the baseline does not say `{unknown}`, which this row changes by a factor"
        try:
            other = varied(workspace.reference, base, changes, f"variant {row.name}").assessment
        except FactError as error:
            return f"{error.what}. {error.remedy}"
        if other.estimate is None or other.run is None or other.memory is None:
            return f"it cannot be estimated: {', '.join(other.resolution.missing)} missing"
        hours_sum = hours_sum.plus(other.estimate.gpu_hours)
        walls.append(other.estimate.wall_clock_hours)
        verdicts.append(other.memory.verdict)
        n_gpus = other.run.hardware.n_gpus
    longest = max(walls, key=lambda w: w.expected)
    return SeedCost(
        RangeOut.of(hours_sum),
        RangeOut.of(longest),
        hours_sum.expected / estimate.gpu_hours.expected,
        len(row.points),
        n_gpus,
        _worst(verdicts),
        "re-estimated",
    )


def _without_value(point: Point, changes: Mapping[str, FactValue]) -> str:
    """Return a fact of a point that got no value; of the size of the data one is enough."""
    missing = [fact.name for fact in point if fact.name not in changes]
    if changes.keys() & set(DATASET_SIZES):
        missing = [name for name in missing if name not in DATASET_SIZES]
    return next(iter(missing), "")


def _worst(verdicts: Sequence[str]) -> str:
    order = ("OOM", "UNCERTAIN", "UNKNOWN", "TIGHT", "FITS")
    return min(verdicts, key=order.index)


def times(value: RangeOut, count: int) -> RangeOut:
    """Return a range as often as `count` says."""
    return RangeOut(low=value.low * count, expected=value.expected * count, high=value.high * count)
