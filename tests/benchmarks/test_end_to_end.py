"""The end-to-end benchmark: predicted from a run's files, judged by a log kept apart."""

import importlib
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
JOB = """#!/bin/bash
#SBATCH --nodes=1
#SBATCH --gres=gpu:v100:1
torchrun --nproc_per_node 1 train.py --max_steps 4000
"""
STATED = {
    "gpu": "V100-SXM2-32GB",
    "n_gpus": 1,
    "micro_batch_size": 64,
    "precision": "fp16",
    "params_total": 25_557_032,
    "model_family": "resnet",
    "flops_per_sample_forward": 8.2e9,
}
EPOCHS = "epoch 1 took 0:30:00\nepoch 2 took 1:30:00\n"
STEPS = "".join(f"iter {n}: loss 3.0, time {9000 if n < 1 else 500}.00ms\n" for n in range(40))


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("end_to_end")


def corpus_of(folder: Path, log: str = EPOCHS, speeds: str = STEPS) -> Path:
    for path, text in (
        ("slurm/made-up/jobs/train.sbatch", JOB),
        ("log/made-up/out.txt", log),
        ("log/speeds/train.log", speeds),
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def made_up(stated: dict[str, Any] = STATED, **more: Any) -> Any:
    sets = importlib.import_module("end_to_end_sets")
    facts = {name: sets.Stated(value, "its paper") for name, value in stated.items()}
    clock = r"took (?P<hours>\d+):(?P<minutes>\d+):(?P<seconds>\d+)"
    given = {"log": sets.Log("log/made-up", clock), **more}
    return sets.EndToEndSet("made up", ("slurm/made-up",), facts, **given)


def test_a_run_is_predicted_from_its_job_and_the_stated_facts(
    bench: ModuleType, tmp_path: Path
) -> None:
    (row,) = bench.judge(corpus_of(tmp_path), [made_up()])
    assert (row.unit, row.logged, row.plain.refused, row.calibrated) == ("h", 1.5, "", None)
    found = row.plain.predicted
    # ResNet-50 in fp16 on one V100: 700 to 820 images/s published by NVIDIA's DeepLearningExamples.
    assert found.low < 4000 * 64 / 760 / 3600 < found.high


def test_what_the_log_says_changes_the_verdict_and_not_the_prediction(
    bench: ModuleType, tmp_path: Path
) -> None:
    (short,) = bench.judge(corpus_of(tmp_path / "a"), [made_up()])
    longer = EPOCHS + "epoch 3 took 90:00:00\n"
    (long,) = bench.judge(corpus_of(tmp_path / "b", longer), [made_up()])
    assert (short.logged, long.logged) == (1.5, 90.0)
    assert short.plain == long.plain


def test_an_early_part_of_a_log_calibrates_and_its_rest_is_not_seen(
    bench: ModuleType, tmp_path: Path
) -> None:
    sets = importlib.import_module("end_to_end_sets")
    each = made_up(earlier=sets.Earlier("thirty steps", "log/speeds", "iter 30:"))
    (row,) = bench.judge(corpus_of(tmp_path / "a"), [each])
    slow_end = STEPS.partition("iter 30:")[0] + "iter 30: loss 3.0, time 90000.00ms\n" * 20
    (other,) = bench.judge(corpus_of(tmp_path / "b", speeds=slow_end), [each])
    assert row.calibrated == other.calibrated
    found = row.calibrated.predicted
    assert row.plain.predicted.high < 4000 * 0.5 / 3600
    assert found.low < 4000 * 0.5 / 3600 < found.high


def test_a_stated_speed_of_another_run_calibrates_too(bench: ModuleType, tmp_path: Path) -> None:
    sets = importlib.import_module("end_to_end_sets")
    speed = {"step_seconds": sets.Stated(0.5, "its log")}
    each = made_up(earlier=sets.Earlier("another run", stated=speed))
    (row,) = bench.judge(corpus_of(tmp_path), [each])
    assert row.calibrated.predicted.low < 4000 * 0.5 / 3600 < row.calibrated.predicted.high


def test_where_a_fact_is_missing_the_question_stands_in_the_table(
    bench: ModuleType, tmp_path: Path
) -> None:
    sets = [made_up({name: value for name, value in STATED.items() if name == "gpu"}, log=None)]
    rows = bench.judge(corpus_of(tmp_path), sets)
    asked = "| made up | no time | asks for `model` |  | no speed |  |"
    assert bench.table(rows, sets).splitlines()[2:] == [
        asked,
        "",
        "Stated beside the files:",
        "",
        "- made up: `gpu` V100-SXM2-32GB (its paper).",
    ]


def test_of_logged_steps_the_median_after_the_first_counts(
    bench: ModuleType, tmp_path: Path
) -> None:
    sets = importlib.import_module("end_to_end_sets")
    log = sets.Log("log/speeds", r"time (?P<ms>[\d.]+)ms", of="step")
    whole, step = bench.judge(corpus_of(tmp_path), [made_up(), made_up(log=log)])
    assert (step.unit, step.logged) == ("s", 0.5)
    of_steps = step.plain.predicted.expected * 4000 / 3600
    assert 0.5 < of_steps / whole.plain.predicted.expected < 1


def test_a_log_without_its_time_is_refused(bench: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="log/made-up shows no time like"):
        bench.judge(corpus_of(tmp_path, log="killed\n"), [made_up()])


@pytest.mark.parametrize(
    ("logged", "verdict"), [(2.0, "+50 %, inside"), (1.0, "+200 %, outside"), (None, "")]
)
def test_a_row_says_how_far_off_and_whether_the_range_holds_the_log(
    bench: ModuleType, logged: float | None, verdict: str
) -> None:
    ranges = importlib.import_module("compute_budget_planner.results.base")
    answer = bench.Answer(ranges.RangeOut(low=2.0, expected=3.0, high=4.5))
    truth = "no time" if logged is None else f"{logged:.3g} h"
    text = bench.table([bench.Row("a", "h", answer, None, logged)], [])
    expected = f"| a | {truth} | 3 (2 to 4.5) h | {verdict} | no speed |  |"
    assert text.splitlines()[2] == expected


def test_every_set_names_a_public_source_for_each_stated_fact(bench: ModuleType) -> None:
    assert [f for each in bench.SETS for f in each.stated.values() if not f.source] == []


def test_the_table_is_renewed_in_its_place_and_nothing_else(bench: ModuleType) -> None:
    page = bench.PAGE.read_text(encoding="utf-8")
    assert bench.renewed(page, bench.shown(page)) == page
    other = bench.renewed(page, "| other |\n")
    assert bench.shown(other) == "| other |\n"
    assert bench.renewed(other, bench.shown(page)) == page


def test_the_page_shows_what_the_corpus_gives(bench: ModuleType) -> None:
    folder = os.environ.get("READING_CORPUS")
    if not folder:
        pytest.skip("set READING_CORPUS to the folder of the public files to check the table")
    assert bench.shown(bench.PAGE.read_text(encoding="utf-8")) == bench.table(
        bench.judge(Path(folder))
    )
