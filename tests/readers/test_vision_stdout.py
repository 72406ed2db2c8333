"""Output of maskrcnn-benchmark, Detectron2, MMEngine and timm."""

import pytest
from compute_budget_planner.readers import detection_stdout, mmengine_stdout, timm_stdout
from file_facts import problem_texts, reading_of, values

MASKRCNN = """\
DLL 2021-01-01 09:54:25.712463 - PARAMETER gpu_count : 4
DLL 2021-01-01 09:54:25.712621 - PARAMETER config : AMP_VERBOSE: False
DATASETS:
  TEST: ('coco_2017_val',)
  TRAIN: ('coco_2017_train', 'coco_2014_valminusminival')
DTYPE: float16
SOLVER:
  BASE_LR: 0.02
  IMS_PER_BATCH: 48
  MAX_ITER: 100
TEST:
  IMS_PER_BATCH: 4
"""


def test_maskrcnn_prints_median_and_mean_and_the_mean_of_the_whole_run_at_its_end():
    lines = "".join(
        f"DLL - Training Iteration: {n}  eta : 0:03:40  learning_rate : 0.0  memory : 30720.00  "
        f"loss : 6.7626 (6.8101)  loss_mask : 1.2 (1.3)  time : 2.0000 (2.2089)  data : 0.1 (0.2)\n"
        for n in range(20, 101, 20)
    )
    end = "INFO: Total training time: 0:03:30.000000 (2.1000 s / it)\nTraining perf is: 22.5 FPS\n"
    reading = reading_of(detection_stdout.READER, "2xA6000/out.txt", MASKRCNN + lines + end)
    assert values(reading.measured) == {
        "n_gpus": 4,
        "dataset": "coco_2017_train + coco_2014_valminusminival",
        "precision": "fp16",
        "learning_rate": 0.02,
        "global_batch_size": 48,
        "max_steps": 100,
        "steps_done": 100,
        "step_seconds": 2.1,
        "wall_clock_hours": pytest.approx(3.5 / 60),
        "samples_per_second": 22.5,
        "peak_memory_gib": 30.0,
    }
    assert reading.notes["steady_step_seconds"] == 2.0
    assert reading.finished is True


def test_a_gpu_named_only_by_a_folder_is_not_the_runs():
    text = "eta: 0:03:40  iter: 20  loss: 1.2 (1.4)  time: 0.3000 (0.3500)  max mem: 3456\n" * 3
    reading = reading_of(detection_stdout.READER, "results/2xA6000/out.txt", text)
    assert "gpu" not in values(reading.measured)


def test_detectron2_counts_iterations_from_zero_and_memory_in_mib():
    text = "".join(
        f"[07/01 12:00:00 d2.utils.events]:  eta: 1:22:33  iter: {n}  total_loss: 4.5  "
        "loss_cls: 2.1  time: 0.2500  data_time: 0.0100  lr: 0.0004  max_mem: 4096M\n"
        for n in range(19, 400, 20)
    )
    reading = reading_of(detection_stdout.READER, "log.txt", text)
    assert values(reading.measured) == {
        "steps_done": 400,
        "step_seconds": 0.25,
        "peak_memory_gib": 4.0,
    }
    assert reading.losses[0].values[0] == 4.5


def test_mmengine_steps_go_on_over_epochs_and_time_includes_loading():
    text = "GPU number: 8\nmax_epochs = 4\n" + "".join(
        f"2024/05/01 10:00:00 - mmengine - INFO - Epoch(train)  [{epoch}][{n:3d}/100]  lr: 1.0e-02"
        f"  eta: 1 day, 3:02:01  time: 0.5000  data_time: 0.1000  memory: 9216  loss: 1.2000\n"
        for epoch in (1, 2, 3)
        for n in (50, 100)
    )
    reading = reading_of(mmengine_stdout.READER, "20240501.log", text)
    assert values(reading.measured) == {
        "n_gpus": 8,
        "epochs": 4,
        "steps_done": 300,
        "max_steps": 400,
        "step_seconds": 0.5,
        "peak_memory_gib": 9.0,
    }
    assert reading.notes["peak_memory_kind"] == "allocated"
    assert reading.finished is False
    assert "iterations are taken as optimizer steps" in problem_texts(reading)[0]


def test_mmengine_by_iterations_and_older_runners_are_read_too():
    by_iteration = "".join(
        f"Iter(train) [{n:5d}/80000]  lr: 1e-2  eta: 3:02:01  time: 0.2500  memory: 1024  loss: 1\n"
        for n in range(50, 2001, 50)
    )
    facts = values(reading_of(mmengine_stdout.READER, "a.log", by_iteration).measured)
    assert (facts["max_steps"], facts["steps_done"], facts["step_seconds"]) == (80000, 2000, 0.25)
    older = "".join(
        f"Epoch [1][{n}/500]\tlr: 1.000e-02, eta: 1:02:01, time: 0.300, data_time: 0.010, "
        "memory: 3456, loss: 1.2\n"
        for n in range(50, 501, 50)
    )
    facts = values(reading_of(mmengine_stdout.READER, "a.log", older).measured)
    assert (facts["steps_done"], facts["step_seconds"]) == (500, 0.3)


def test_timm_counts_updates_over_epochs_from_zero_and_rates_of_all_devices():
    text = (
        "Training in distributed mode with multiple processes. Process 0, total 8, device cuda:0.\n"
        "Model resnet50 created, param count:25557032\nScheduled epochs: 2. LR stepped per epoch.\n"
    )
    text += "".join(
        f"Train: {epoch} [{n:4d}/100 ({n:3d}%)]  Loss: 6.50 (6.94)  Time: 0.412s, {rate}/s  "
        "(0.5s, 2000.00/s)  LR: 1.000e-01  Data: 0.010 (0.020)\n"
        for epoch in (0, 1)
        for n, rate in ((0, " 100.00"), (50, "2480.00"), (99, "2480.00"))
    )
    reading = reading_of(timm_stdout.READER, "train.log", text)
    assert values(reading.measured) == {
        "n_gpus": 8,
        "model": "resnet50",
        "params_total": 25_557_032,
        "epochs": 2,
        "steps_done": 200,
        "samples_per_second": 2480.0,
    }
    assert reading.finished is True
    assert reading.losses[0].steps == (1, 51, 100, 101, 151, 200)
