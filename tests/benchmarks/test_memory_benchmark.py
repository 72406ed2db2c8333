"""The memory benchmark: what is scored, in which kind, and what is left out."""

import csv
import importlib
from pathlib import Path
from types import ModuleType

import pytest
from compute_budget_planner.guide.shipped import load_reference

ROOT = Path(__file__).parents[2]
# foundation-model-stack/fms-acceleration, a100_80gb_liger.csv: Mistral-7B LoRA on one A100.
LORA = {
    "id": "one",
    "source": "fms-acceleration a100_80gb_liger.csv",
    "family": "llama",
    "params_total": "7241732096",
    "n_layers": "32",
    "d_model": "4096",
    "n_heads": "32",
    "n_kv_heads": "8",
    "d_ff": "14336",
    "glu": "1",
    "vocab": "32000",
    "seq_len": "4096",
    "global_batch_seqs": "4",
    "micro_batch_seqs": "4",
    "grad_accum": "1",
    "gpu": "A100-SXM-80GB",
    "n_gpus": "1",
    "precision": "bf16",
    "sharding": "none",
    "act_ckpt": "full",
    "flash_attn": "1",
    "compile": "0",
    "method": "lora",
    "lora_rank": "16",
    "framework": "HF SFTTrainer",
    "peak_mem_gb": "23.27",
    "notes": "framework_config=foak-fast-kernels-liger; Liger fused linear CE",
    "score_memory": "1",
}
UNSTATED = ["params_active", "gpus_per_node", "interconnect", "tp", "pp", "cp", "ep"]


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("memory")


def data(folder: Path, *rows: dict[str, str]) -> Path:
    path = folder / "rows.csv"
    with path.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, [*LORA, *UNSTATED], restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_only_rows_whose_memory_counts_are_scored(memory: ModuleType, tmp_path: Path) -> None:
    path = data(tmp_path, LORA, {**LORA, "id": "two", "score_memory": "0"})
    (row,) = memory.score(path, load_reference())
    assert (row.id, row.quantity, row.regime) == (
        "one",
        "peak_memory_gib",
        "lora A100 16-bit dense",
    )
    assert (row.source, row.measured, row.refused) == ("fms-acceleration", 23.27, "")
    assert row.expected == pytest.approx(23.27, rel=0.1)


def test_a_prediction_does_not_depend_on_what_was_measured(
    memory: ModuleType, tmp_path: Path
) -> None:
    other = {**LORA, "id": "two", "peak_mem_gb": "40"}
    one, two = memory.score(data(tmp_path, LORA, other), load_reference())
    assert (one.low, one.expected, one.high) == (two.low, two.expected, two.high)


def test_reserved_memory_is_compared_without_the_driver(memory: ModuleType, tmp_path: Path) -> None:
    reserved = {**LORA, "id": "two", "notes": LORA["notes"] + "; peak reserved GiB per GPU"}
    device, allocator = memory.score(data(tmp_path, LORA, reserved), load_reference())
    context = load_reference().value("framework_context_gib")
    assert device.expected - allocator.expected == pytest.approx(context)


def test_rows_below_the_arithmetic_floor_are_gated_out(memory: ModuleType, tmp_path: Path) -> None:
    # 7.2 B parameters in 16 bit are 13.5 GiB before anything else.
    assert memory.score(data(tmp_path, {**LORA, "peak_mem_gb": "12"}), load_reference()) == []


def test_a_refusal_is_counted_with_its_reason(memory: ModuleType, tmp_path: Path) -> None:
    (row,) = memory.score(data(tmp_path, {**LORA, "gpu": "A999"}), load_reference())
    assert "`gpu` is 'A999'" in row.refused


def test_verdicts_are_judged_on_a_device_the_peak_exceeds(
    memory: ModuleType, tmp_path: Path
) -> None:
    reference = load_reference()
    (judged,) = memory.judge(data(tmp_path, LORA), lambda _source: reference)
    assert (judged.verdict, judged.smaller_device, judged.stated) == ("FITS", "OOM", True)
    assert memory.verdict_lines([judged]) == [
        "- rows that ran called OOM: 0.0 % of 1",
        "- called FITS on a device the measured peak exceeds by 10 %: 0.0 % of 1",
        "- called UNCERTAIN: 0.0 % of 1",
    ]


def test_without_the_data_file_it_is_said(
    memory: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert memory.main(["absent.csv"]) == 2
    assert capsys.readouterr().out.startswith("usage: python benchmarks/memory.py")
