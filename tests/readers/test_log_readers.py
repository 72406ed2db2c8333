"""What holds for every reader of logs."""

import json
import math

import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import LossSeries, SourceFile
from compute_budget_planner.readers.log_lines import number_in, unadorned
from compute_budget_planner.readers.loss_curves import MOST_POINTS
from compute_budget_planner.readers.registry import READERS, read_file
from compute_budget_planner.readers.run_folders import companions
from hypothesis import given
from hypothesis import strategies as st
from log_examples import LOG_EXAMPLES

PIECES = st.sampled_from(
    [text for text, _, _ in LOG_EXAMPLES.values()]
    + ["nan", "-inf", "1e999", "9" * 5000, "\r", "\x00", "\x1b[31m", "[36m", '"', "{", "}", "|"]
    + ["0: ", "[rank3]: ", "Namespace(a=1", "=" * 100 + "\n", "class Hyperparam(:\n", "iter: "]
    + ["train_runtime", "'loss': nan, 'epoch': inf}", "step 5 loss 1e400 time: .s\n", "\\d" * 50]
)


@given(
    st.sampled_from([*LOG_EXAMPLES, "a.log", "slurm-1.out"]),
    st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=8).map("".join),
    st.booleans(),
)
def test_no_text_makes_a_log_reader_raise_or_give_what_is_no_number(
    path: str, text: str, sampled: bool
):
    file = SourceFile(path, text, sampled)
    for reader in READERS:
        if reader.format in {name for _, name, _ in LOG_EXAMPLES.values()} | {"log_text"}:
            if not reader.matches(file):
                continue
            reading = reader.read(file, load_reference())
            numbers = [f.value for f in reading.measured if not isinstance(f.value, str)]
            numbers += [n for n in reading.notes.values() if not isinstance(n, str)]
            numbers += [v for series in reading.losses for v in series.values]
            assert all(math.isfinite(float(n)) for n in numbers)
            if sampled:
                assert {fact.source for fact in reading.measured} <= {path}


@pytest.mark.parametrize("path", LOG_EXAMPLES)
def test_every_log_names_the_line_of_what_it_measures(path: str):
    reading = read_file(SourceFile(path, LOG_EXAMPLES[path][0]), load_reference())
    assert {fact.source.split(":")[0] for fact in reading.measured} <= {path}
    assert reading.facts == ()


def test_a_long_log_gives_a_bounded_curve():
    text = "".join(f"iter {n}: loss 2.5, time 100.00ms, mfu 3%\n" for n in range(12_000))
    (series,) = read_file(SourceFile("a.log", text), load_reference()).losses
    assert isinstance(series, LossSeries)
    assert len(series.steps) == MOST_POINTS


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("0: step 1", "step 1"),
        ("[rank12]: step 1", "step 1"),
        ("2024-08-03T04:57:30.062095958Z step 1", "step 1"),
        ("\x1b[32mstep 1\x1b[39m", "step 1"),
        ("[36mstep 1[39m", "step 1"),
        ("[batch=1/300]: x", "[batch=1/300]: x"),
        ("12:30:01 step 1", "12:30:01 step 1"),
    ],
)
def test_what_launchers_and_terminals_add_is_taken_off(line: str, plain: str):
    assert unadorned(line) == plain


def test_thousands_are_separated_by_commas_and_no_number_is_nan():
    assert number_in("6,785") == 6785.0
    assert math.isnan(number_in("fast"))


def test_files_of_one_run_are_read_together_and_plain_logs_of_a_folder_are_not():
    paths = [
        "wandb/run-1/files/wandb-metadata.json",
        "wandb/run-1/files/wandb-summary.json",
        "wandb/run-1/files/config.yaml",
        "outputs/logs/slurm-1.out",
        "outputs/logs/slurm-2.out",
    ]
    bar = "50%|#####     | 500/1000 [08:20<08:20, 1.00s/it]"
    texts = {path: LOG_EXAMPLES.get(path, (bar,))[0] for path in paths}
    readings = {p: read_file(SourceFile(p, t), load_reference()) for p, t in texts.items()}
    beside = companions(paths[1], paths, readings)
    assert [reading.path for reading in beside] == [paths[0], paths[2]]
    assert companions(paths[3], paths, readings) == ()


def test_memory_goes_with_its_kind():
    jobstats = (
        "Job ID: 4711\nState: COMPLETED\nRun Time: 02:00:00\nGPUs: 1\n"
        "  node01 (GPU 0): 30.5GB/80.0GB\n"
    )
    results = {
        "train_runtime": 9.0,
        "train_steps_per_second": 2.0,
        "before_init_mem_gpu": 0,
        "init_mem_gpu_alloc_delta": 2**30,
        "train_mem_gpu_alloc_delta": 2**30,
        "train_mem_gpu_peaked_delta": 2**30,
    }
    kinds = {}
    for path, text in (("stats.txt", jobstats), ("all_results.json", json.dumps(results))):
        reading = read_file(SourceFile(path, text), load_reference())
        (memory,) = [f.value for f in reading.measured if f.name == "peak_memory_gib"]
        kinds[memory] = reading.notes["peak_memory_kind"]
    assert kinds == {30.5: "device", 3.0: "allocated"}
