"""The smoke job's command: fewer devices must not leave a batch or counts of the whole run."""

from pathlib import Path

from compute_budget_planner import planner
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.requests import RunRequest
from compute_budget_planner.results import JobBlock, SmokeResult

MEGATRON = """\
#!/bin/bash
#SBATCH --job-name=gpt
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
#SBATCH --time=24:00:00
srun torchrun --nproc_per_node 8 --nnodes 2 --rdzv_endpoint $(hostname):6000 pretrain_gpt.py \\
  --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 \\
  --micro-batch-size 4 --global-batch-size 256 --train-iters 50000 --bf16 \\
  --use-distributed-optimizer --recompute-granularity full \\
  --data-path data/text_document --save checkpoints/gpt --load checkpoints/gpt
"""
LIGHTNING_JOB = """\
#!/bin/bash
#SBATCH --job-name=birds
#SBATCH --gres=gpu:4
#SBATCH --time=12:00:00
srun python train.py fit --config configs/birds.yaml
"""
LIGHTNING_CONFIG = """\
seed_everything: 42
trainer: {accelerator: gpu, devices: 4, num_nodes: 1, strategy: ddp, max_epochs: 90}
model: {class_path: birds.Module, init_args: {arch: resnet50, num_classes: 200}}
data: {class_path: birds.Data, init_args: {batch_size: 64, image_size: 224}}
"""


def smoke_of(root: Path, files: dict[str, str], facts: dict[str, str | int]) -> SmokeResult:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return planner.size_smoke(open_workspace(root), RunRequest(facts=dict(facts)))


def job_of(result: SmokeResult) -> JobBlock:
    assert result.job is not None
    return result.job


def test_a_global_batch_shrinks_with_the_devices_of_the_smoke_test(tmp_path: Path) -> None:
    smoke = smoke_of(tmp_path, {"jobs/gpt.sh": MEGATRON}, {"gpu": "A100-SXM-80GB"})
    assert smoke.n_gpus == 1
    # 16 devices share 256 samples; one of them takes 16 in its four micro-batches.
    assert "--micro-batch-size 4 --global-batch-size 16 " in job_of(smoke).command


def test_a_smoke_test_neither_writes_nor_resumes_the_runs_checkpoints(tmp_path: Path) -> None:
    smoke = smoke_of(tmp_path, {"jobs/gpt.sh": MEGATRON}, {"gpu": "A100-SXM-80GB"})
    assert "--save outputs/gpt-smoke --load outputs/gpt-smoke" in job_of(smoke).command


def test_a_command_substitution_is_quoted_and_said_to_be(tmp_path: Path) -> None:
    job = job_of(smoke_of(tmp_path, {"jobs/gpt.sh": MEGATRON}, {"gpu": "A100-SXM-80GB"}))
    assert "--rdzv_endpoint '$(hostname):6000'" in job.command
    assert "a command substitution stands quoted, so that nothing runs: write it out" in job.special


def test_a_lightning_trainer_is_told_the_devices_of_the_smoke_test(tmp_path: Path) -> None:
    files = {"jobs/birds.sh": LIGHTNING_JOB, "configs/birds.yaml": LIGHTNING_CONFIG}
    smoke = smoke_of(tmp_path, files, {"gpu": "V100-SXM2-32GB", "dataset_examples": 500_000})
    assert smoke.n_gpus == 1
    assert job_of(smoke).command.startswith(
        "srun python train.py fit --config configs/birds.yaml "
        "--trainer.devices=1 --trainer.num_nodes=1 --trainer.max_steps="
    )


def test_a_global_batch_of_a_config_is_left_to_a_person(tmp_path: Path) -> None:
    job = MEGATRON.replace("--global-batch-size 256", "--config configs/batch.yaml")
    files = {"jobs/gpt.sh": job, "configs/batch.yaml": "global_batch_size: 256\n"}
    smoke = smoke_of(tmp_path, files, {"gpu": "A100-SXM-80GB"})
    note = "set the global batch to 16: the run's 256 are for all its devices"
    assert note in job_of(smoke).special
