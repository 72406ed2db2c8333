"""From what a row states to a scored prediction, for rows that are not of `llm_throughput.csv`."""

from collections.abc import Callable, Mapping

from compute_budget_planner.errors import PlannerError
from compute_budget_planner.estimation.assess import Assessment, assess
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.resolve import resolve
from compute_budget_planner.workload.run import TrainingRun
from compute_budget_planner.workload.vocabulary import parse_fact
from report import Scored, refusal

RawFacts = Mapping[str, object]


def stated(raw: RawFacts, reference: Reference, row_id: str) -> list[Fact]:
    """Return raw values as facts that a row states."""
    return [
        Fact(n, parse_fact(n, v, reference, row_id), Basis.STATED, row_id, Layer.ARGUMENT)
        for n, v in raw.items()
        if v not in (None, "")
    ]


def resolved(raw: RawFacts, reference: Reference, row_id: str) -> TrainingRun | None:
    """Return the run of a row, None when its facts do not make one."""
    try:
        return resolve(stated(raw, reference, row_id), reference).run
    except PlannerError:
        return None


def samples_per_second(assessment: Assessment) -> Range:
    """Return samples per second of the whole job, without the lines beside the steps."""
    assert assessment.run is not None  # noqa: S101  only called where there is an estimate
    assert assessment.estimate is not None  # noqa: S101
    return assessment.estimate.step_seconds.inverse(assessment.run.batch.global_batch_size)


def gpu_hours(assessment: Assessment) -> Range:
    """Return GPU-hours of the whole run."""
    assert assessment.estimate is not None  # noqa: S101  only called where there is an estimate
    return assessment.estimate.gpu_hours


def gpu_hours_after_start(assessment: Assessment) -> Range:
    """Return GPU-hours of a run whose clock starts when initialisation is over, as MLPerf's."""
    whole = gpu_hours(assessment)
    assert assessment.run is not None  # noqa: S101
    assert assessment.estimate is not None  # noqa: S101
    start = next(line for line in assessment.estimate.overheads if line.name == "start-up")
    before = start.hours.scaled(assessment.run.hardware.n_gpus)
    return Range(whole.low - before.low, whole.expected - before.expected, whole.high - before.high)


QUANTITIES: Mapping[str, Callable[[Assessment], Range]] = {
    "samples_per_second": samples_per_second,
    "gpu_hours": gpu_hours,
}
"""The quantities of a prediction file."""


def scored(
    row_id: str,
    raw: RawFacts,
    reference: Reference,
    *,
    quantity: str,
    regime: str,
    source: str,
    measured: Callable[[], float],
    read: Callable[[Assessment], Range] | None = None,
) -> Scored:
    """Return a row with its prediction; `measured` is called after everything is predicted.

    `read` takes the quantity from the assessment where it is not the usual one.
    """
    try:
        assessment = assess(stated(raw, reference, row_id), reference, name=row_id)
    except PlannerError as error:
        return refusal(row_id, quantity, regime, source, error.what)
    if assessment.estimate is None:
        lacking = ", ".join(assessment.resolution.missing)
        return refusal(row_id, quantity, regime, source, f"missing: {lacking}")
    found = (read or QUANTITIES[quantity])(assessment)
    return Scored(
        row_id,
        quantity,
        regime,
        source,
        found.low,
        found.expected,
        found.high,
        measured(),
    )
