"""Files that one earlier run wrote side by side count as one measured run."""

import json
from pathlib import Path

import pytest
from compute_budget_planner.planner.sources.gather import gather
from compute_budget_planner.planner.sources.history import project_history
from compute_budget_planner.planner.workspace import open_workspace

JOB = """#!/bin/bash
#SBATCH --job-name=sft
#SBATCH --gres=gpu:a100:8
torchrun --nproc_per_node=8 train.py --model_name_or_path gpt2 --max_seq_length 1024 \\
  --per_device_train_batch_size 16 --max_steps 9000 --bf16
"""
DEVICE = "NVIDIA A100-SXM4-80GB"
CONFIG = """\
_wandb:
  value: {}
_name_or_path:
  value: gpt2
per_device_train_batch_size:
  value: 4
gradient_accumulation_steps:
  value: 2
"""


def test_speed_device_and_batch_of_a_wandb_run_come_from_its_three_files(tmp_path: Path) -> None:
    folder = tmp_path / "wandb" / "sft" / "files"
    folder.mkdir(parents=True)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "sft.sh").write_text(JOB)
    metadata = {"os": "Linux", "python": "3.11", "startedAt": "2026-02-13", "gpu_count": 1}
    (folder / "wandb-metadata.json").write_text(json.dumps(metadata | {"gpu": DEVICE}))
    summary = {"_runtime": 7400.0, "train_runtime": 7200.0, "_step": 9}
    rates = {"train_steps_per_second": 0.5, "train/global_step": 3600}
    (folder / "wandb-summary.json").write_text(json.dumps(summary | rates))
    (folder / "config.yaml").write_text(CONFIG)
    workspace = open_workspace(tmp_path)
    gathered = gather(workspace, [])
    assert [len(run.prior_logs) for run in gathered.runs] == [3]
    (measured,) = project_history(workspace, gathered)
    assert measured.step_seconds == pytest.approx(2.0)
    assert (measured.label, measured.finished) == ("wandb/sft/files/wandb-summary.json", True)
    run = measured.run
    assert (run.hardware.n_gpus, run.batch.micro_batch_size) == (1, 4)
    assert run.batch.global_batch_size == 8


def test_event_files_and_run_folders_are_found_and_read(tmp_path: Path) -> None:
    wanted = {
        "lightning_logs/version_0/metrics.csv": "epoch,step,train_loss\n0,49,1.5\n",
        "lightning_logs/version_0/hparams.yaml": "d_model: 64\n",
        "runs/detect/train/results.csv": "epoch,time,train/box_loss\n1,10.5,1.25\n",
        "mlruns/1/0123456789abcdef0123456789abcdef/metrics/loss": "1700000000000 1.5 1\n",
    }
    for path, text in wanted.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    events = tmp_path / "runs" / "a" / "events.out.tfevents.17.node.0"
    events.parent.mkdir(parents=True)
    events.write_bytes(b"\x00\xff\xfe\x80")
    gathered = gather(open_workspace(tmp_path), [])
    assert {path: reading.format for path, reading in gathered.readings.items()} == {
        "lightning_logs/version_0/metrics.csv": "lightning_metrics",
        "lightning_logs/version_0/hparams.yaml": "lightning_hparams",
        "runs/detect/train/results.csv": "ultralytics_results",
        "mlruns/1/0123456789abcdef0123456789abcdef/metrics/loss": "mlflow_metric",
        "runs/a/events.out.tfevents.17.node.0": "tensorboard_events",
    }
