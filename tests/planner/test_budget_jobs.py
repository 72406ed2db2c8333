"""The jobs of a budget: what `run-experiment` asks for, in the order of submission."""

import re
from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from written_budget import page_of, written


@pytest.fixture
def control(tmp_path: Path) -> Workspace:
    return open_workspace(projects.control_root(tmp_path))


def test_each_job_has_the_eight_things_in_the_order_of_submission(tmp_path: Path) -> None:
    workspace = open_workspace(projects.plain_repo(tmp_path))
    result = written(workspace)
    assert [(job.job_name, job.task_class, job.gpus) for job in result.jobs] == [
        ("medium-smoke", "smoke", 1),
        ("medium", "formal", 8),
        ("small", "formal", 2),
    ]
    blocks = re.findall(r"```yaml\n(.*?)```", page_of(workspace), re.DOTALL)
    for job, block in zip(result.jobs, blocks, strict=True):
        keys = [line.partition(":")[0] for line in block.splitlines()]
        for thing in (
            "environment",
            "command",
            "job_name",
            "gpus",
            "walltime",
            "conda_env",
            "output_dir",
            "special",
        ):
            assert thing in keys
        assert f'job_name: "{job.job_name}"' in block
        assert f"--name {job.job_name} " in job.invocation


def test_seeds_go_into_an_array_that_must_choose_the_seed(tmp_path: Path) -> None:
    result = written(open_workspace(projects.plain_repo(tmp_path)))
    small = result.jobs[-1]
    assert (small.array, small.workload_shape) == ("0-2%3", "independent-targets")
    assert "$SLURM_ARRAY_TASK_ID must choose seed and output folder" in small.special
    assert result.estimates[1].gpu_hours is not None
    assert small.expected_gpu_hours == pytest.approx(
        3 * result.estimates[1].gpu_hours.expected, rel=0.005
    )


def test_the_formal_command_of_two_machines_counts_as_its_launchers_do(tmp_path: Path) -> None:
    result = written(open_workspace(projects.two_nodes(tmp_path)))
    formal = result.jobs[-1]
    assert (formal.gpus, formal.output_dir) == (16, "$SCRATCH/train/")
    assert formal.command == (
        "srun --nodes=2 torchrun --nnodes=2 --nproc_per_node=8 src/train/main.py "
        '--config configs/train/base.yaml --output_dir $SCRATCH/train --seed "$SEED"'
    )


def hours(walltime: str) -> float:
    h, m, s = map(int, walltime.split(":"))
    return h + m / 60 + s / 3600


@pytest.mark.parametrize("limit", [0.5, 2, 12, 24.3, 100])
def test_no_walltime_is_over_the_limit(control: Workspace, limit: float) -> None:
    facts = {"time_limit_hours": limit, "max_steps": 200_000}
    result = written(control, facts=facts, dry_run=True)
    (estimate,) = result.estimates
    assert estimate.limit is not None
    for job in result.jobs:
        assert hours(job.walltime) <= limit
    assert estimate.wall_clock_hours is not None
    if estimate.limit.segments == 1:
        assert hours(result.jobs[-1].walltime) >= estimate.wall_clock_hours.high
    else:
        assert f"chain of {estimate.limit.segments} jobs" in result.jobs[-1].special


def test_a_stated_limit_shorter_than_start_up_fails_the_check(control: Workspace) -> None:
    result = written(control, facts={"time_limit_hours": 0.1}, dry_run=True)
    assert result.checks[1].passed is False


def test_too_few_hours_fail_the_check_and_name_it_in_the_summary(control: Workspace) -> None:
    result = written(control, facts={"available_gpu_hours": 1})
    assert result.checks[4].passed is False
    assert "Failed checks: required GPU-hours inside the available ones" in result.summary
