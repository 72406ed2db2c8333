"""Predicted against measured training speed of language models and encoders."""

import random
from collections.abc import Callable, Iterable
from pathlib import Path

from compute_budget_planner.errors import PlannerError
from compute_budget_planner.estimation.assess import Assessment, assess
from compute_budget_planner.estimation.calibration import Measured
from compute_budget_planner.estimation.device_rate import dense_peak_tflops
from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import TrainingRun
from report import Scored, refusal
from rows import Row, measured_tokens_per_second_per_gpu, read_rows, row_facts, source_of

QUANTITY = "tokens_per_second_per_gpu"
VTRAIN = "vTrain"
_GENERATIONS = {
    "volta-turing": "V100/T4/RTX",
    "ampere-workstation": "V100/T4/RTX",
    "a100": "A100",
    "hopper": "Hopper",
    "blackwell": "Blackwell",
}
_WIDE = {"fp8", "mxfp8", "nvfp4"}
_MFU = 0.4

ReferenceOf = Callable[[str], Reference]
"""The reference to judge a source with: one that has never seen it."""


def scored_rows(path: Path) -> list[Row]:
    """Return the rows whose speed counts."""
    return [row for row in read_rows(path) if row["score"] == "1"]


def left_out_source(row: Row) -> str:
    """Return the source a row is left out with; vTrain's two tables are one project."""
    source = source_of(row)
    return VTRAIN if source.startswith("vtrain") else source


def score(path: Path, reference_of: ReferenceOf) -> list[Scored]:
    """Return every scored row with its prediction from what the row states."""
    return [_score(row, reference_of(left_out_source(row))) for row in scored_rows(path)]


def score_calibrated(path: Path, reference_of: ReferenceOf, *, alike: bool) -> list[Scored]:
    """Return rows predicted with one measured run of the same source, model and accelerator.

    `alike`: of the same method and precision too. The run is drawn by lot among the candidates;
    a row without any is left out.
    """
    rows = scored_rows(path)
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(_kind(row, alike=alike), []).append(row)
    found = []
    for row in rows:
        others = [r for r in groups[_kind(row, alike=alike)] if r["id"] != row["id"]]
        if not others:
            continue
        partner = random.Random(row["id"]).choice(others)  # noqa: S311  a lot, no secret
        reference = reference_of(left_out_source(row))
        measured = _as_measured(partner, reference)
        if measured is not None:
            found.append(_score(row, reference, [measured]))
    return found


def speed_of(run: TrainingRun, step_seconds: float) -> float:
    """Return tokens per second and accelerator."""
    tokens = run.batch.global_batch_size * (run.data.seq_len or 1)
    return tokens / step_seconds / run.hardware.n_gpus


def assessed(row: Row, reference: Reference, measured: Iterable[Measured] = ()) -> Assessment:
    """Assess what a row states.

    Raises:
        PlannerError: the row's facts contradict each other.
    """
    return assess(row_facts(row, reference), reference, name=row["id"], measured=tuple(measured))


def regime(row: Row, generation: str) -> str:
    """Return method × accelerator generation × precision × dense or MoE."""
    device = _GENERATIONS.get(generation, "other")
    if source_of(row).startswith("vtrain"):
        return f"{VTRAIN} {source_of(row).removeprefix('vtrain-')}"
    precision = "FP8" if row["precision"] in _WIDE else "16-bit"
    if row["precision"] in ("fp32", "tf32"):
        precision = "fp32/tf32"
    kind = "MoE" if row["family"] == "moe" else "dense"
    return f"{row['method']} {device} {precision} {kind}"


def _score(row: Row, reference: Reference, measured: Iterable[Measured] = ()) -> Scored:
    source = source_of(row)
    apart = source.startswith("vtrain")
    found = reference.find_accelerators(row["gpu"])
    name = regime(row, found[0].generation if found else "")
    try:
        assessment = assessed(row, reference, measured)
    except PlannerError as error:
        return refusal(row["id"], QUANTITY, name, source, str(error), apart=apart)
    run, estimate = assessment.run, assessment.estimate
    if run is None or estimate is None:
        lacking = ", ".join(assessment.resolution.missing)
        return refusal(row["id"], QUANTITY, name, source, f"missing: {lacking}", apart=apart)
    seconds = estimate.step_seconds
    low, expected, high = (speed_of(run, s) for s in (seconds.high, seconds.expected, seconds.low))
    # Only here, after everything is predicted, is a measured column read.
    speed = measured_tokens_per_second_per_gpu(row)
    if speed is None:
        return refusal(row["id"], QUANTITY, name, source, "the row gives no speed", apart=apart)
    return Scored(
        row["id"],
        QUANTITY,
        name,
        source,
        low,
        expected,
        high,
        speed,
        baselines=_baselines(run),
        apart=apart,
    )


def _baselines(run: TrainingRun) -> dict[str, float]:
    """Return what two rules of thumb say: 40 % MFU of 6·N and of PaLM's FLOPs per token."""
    model = run.model
    assert isinstance(model, Architecture)  # noqa: S101  rows of this file are transformers
    peak = dense_peak_tflops(run.hardware.accelerator, run.numerics.precision) * 1e12
    plain = 6.0 * count_parameters(model).active
    attention = 12.0 * model.n_layers * model.n_heads * model.head_dim * (run.data.seq_len or 1)
    return {
        "6ND @ 40": _MFU * peak / plain,
        "PaLM @ 40": _MFU * peak / (plain + attention),
    }


def _kind(row: Row, *, alike: bool) -> tuple[str, ...]:
    shape = ("n_layers", "d_model", "n_heads", "d_ff", "gpu")
    names = (*shape, "method", "precision") if alike else shape
    return (source_of(row), *(row[name] for name in names))


def _as_measured(row: Row, reference: Reference) -> Measured | None:
    """Return a row as a measured run, None when it cannot be resolved or has no speed."""
    try:
        run = assessed(row, reference).run
    except PlannerError:
        return None
    speed = measured_tokens_per_second_per_gpu(row)
    if run is None or speed is None:
        return None
    return Measured(row["id"], run, speed_of(run, 1.0) / speed)
