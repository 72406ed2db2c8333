"""The environment a job activates."""

import pytest
from compute_budget_planner.readers.slurm import READER
from file_facts import reading_of


@pytest.mark.parametrize(
    ("line", "environment"),
    [
        ("conda activate train", "train"),
        ("micromamba activate train", "train"),
        ("source activate train", "train"),
        ("source .venv/bin/activate", ".venv"),
        ("source ~/miniconda3/etc/profile.d/conda.sh", None),
        ("conda activate $ENV", None),
    ],
)
def test_a_job_s_environment_is_the_one_it_activates(line: str, environment: str | None) -> None:
    text = f"#!/bin/bash\n#SBATCH --gres=gpu:1\n{line}\npython train.py\n"
    reading = reading_of(READER, "jobs/a.sh", text)
    assert reading.notes.get("conda_env") == environment
