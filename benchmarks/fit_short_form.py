"""Regenerate the short form of the guide: efficiency by class of language-model run.

    python benchmarks/fit_short_form.py llm_throughput.csv published_runs.csv [--write]

MFU by the short form's own convention (PaLM, attention in full, 4·N with frozen weights, of the
dense 16-bit peak). Middle: the median of measured rows. High: their 90th percentile times the
overhead factor, since the best runs lose nothing beside their steps. Low: the 10th percentile,
or the least efficient published whole run where that is lower. The ends
also hold what the server expects for those rows, so that by hand and computed agree. Classes of a
single source and those of image models stay as they are: one source says too little of a class.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from coefficients import Cell, write
from compute_budget_planner.errors import PlannerError
from compute_budget_planner.estimation.device_rate import dense_peak_tflops
from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.shipped import load_reference, skill_directory
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import TrainingRun
from llm import VTRAIN, assessed, left_out_source, scored_rows, speed_of
from rows import measured_tokens_per_second_per_gpu, read_rows

_COLUMNS = ("low_mfu_percent", "middle_mfu_percent", "high_mfu_percent")
_SMALL, _LARGE = 0.5e9, 9e9
_FEWEST_SOURCES = 2
_MACHINES = {
    "volta-turing": "volta_turing",
    "ampere-workstation": "workstation",
    "a100": "a100",
    "hopper": "hopper",
    "blackwell": "blackwell",
    "amd-instinct": "instinct",
    "tpu": "tpu",
}
_WHOLE_RUNS = {"reported", "wall_x_gpus"}


@dataclass(frozen=True)
class Efficiency:
    """MFU in percent of a measured row, and what the server expects there."""

    source: str
    measured: float
    expected: float


def flops_per_token(run: TrainingRun, model: Architecture) -> float:
    """Return FLOPs per token by the short form."""
    per_parameter = 4.0 if run.numerics.method in ("lora", "qlora") else 6.0
    attention = 12.0 * model.n_layers * model.n_heads * model.head_dim * (run.data.seq_len or 1)
    return per_parameter * count_parameters(model).active + attention


def class_of(run: TrainingRun, model: Architecture) -> str:
    """Return the short form's row for a run, empty when it has none."""
    machine = _MACHINES.get(run.hardware.accelerator.generation, "")
    numerics = run.numerics
    eight = "_fp8" if numerics.precision == "fp8" else ""
    if numerics.precision in ("fp32", "tf32"):
        plain = machine == "volta_turing" and numerics.precision == "fp32"
        return "dense_volta_turing_fp32" if plain else ""
    if model.experts is not None:
        return f"moe_{machine}{eight}"
    if numerics.method != "pretrain":
        kind = "full_ft" if numerics.method == "full-ft" else numerics.method
        small = count_parameters(model).total < _SMALL
        return "" if eight or small else f"{kind}_{machine}"
    return _pretraining(machine, eight, count_parameters(model).total)


def _pretraining(machine: str, eight: str, params: float) -> str:
    if machine in ("volta_turing", "instinct", "tpu"):
        return f"dense_{machine}"
    size = "_small" if params < _SMALL else "_large" if params >= _LARGE else ""
    if machine == "workstation" and size == "_large":
        size = ""
    return f"dense_{machine}{eight}{'' if eight and size == '_small' else size}"


def efficiencies(path: Path, reference: Reference) -> dict[str, list[Efficiency]]:
    """Return the efficiencies of measured rows by class."""
    found: dict[str, list[Efficiency]] = {}
    for row in scored_rows(path):
        if left_out_source(row) == VTRAIN:
            continue
        try:
            assessment = assessed(row, reference)
        except PlannerError:
            continue
        run, estimate = assessment.run, assessment.estimate
        speed = measured_tokens_per_second_per_gpu(row)
        if run is None or estimate is None or speed is None:
            continue
        model = run.model
        assert isinstance(model, Architecture)  # noqa: S101  rows of this file are transformers
        peak = dense_peak_tflops(run.hardware.accelerator, run.numerics.precision) * 1e10
        share = flops_per_token(run, model) / peak
        expected = speed_of(run, estimate.step_seconds.expected)
        entry = Efficiency(left_out_source(row), speed * share, expected * share)
        found.setdefault(class_of(run, model), []).append(entry)
    return found


def whole_runs(path: Path, reference: Reference) -> dict[str, list[float]]:
    """Return the efficiencies of published dense pre-training runs by class, 6·N·D in all."""
    found: dict[str, list[float]] = {}
    for row in read_rows(path):
        known = reference.find_accelerators(row["gpu"])
        dense = row["modality"] == "llm" and row["method"] == "pretrain"
        dense = dense and not row["params_active"] and "fp8" not in row["precision"]
        # A teacher's forward passes are inside the hours of a distilled model.
        dense = dense and "distilled" not in row["arch"]
        whole = row["hours_kind"] in _WHOLE_RUNS and row["tokens_total"]
        if not dense or not whole or not known:
            continue
        params, machine = float(row["params_total"]), _MACHINES.get(known[0].generation, "")
        peak = dense_peak_tflops(known[0], "bf16") * 1e10
        seconds = float(row["gpu_hours_calc"]) * 3600
        mfu = 6.0 * params * float(row["tokens_total"]) / seconds / peak
        found.setdefault(_pretraining(machine, "", params), []).append(mfu)
    return found


def ends(
    rows: Sequence[Efficiency], whole: Sequence[float], overhead_factor: float
) -> tuple[float, float, float]:
    """Return low, middle and high MFU of a class, in percent."""
    low, middle, high = np.quantile([row.measured for row in rows], (0.1, 0.5, 0.9))
    least, most = np.quantile([row.expected for row in rows], (0.05, 0.95))
    low, high = min(low, least, *whole), max(high, most) * overhead_factor
    return float(low), float(middle), float(high)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute, show, and write where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="llm_throughput.csv")
    parser.add_argument("runs", type=Path, help="published_runs.csv")
    parser.add_argument("--write", action="store_true", help="write the guide")
    options = parser.parse_args(arguments)
    for path in (options.data, options.runs):
        if not path.is_file():
            parser.error(f"{path} does not exist; the data files are no part of the project")
    reference = load_reference()
    found = efficiencies(options.data, reference)
    totals = whole_runs(options.runs, reference)
    values = _values(reference, found, totals)
    if options.write:
        write(skill_directory() / "references" / "estimation-guide.md", values)
    return 0


def _values(
    reference: Reference,
    found: Mapping[str, Sequence[Efficiency]],
    totals: Mapping[str, Sequence[float]],
) -> dict[Cell, float]:
    values: dict[Cell, float] = {}
    for name, row in reference.rows("short_form").items():
        rows = found.get(name, ())
        if len({each.source for each in rows}) < _FEWEST_SOURCES:
            continue
        new = ends(rows, totals.get(name, ()), row.required_number("overhead_factor"))
        values |= {
            Cell("short_form", name, column): float(round(value))
            for column, value in zip(_COLUMNS, new, strict=True)
        }
        _show(name, rows, [row.required_number(column) for column in _COLUMNS], new)
    return values


def _show(
    name: str, rows: Sequence[Efficiency], was: Iterable[float], new: Iterable[float]
) -> None:
    sources = len({row.source for row in rows})
    before, after = (" / ".join(f"{value:.0f}" for value in each) for each in (was, new))
    print(f"{name:28s} {len(rows):4d} rows {sources:2d} sources  {before:16s} → {after}")


if __name__ == "__main__":
    sys.exit(main())
