"""The reading benchmark: look-alikes score full marks, and every kind of fault is seen."""

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest
from compute_budget_planner.guide.shipped import load_reference

ROOT = Path(__file__).parents[2]
LOOKALIKES = Path(__file__).parent / "lookalikes"
UNITS = [
    json.loads(row)["unit"]
    for row in (LOOKALIKES / "expected.jsonl").read_text(encoding="utf-8").splitlines()
]
JOB = """#!/bin/bash
#SBATCH --gres=gpu:a100:2
#SBATCH --time=2-00
python train.py --max_steps 500
"""


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("reading")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "slurm" / "job").mkdir(parents=True)
    (tmp_path / "slurm" / "job" / "train.sbatch").write_text(JOB)
    return tmp_path


def score(
    reading: ModuleType,
    corpus: Path,
    capsys: pytest.CaptureFixture[str],
    facts: dict[str, object],
    unresolved: list[str],
    *options: str,
) -> tuple[int, str]:
    line = {"unit": "slurm/job", "format": "slurm", "facts": facts, "not_literal": []}
    expected = corpus / "expected.jsonl"
    expected.write_text(json.dumps({**line, "unresolved": unresolved}) + "\n")
    status = reading.main([str(corpus), str(expected), *options])
    return status, capsys.readouterr().out


@pytest.mark.parametrize("unit", UNITS)
def test_all_that_a_look_alike_says_is_read_and_nothing_else(
    reading: ModuleType, unit: str
) -> None:
    judged = reading.judge(LOOKALIKES, LOOKALIKES / "expected.jsonl", unit)
    amiss = [v for v in judged.verdicts if v.verdict not in (reading.RIGHT, reading.BESIDE)]
    assert [v for v in amiss if v.verdict != reading.WEAKER_RIGHT] == []
    assert reading.scores(judged)[-1].right > 0


def test_a_right_reading_passes(
    reading: ModuleType, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = {"gpu": "A100", "n_gpus": 2, "time_limit_hours": 48.0, "max_steps": 500}
    status, out = score(reading, corpus, capsys, facts, ["precision (in train.py)"])
    assert (status, out.splitlines()[-1]) == (0, "| all | 1 | 4 | 4 | 0 | 0 | 0 | 100 |")


def test_a_wrong_value_fails_and_names_value_place_and_reader(
    reading: ModuleType, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out = score(reading, corpus, capsys, {"max_steps": 400}, [])
    assert status == 1
    assert "`max_steps` expected `400` got `500` (train.sbatch:4; slurm)" in out
    assert score(reading, corpus, capsys, {"max_steps": 400}, [], "--report")[0] == 0


def test_a_device_the_file_leaves_ambiguous_is_not_right_when_one_is_chosen(
    reading: ModuleType, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out = score(reading, corpus, capsys, {"gpu": "A100-SXM-80GB"}, [])
    assert status == 1
    assert "`gpu` expected `A100-SXM-80GB` got `a100`" in out


def test_a_value_for_what_the_line_leaves_open_is_invented_and_fails(
    reading: ModuleType, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out = score(reading, corpus, capsys, {"n_gpus": 2}, ["max_steps (in a config)"])
    assert status == 1
    assert "### invented: 1" in out
    assert "`max_steps` expected `unresolved` got `500`" in out


def test_a_missing_value_is_told_with_its_likely_reason_and_does_not_fail(
    reading: ModuleType, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = {"n_gpus": 2, "dataset": "train.py", "seq_len": 123457}
    status, out = score(reading, corpus, capsys, facts, [], "--verbose")
    assert status == 0
    assert "`dataset` expected `train.py` – stands in the file, not read by slurm" in out
    assert "`seq_len` expected `123457` – follows from other facts" in out


def test_a_value_outside_the_vocabulary_is_counted_apart(
    reading: ModuleType, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out = score(reading, corpus, capsys, {"n_gpus": 2, "precision": "posit8"}, [])
    assert status == 0
    assert "### not in the vocabulary: 1" in out
    assert "| all | 1 | 1 | 1 | 0 | 0 | 0 | 100 |" in out


def test_a_unit_without_files_is_listed_and_not_scored(
    reading: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out = score(reading, tmp_path, capsys, {"n_gpus": 2}, [])
    assert status == 0
    assert out.endswith("### not in the corpus: 1\n\n- slurm/job\n")


def test_json_gives_scores_and_every_verdict(
    reading: ModuleType, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = json.loads(score(reading, corpus, capsys, {"max_steps": 500}, [], "--json")[1])
    assert body["scores"][-1] == {
        "name": "all",
        "lines": 1,
        "expected": 1,
        "right": 1,
        "wrong": 0,
        "missing": 0,
        "invented": 0,
    }
    assert body["verdicts"][0]["fact"] == "max_steps"


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("n_gpus (16 in its sbatch)", {"n_gpus"}),
        ("micro_batch_size/global_batch_size", {"micro_batch_size", "global_batch_size"}),
        ("batch/steps (in a config)", {"micro_batch_size", "global_batch_size", "max_steps"}),
        ("dataset size", {"dataset_examples", "dataset_tokens"}),
        ("whether --batch_size 10 is per GPU", {"micro_batch_size", "global_batch_size"}),
        ("devices: auto", {"n_gpus"}),
        ("wall time", {"wall_clock_hours"}),
        ("time per epoch", set()),
    ],
)
def test_sentences_say_which_facts_are_left_open(
    reading: ModuleType, text: str, facts: set[str]
) -> None:
    assert importlib.import_module("reading_corpus").open_facts(text) == facts


def test_a_file_that_leaves_everything_open_says_nothing_of_devices(reading: ModuleType) -> None:
    opened = importlib.import_module("reading_corpus").open_facts("everything in train.py")
    assert {"max_steps", "precision", "n_layers"} <= opened
    assert not {"n_gpus", "gpu", "time_limit_hours", "method"} & opened


@pytest.mark.parametrize(
    ("name", "expected", "got", "alike"),
    [
        ("model", "meta-llama/Llama-2-7b-hf", "llama-2-7B-HF", True),
        ("model", "gpt2-xl", "gpt2", False),
        ("dataset", "final.jsonl", "data/final.jsonl", True),
        ("precision", "bf16", "bf16-true", True),
        ("precision", "bf16", "fp16", False),
        ("steps_per_second", 0.007, 0.0073256, True),
        ("wall_clock_hours", 29.79167, 29.79, True),
        ("steps_done", 500, 499, False),
        ("learning_rate", 3e-4, 3.01e-4, False),
        ("gpu", "RTX2080", "rtx-2080", True),
    ],
)
def test_values_agree_when_they_say_the_same(
    reading: ModuleType, name: str, expected: object, got: object, alike: bool
) -> None:
    verdicts = importlib.import_module("reading_verdicts")
    assert verdicts.agrees(name, expected, got, load_reference()) is alike
