"""Rows of language models: what becomes a fact, how they are scored, and the page's figures."""

import csv
import importlib
import os
from pathlib import Path
from types import ModuleType

import pytest
from compute_budget_planner.guide.shipped import load_reference

ROOT = Path(__file__).parents[2]
REFERENCE = load_reference()
# karpathy/llm.c, discussion 481: GPT-2 124M on 8 A100-80GB, about 300 ms for 524,288 tokens.
LLM_C = {
    "id": "llmc",
    "source": "karpathy/llm.c README @abc",
    "family": "gpt",
    "n_layers": "12",
    "d_model": "768",
    "n_heads": "12",
    "n_kv_heads": "12",
    "d_ff": "3072",
    "vocab": "50257",
    "seq_len": "1024",
    "global_batch_seqs": "512",
    "micro_batch_seqs": "64",
    "gpu": "A100-SXM-80GB",
    "n_gpus": "8",
    "gpus_per_node": "8",
    "interconnect": "NVLink + 1600Gbps RoCE per node",
    "precision": "bf16",
    "sharding": "zero1",
    "act_ckpt": "none",
    "flash_attn": "1",
    "compile": "0",
    "method": "pretrain",
    "framework": "llm.c (CUDA, cuDNN attn)",
    "step_time_s": "0.3",
    "notes": "q=A",
    "score": "1",
}
EMPTY = (
    "source_url_or_ref params_total params_active glu grad_accum tp pp cp ep lora_rank"
    " tokens_per_s_total tokens_per_s_per_gpu samples_per_s_total peak_mem_gb year score_memory"
)


def row(**changes: str) -> dict[str, str]:
    return {**dict.fromkeys(EMPTY.split(), ""), **LLM_C, **changes}


@pytest.fixture
def llm(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("llm")


def stated(llm: ModuleType, **changes: str) -> dict[str, object]:
    rows = importlib.import_module("rows")
    return {fact.name: fact.value for fact in rows.row_facts(row(**changes), REFERENCE)}


def test_a_row_states_its_columns_and_no_speed(llm: ModuleType) -> None:
    found = stated(llm)
    assert found["inter_node_gbit_s"] == 1600
    assert found["attention"] == "flash"
    assert found["framework"] == "llm.c"
    assert not {"step_seconds", "tokens_per_second", "params_total"} & found.keys()


@pytest.mark.parametrize(
    ("changes", "fact", "value"),
    [
        ({"notes": "base weights bnb NF4 4-bit"}, "quantization", "nf4"),
        ({"notes": "composer precision=bf16 mp_mode=PURE"}, "precision", "bf16-true"),
        ({"notes": "FOAK fused kernels (LoRA/RoPE)"}, "framework", "fms-acceleration"),
        ({"precision": "mxfp8"}, "precision", "fp8"),
        ({"interconnect": "NVLink + 400Gb/s RDMA per GPU"}, "inter_node_gbit_s", 3200),
    ],
)
def test_what_notes_say_of_the_recipe_is_stated_too(
    llm: ModuleType, changes: dict[str, str], fact: str, value: object
) -> None:
    assert stated(llm, **changes)[fact] == value


def test_a_mixture_of_experts_is_completed_from_the_catalogue(llm: ModuleType) -> None:
    # Qwen3-30B-A3B by its widths; the width in the row is that of one expert.
    shape = {"n_layers": "48", "d_model": "2048", "n_heads": "32", "n_kv_heads": "4"}
    found = stated(llm, **shape, family="moe", d_ff="768", vocab="151936")
    assert (found["n_experts"], found["experts_per_token"]) == (128, 8)
    assert (found["moe_d_ff"], found["head_dim"]) == (768, 128)
    assert "d_ff" not in found


def scored(llm: ModuleType, tmp_path: Path, *rows: dict[str, str]) -> list[object]:
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, row())
        writer.writeheader()
        writer.writerows(rows)
    return llm.score(path, lambda _: REFERENCE)


def test_gpt2_under_llm_c_is_predicted_within_a_fifth_of_its_published_step(
    llm: ModuleType, tmp_path: Path
) -> None:
    (found,) = scored(llm, tmp_path, row())
    assert found.measured == pytest.approx(524_288 / 0.3 / 8)
    assert found.expected == pytest.approx(found.measured, rel=0.2)
    assert found.low < found.expected < found.high
    assert found.regime == "pretrain A100 16-bit dense"
    assert set(found.baselines) == {"6ND @ 40", "PaLM @ 40"}


def test_unscored_rows_are_skipped_and_refused_ones_say_why(
    llm: ModuleType, tmp_path: Path
) -> None:
    rows = [row(score="0"), row(seq_len=""), row(source="vtrain-single", id="v")]
    refused, apart = scored(llm, tmp_path, *rows)
    assert (refused.id, refused.refused) == ("llmc", "missing: seq_len")
    assert (apart.regime, apart.apart) == ("vTrain single", True)


def test_the_page_shows_the_figures_of_the_data() -> None:
    folder = os.environ.get("BENCHMARK_DATA")
    if not folder:
        pytest.skip("set BENCHMARK_DATA to the folder of llm_throughput.csv to check the figures")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        page = importlib.import_module("write_readme")
        new = page.figures(Path(folder) / "llm_throughput.csv")
    assert page.stated(page.PAGE.read_text(encoding="utf-8")) == new
