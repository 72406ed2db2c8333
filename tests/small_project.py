"""A project small enough to read in milliseconds, with a job, its config and no earlier run."""

from pathlib import Path

from compute_budget_planner.planner import open_workspace, write_budget
from compute_budget_planner.requests import WriteBudgetRequest

FACTS = {
    "params_total": 124_000_000,
    "seq_len": 1024,
    "max_steps": 2000,
    "gpu": "A100-SXM-80GB",
    "n_gpus": 8,
    "micro_batch_size": 8,
    "precision": "bf16",
}
"""What the files of the project leave open."""

JOB = "jobs/train.sh"


def write_small_project(root: Path) -> Path:
    """Fill a folder and return it."""
    (root / "memory").mkdir()
    (root / "jobs").mkdir()
    (root / JOB).write_text(
        "#!/bin/bash\n"
        "#SBATCH --job-name=train\n"
        "#SBATCH --gres=gpu:8\n"
        "#SBATCH --time=04:00:00\n"
        "torchrun --nproc_per_node=8 train.py --max_steps 2000 --bf16\n",
        encoding="utf-8",
    )
    return root


def with_budget(root: Path) -> Path:
    """Write the project's budget, which `update_memory` works from, and return the project."""
    write_budget(open_workspace(root), WriteBudgetRequest(files=[JOB], facts=FACTS))
    return root
