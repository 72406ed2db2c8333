import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.banners import find_banner
from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.log_text import READER
from file_facts import problem_texts, reading_of, values
from hypothesis import given
from hypothesis import strategies as st

HEAD = """\
Job ID: 4711
Job name: baseline-cifar10
Node: gpu-07
Partition: gpu
GPUs: 4
Start: Mon Dec  1 10:00:00 UTC 2025
Project: demo
------
"""
TAIL = "End: Mon Dec  1 12:30:00 UTC 2025\nExit: 0\n"


def bar(done: int, total: int, elapsed: str, rate: str = "1.00s/it", name: str = "") -> str:
    return f"{name}{100 * done // total:3d}%|####  | {done}/{total} [{elapsed}<00:01, {rate}]"


def measured(text: str) -> dict[str, object]:
    return values(reading_of(READER, "slurm-4711.out", text).measured)


def test_start_and_end_give_duration_and_gpus():
    reading = reading_of(READER, "outputs/logs/slurm-4711.out", HEAD + "training\n" + TAIL)
    assert values(reading.measured) == {
        "wall_clock_hours": 2.5,
        "gpus_per_node": 4,
        "n_gpus": 4,
    }
    assert {f.name: f.source for f in reading.measured}["wall_clock_hours"] == (
        "outputs/logs/slurm-4711.out:10"
    )
    assert (reading.finished, reading.job_name) == (True, "baseline-cifar10")
    assert problem_texts(reading) == []


def test_a_start_without_an_end_gives_no_duration():
    reading = reading_of(READER, "slurm-1.out", HEAD + "Traceback ...\n")
    assert reading.finished is False
    assert "wall_clock_hours" not in values(reading.measured)
    assert problem_texts(reading) == [
        "slurm-1.out:6: the job has a `Start:` but no `End:`: it failed, was stopped or still runs"
    ]


def test_an_exit_code_other_than_zero_gives_no_duration():
    reading = reading_of(READER, "slurm-1.out", HEAD + TAIL.replace("Exit: 0", "Exit: 1"))
    assert reading.finished is False
    assert "wall_clock_hours" not in values(reading.measured)
    assert "exit code 1" in problem_texts(reading)[0]


def test_of_runs_appended_to_one_log_the_last_counts():
    again = HEAD.replace("10:00:00", "13:00:00")
    assert reading_of(READER, "a.log", HEAD + TAIL + again).finished is False
    ended = HEAD + TAIL + again + TAIL.replace("12:30:00", "13:15:00")
    assert measured(ended)["wall_clock_hours"] == 0.25


@pytest.mark.parametrize(
    ("start", "end", "hours"),
    [
        ("Mon Dec  1 23:30:00 UTC 2025", "Tue Dec  2 00:30:00 UTC 2025", 1.0),
        ("Mon 01 Dec 2025 11:00:00 AM CET", "Mon 01 Dec 2025 01:00:00 PM CET", 2.0),
        ("Mon Dec  1 12:00:00 AM PST 2025", "Mon Dec  1 12:00:00 PM PST 2025", 12.0),
        ("Sun Oct 26 02:30:00 CEST 2025", "Sun Oct 26 02:30:00 CET 2025", 1.0),
        ("2025-12-01T10:00:00", "2025-12-03 10:00:00", 48.0),
    ],
)
def test_dates_are_read_in_every_form_date_prints(start: str, end: str, hours: float):
    banner = find_banner(["Job: x", f"Start: {start}", f"End: {end}", "Exit: 0"])
    assert banner is not None
    assert banner.duration_hours == hours


def test_gpus_of_one_of_several_nodes_are_not_all_gpus():
    reading = reading_of(READER, "a.out", HEAD.replace("gpu-07", "gpu-[07-08]") + TAIL)
    assert "n_gpus" not in values(reading.measured)
    assert "state `n_gpus`" in problem_texts(reading)[0]


def test_the_step_time_is_time_passed_over_steps_not_the_printed_rate():
    text = "\r".join([bar(0, 1000, "00:00", "?it/s"), bar(500, 1000, "16:40", "1.94it/s")])
    assert measured(text) == {"steps_done": 500, "max_steps": 1000, "step_seconds": 2.0}
    assert reading_of(READER, "a.log", text).finished is False


def test_hours_beyond_a_day_and_days_are_read():
    hours = measured(bar(9500, 9500, "32:34:14"))
    assert hours["step_seconds"] == pytest.approx(12.34, abs=0.005)
    assert hours["wall_clock_hours"] == pytest.approx(32.5706, abs=1e-4)
    days = measured(bar(100, 200, "1 day, 3:46:40"))
    assert days["step_seconds"] == 1000.0


def test_nested_and_preparing_bars_are_not_the_training_bar():
    text = "\n".join(
        [
            bar(30, 30, "09:00", name="Loading checkpoint shards: "),
            bar(800_000, 800_000, "55:00", name="Map: "),
            bar(100, 650, "01:40"),
            bar(7, 7, "00:20"),
            bar(200, 650, "03:20"),
            bar(7, 7, "00:21"),
        ]
    )
    assert measured(text) == {"steps_done": 200, "max_steps": 650, "step_seconds": 1.0}


def test_copies_of_other_ranks_are_no_new_rounds():
    lines = []
    for done in range(50, 501, 50):
        lines += [bar(done, 1000, f"{done // 60:02d}:{done % 60:02d}")] * 2
        lines += [bar(done - 3, 1000, f"{done // 60:02d}:{done % 60:02d}")]
    assert measured("\n".join(lines)) == {
        "steps_done": 500,
        "max_steps": 1000,
        "step_seconds": 1.0,
    }


def test_a_bar_that_begins_anew_each_epoch_counts_iterations():
    text = "\n".join(
        bar(done, 100, elapsed, name=f"Epoch {epoch}: ")
        for epoch in range(3)
        for done, elapsed in ((50, "01:00"), (100, "02:00"))
    )
    reading = reading_of(READER, "train.log", text)
    assert values(reading.measured) == {"step_seconds": 1.2}
    assert reading.finished is None
    assert "counts loop iterations" in problem_texts(reading)[0]


def test_steps_a_resumed_run_skips_are_not_its_speed():
    text = "\n".join(
        [bar(5000, 10000, "00:02"), bar(5500, 10000, "08:22"), bar(6000, 10000, "16:42")]
    )
    facts = measured(text)
    assert facts["step_seconds"] == 1.0
    assert facts["steps_done"] == 6000


def test_colours_and_a_missing_end_of_line_do_not_disturb():
    text = "\x1b[32m" + bar(500, 1000, "08:20") + "\x1b[0m"
    assert measured(text)["step_seconds"] == 1.0


def test_too_short_a_bar_gives_no_step_time():
    reading = reading_of(READER, "a.log", bar(3, 1000, "00:02"))
    assert "step_seconds" not in values(reading.measured)
    assert "too little has passed" in problem_texts(reading)[0]


TRAINER = """\
[INFO|trainer.py:2400] >> ***** Running training *****
[INFO|trainer.py:2401] >>   Num examples = 6,400
[INFO|trainer.py:2402] >>   Num Epochs = 2
[INFO|trainer.py:2403] >>   Instantaneous batch size per device = 4
[INFO|trainer.py:2406] >>   Total train batch size (w. parallel, distributed & accumulation) = 64
[INFO|trainer.py:2407] >>   Gradient Accumulation steps = 2
[INFO|trainer.py:2408] >>   Total optimization steps = 200
***** Running Evaluation *****
  Num examples = 99
  Batch size = 8
"""
METRICS = (
    "{'train_runtime': 500.0, 'train_samples_per_second': 25.6, "
    "'train_steps_per_second': 0.4, 'train_loss': nan, 'epoch': 2.0}\n"
)
CONFIGURATION = {
    "dataset_examples": 6400,
    "epochs": 2,
    "micro_batch_size": 4,
    "global_batch_size": 64,
    "grad_accum_steps": 2,
    "max_steps": 200,
    "n_gpus": 8,
}


def test_the_trainer_s_block_is_the_run_s_own_configuration():
    assert measured(TRAINER) == CONFIGURATION


def test_metrics_printed_by_every_rank_count_once():
    reading = reading_of(READER, "a.out", TRAINER + METRICS * 8)
    assert values(reading.measured) == CONFIGURATION | {
        "wall_clock_hours": 500 / 3600,
        "samples_per_second": 25.6,
        "steps_done": 200,
        "step_seconds": 2.5,
    }
    assert reading.finished is True


def test_frame_block_and_bar_of_one_log_complete_each_other():
    text = HEAD + TRAINER + bar(200, 200, "08:20") + "\n" + TAIL
    assert measured(text) == CONFIGURATION | {
        "wall_clock_hours": 2.5,
        "gpus_per_node": 4,
        "n_gpus": 4,
        "steps_done": 200,
        "step_seconds": 2.5,
    }


def test_micro_steps_become_optimizer_steps_by_the_trainer_s_accumulation():
    text = TRAINER + bar(400, 800, "06:40", name="Epoch 0: ")
    assert measured(text)["step_seconds"] == 2.0


def test_a_scheduler_report_at_the_end_gives_the_duration():
    report = "Job ID: 1\nState: COMPLETED (exit code 0)\nJob Wall-clock time: 00:30:00\n"
    facts = measured(bar(500, 500, "25:00") + "\n" + report)
    assert facts["wall_clock_hours"] == 0.5
    assert facts["step_seconds"] == 3.0


def test_texts_that_only_speak_of_logs_are_not_logs():
    for path, text in (
        ("job.sh", 'echo "Start: $(date)"'),
        ("README.md", bar(500, 1000, "08:20")),
        ("notes.txt", "Start: tomorrow\n50%|half|"),
    ):
        assert not READER.matches(SourceFile(path, text))


PIECES = st.sampled_from(
    [
        HEAD,
        TAIL,
        TRAINER,
        METRICS,
        bar(5, 9, "00:05"),
        "\r",
        "\n",
        "Start: ",
        "End: ",
        "100%|",
        "99999999999/1 [",
        "Exit: 0",
        "Feb 30 25:61:61 2025",
        "train_runtime {'train_runtime': 1e}",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=10)), max_size=12).map("".join))
def test_any_text_gives_a_reading_with_sound_numbers(text: str):
    file = SourceFile("a.log", text)
    if READER.matches(file):
        reading = READER.read(file, load_reference())
        assert all(fact.value > 0 for fact in reading.measured if not isinstance(fact.value, str))


STATE = """\
{stamp}08/02/2024 21:43:26 - INFO - __main__ - Distributed environment: DEEPSPEED  Backend: nccl
{stamp}Num processes: 16
{stamp}Process index: {rank}
{stamp}Local process index: {rank}
{stamp}Device: cuda:{rank}
{stamp}
{stamp}Mixed precision type: bf16
{stamp}ds_config: {{'bf16': {{'enabled': True}}, 'zero_optimization': {{'stage': 3, 'x': 1}}}}
"""


def test_the_processes_of_one_node_tell_the_nodes_when_all_are_listed():
    stamp = "2024-08-03T04:43:26.914398518Z "
    text = "".join(STATE.format(stamp=stamp, rank=rank) for rank in (2, 0, 3, 1))
    assert measured(text + bar(500, 1000, "16:40")) == {
        "n_gpus": 16,
        "gpus_per_node": 4,
        "n_nodes": 4,
        "precision": "bf16",
        "sharding": "zero3",
        "steps_done": 500,
        "max_steps": 1000,
        "step_seconds": 2.0,
    }
    some = "".join(STATE.format(stamp=stamp, rank=rank) for rank in (2, 0))
    assert "n_nodes" not in measured(some + bar(500, 1000, "16:40"))


def test_losses_of_the_trainer_are_curves_by_epoch():
    text = "\n".join(
        [
            "{'loss': 2.5, 'grad_norm': 1.8, 'learning_rate': 0.0001, 'epoch': 0.5}",
            "{'eval_loss': 2.25, 'eval_runtime': 3.0, 'epoch': 0.5}",
            "{'loss': 2.0, 'grad_norm': 1.8, 'learning_rate': 0.0001, 'epoch': 1.0}",
            bar(500, 1000, "16:40"),
        ]
    )
    train, validation = reading_of(READER, "a.log", text).losses
    assert (train.steps, train.values) == ((500, 1000), (2.5, 2.0))
    assert (validation.steps, validation.values) == ((500,), (2.25,))
    assert train.unit == "thousandths of an epoch"


def test_the_only_data_set_printed_is_the_trained_one_and_of_several_the_training_split():
    one = "Dataset({\n    features: ['image', 'label'],\n    num_rows: 848\n})\n"
    assert measured(one + bar(500, 1000, "16:40"))["dataset_examples"] == 848
    split = "DatasetDict({\n    train: " + one + "    test: " + one.replace("848", "90") + "})\n"
    assert measured(split + bar(500, 1000, "16:40"))["dataset_examples"] == 848
    two = one + one.replace("848", "90")
    assert "dataset_examples" not in measured(two + bar(500, 1000, "16:40"))


def test_metrics_that_every_rank_prints_are_counted_once():
    line = "{'train_runtime': 273.0144, 'train_samples_per_second': 3.663, "
    line += "'train_steps_per_second': 0.007, 'epoch': 1.0}\n"
    facts = measured(line * 64)
    # 0.007 steps a second over 273 s leave 2 steps only.
    assert (facts["steps_done"], facts["step_seconds"]) == (2, 136.5072)
    assert facts["wall_clock_hours"] == pytest.approx(0.07584, abs=1e-5)


def test_a_minute_of_a_few_long_steps_gives_a_step_time_with_a_caution():
    reading = reading_of(READER, "a.log", bar(10, 1000, "20:00"))
    assert values(reading.measured)["step_seconds"] == 120.0
    assert "includes their warm-up" in problem_texts(reading)[0]
