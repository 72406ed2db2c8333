"""Tables and stores of earlier runs: Ultralytics, Lightning, MLflow, JSON lines."""

import json

import pytest
from compute_budget_planner.readers import (
    json_line_logs,
    lightning_logs,
    mlflow_run,
    ultralytics_results,
)
from file_facts import problem_texts, reading_of, values

HEADER = "epoch,time,train/box_loss,train/cls_loss,val/box_loss,val/cls_loss,lr/pg0\n"


def test_ultralytics_time_adds_up_over_the_epochs():
    rows = "".join(f"{n},{60 + 8 * n},1.0,0.5,1.25,0.75,0.01\n" for n in range(1, 51))
    reading = reading_of(ultralytics_results.READER, "runs/detect/train/results.csv", HEADER + rows)
    assert values(reading.measured) == {"wall_clock_hours": pytest.approx(460 / 3600)}
    assert (reading.notes["epochs_done"], reading.notes["seconds_per_epoch"]) == (50, 8.0)
    train, validation = reading.losses
    assert (train.values[0], validation.values[0], train.unit) == (1.5, 2.0, "epochs")
    assert reading.finished is None


def test_older_tables_pad_with_spaces_and_have_no_time():
    text = "               epoch,      train/box_loss\n                   0,             0.11\n"
    reading = reading_of(ultralytics_results.READER, "results.csv", text)
    assert values(reading.measured) == {}
    assert "no `time` column" in problem_texts(reading)[0]


def test_lightnings_step_counts_from_zero_and_there_is_no_clock():
    text = "epoch,step,train_loss,val_loss\n0,49,2.6,\n0,99,2.4,\n0,99,,1.9\n1,499,1.6,\n"
    reading = reading_of(lightning_logs.METRICS_READER, "version_0/metrics.csv", text)
    assert values(reading.measured) == {"steps_done": 500}
    train, validation = reading.losses
    assert (train.steps, validation.steps) == ((49, 99, 499), (99,))
    assert "holds no times" in problem_texts(reading)[0]


def test_lightnings_hyperparameters_are_the_earlier_runs_configuration():
    text = (
        "vocab_size: 65\ncfg:\n  data: {batch_size: 64, block_size: 256}\n"
        "  model: {n_embd: 384, n_head: 6, n_layer: 6, learning_rate: 0.0003}\n"
        "  trainer: {max_steps: 500, devices: 2, num_nodes: 2, strategy: ddp, accelerator: auto}\n"
    )
    reading = reading_of(lightning_logs.HPARAMS_READER, "version_0/hparams.yaml", text)
    assert values(reading.measured) == {
        "n_gpus": 4,
        "n_nodes": 2,
        "vocab_size": 65,
        "seq_len": 256,
        "d_model": 384,
        "n_heads": 6,
        "n_layers": 6,
        "learning_rate": 0.0003,
        "max_steps": 500,
        "gpus_per_node": 2,
        "sharding": "ddp",
        "micro_batch_size": 64,
    }
    assert reading.facts == ()


META = """\
run_id: 0123456789abcdef0123456789abcdef
start_time: 1700000000000
end_time: 1700003600000
status: {status}
lifecycle_stage: {stage}
user_id: someone
"""


@pytest.mark.parametrize(("status", "hours"), [(3, 1.0), (4, None), (5, None)])
def test_mlflow_counts_milliseconds_of_runs_that_finished(status: int, hours: float | None):
    text = META.format(status=status, stage="active")
    reading = reading_of(mlflow_run.META_READER, "mlruns/1/a/meta.yaml", text)
    assert values(reading.measured).get("wall_clock_hours") == hours
    assert reading.finished is (status == 3)
    assert "someone" not in repr(reading)


def test_a_deleted_mlflow_run_says_so():
    text = META.format(status=3, stage="deleted")
    reading = reading_of(mlflow_run.META_READER, "mlruns/1/a/meta.yaml", text)
    assert "deleted" in problem_texts(reading)[0]


def test_an_mlflow_metric_is_a_curve_with_a_clock():
    path = "mlruns/1/0123456789abcdef0123456789abcdef/metrics/train_loss"
    text = "".join(f"{1700000000000 + 500 * n} {3 - n / 100} {n}\n" for n in range(100))
    reading = reading_of(mlflow_run.METRIC_READER, path, text)
    assert values(reading.measured) == {"step_seconds": 0.5}
    assert (reading.losses[0].name, len(reading.losses[0].steps)) == ("train", 100)
    validation = reading_of(mlflow_run.METRIC_READER, path.replace("train", "val"), text)
    assert (validation.losses[0].name, validation.measured) == ("validation", ())


def test_an_mlflow_parameter_is_an_option_of_the_run():
    path = "mlruns/1/0123456789abcdef0123456789abcdef/params/"
    rate = reading_of(mlflow_run.PARAMETER_READER, path + "learning_rate", "0.001")
    assert values(rate.measured) == {"learning_rate": 0.001}
    secret = reading_of(mlflow_run.PARAMETER_READER, path + "api_key", "verysecret")
    assert "verysecret" not in repr(secret)


def factory(step: int, elapsed: str) -> str:
    entry = {"current_steps": step, "total_steps": 400, "loss": 2 - step / 1000, "epoch": 0.1}
    return json.dumps(entry | {"elapsed_time": elapsed, "remaining_time": "9:59:59"}) + "\n"


def test_llamafactorys_elapsed_time_counts_and_its_estimate_does_not():
    text = "".join(factory(n, f"0:{n // 60:02d}:{n % 60:02d}") for n in range(10, 401, 10))
    reading = reading_of(json_line_logs.READER, "saves/trainer_log.jsonl", text)
    assert values(reading.measured) == {
        "steps_done": 400,
        "max_steps": 400,
        "wall_clock_hours": pytest.approx(400 / 3600),
        "step_seconds": 1.0,
    }
    assert reading.finished is True


def test_llamafactory_writes_days_in_words():
    text = factory(10, "0:01:40") + factory(20, "0:03:20") + factory(400, "1 day, 2:06:40")
    facts = values(reading_of(json_line_logs.READER, "trainer_log.jsonl", text).measured)
    assert facts["wall_clock_hours"] == pytest.approx(26 + 400 / 3600)


def test_mmengines_scalars_are_seconds_and_mib():
    text = "".join(
        json.dumps({"lr": 0.1, "data_time": 0.01, "loss": 1.5, "time": 0.4, "memory": 2048,
                    "epoch": 1, "step": n}) + "\n"
        for n in range(50, 1001, 50)
    )  # fmt: skip
    reading = reading_of(json_line_logs.READER, "vis_data/scalars.json", text)
    assert values(reading.measured) == {
        "steps_done": 1000,
        "step_seconds": 0.4,
        "peak_memory_gib": 2.0,
    }
