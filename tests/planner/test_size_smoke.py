"""`size_smoke`: the smoke test of a run, and the job that runs it."""

from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.planner import estimate_run, size_smoke
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.requests import RunRequest
from compute_budget_planner.results import JobBlock, SmokeResult

SFT = {"dataset_examples": 207_865, "gpu": "H100-SXM-80GB"}
RESNET = {"gpu": "RTX 3090", "precision": "fp16", "dataset_examples": 1_281_167}


def sized(root: Path, **request: object) -> tuple[SmokeResult, JobBlock]:
    result = size_smoke(open_workspace(root), RunRequest.model_validate(request))
    assert result.status == "sized", result.missing
    assert result.job is not None
    return result, result.job


def test_the_smoke_test_of_a_long_run_is_short_cheap_and_ready_to_submit(tmp_path: Path) -> None:
    result, job = sized(projects.control_root(tmp_path))
    assert result.wall_clock_minutes is not None
    assert result.share_of_run_percent is not None
    assert result.steps is not None
    assert result.steps >= 100
    assert result.wall_clock_minutes.high <= 30
    assert result.share_of_run_percent <= 5
    assert result.n_gpus == 1
    assert result.flags == []
    assert job == JobBlock(
        environment="ibex",
        command=(
            "torchrun --standalone --nproc_per_node=1 train.py "
            "--config experiments/configs/gpt2.yaml --data_dir $SCRATCH/openwebtext "
            f"--output_dir outputs/gpt2-main-smoke {result.overrides[0]}"
        ),
        job_name="gpt2-main-smoke",
        gpus=1,
        gpu_type="A100-SXM-80GB",
        walltime=job.walltime,
        walltime_margin_percent=job.walltime_margin_percent,
        cpus_per_task=job.cpus_per_task,
        mem=job.mem,
        conda_env=job.conda_env,
        output_dir="outputs/gpt2-main-smoke/",
        array=None,
        special=job.special,
        task_class="smoke",
        workload_shape="single-device",
        priority="smoke",
        expected_gpu_hours=job.expected_gpu_hours,
        exp_id=None,
        invocation=(
            "/run-experiment --env ibex --script code/jobs/gpt2-main.sh "
            "--name gpt2-main-smoke --gpus 1"
        ),
    )
    assert result.gpu_hours is not None
    assert job.expected_gpu_hours == result.gpu_hours.expected
    assert f"--max_steps {result.steps}" in result.overrides[0]


def test_the_summary_says_steps_devices_minutes_share_and_bound(tmp_path: Path) -> None:
    result, _ = sized(projects.control_root(tmp_path))
    assert result.wall_clock_minutes is not None
    minutes = result.wall_clock_minutes
    assert result.summary == (
        f"Smoke test of `gpt2-main`: {result.steps:,} steps on one GPU, "
        f"{minutes.expected:g} ({minutes.low:g} to {minutes.high:g}) minutes, "
        f"{result.share_of_run_percent:g} % of the run's GPU-hours. Decided by: {result.bound}."
    )


def test_walltime_covers_the_slow_end(tmp_path: Path) -> None:
    result, job = sized(projects.control_root(tmp_path))
    hours, minutes, seconds = map(int, job.walltime.split(":"))
    assert result.wall_clock_minutes is not None
    assert 60 * hours + minutes + seconds / 60 >= result.wall_clock_minutes.high


def test_the_smoke_test_runs_on_one_of_two_machines(tmp_path: Path) -> None:
    """A launcher told to wait for a second machine would hang for its whole walltime."""
    result, job = sized(projects.two_nodes(tmp_path))
    assert result.n_gpus == 1
    assert job.command.startswith(
        "srun --nodes=1 torchrun --nnodes=1 --nproc_per_node=1 src/train/main.py "
        "--config configs/train/base.yaml --output_dir outputs/train-smoke "
        '--seed "$SEED" '
    )


def test_accelerate_is_told_the_number_of_processes_its_file_would_give(tmp_path: Path) -> None:
    result, job = sized(projects.hf_deepspeed(tmp_path), facts=SFT)
    assert result.n_gpus == 2
    assert job.gpus == 2
    assert job.command.startswith("accelerate launch --num_processes=2 --num_machines=1 ")
    assert result.flags == ["one GPU cannot hold the run; 2 are the smallest group that can"]


def test_lightning_gets_its_own_options(tmp_path: Path) -> None:
    facts = {"model": "vit_base_patch16_224", "gpu": "V100-SXM2-32GB", "dataset_examples": 10**6}
    result, job = sized(projects.lightning_like(tmp_path), facts=facts)
    assert "--trainer.devices 1 " in job.command
    assert f"--trainer.max_steps={result.steps}" in job.command


def test_a_script_nobody_knows_how_to_shorten_is_said_to_be_stopped_by_hand(
    tmp_path: Path,
) -> None:
    _, job = sized(projects.local_3090(tmp_path), facts=RESNET)
    assert job.environment == "local"
    assert job.command.endswith("--amp --output-dir outputs/resnet-smoke")
    assert "stop it after the smoke's steps" in job.special


def test_a_task_of_an_array_becomes_its_first(tmp_path: Path) -> None:
    _, job = sized(projects.models_by_datasets(tmp_path), run="bert-mnli", facts={"epochs": 30})
    assert "--seed 0 " in job.command
    assert job.array is None
    assert "let it write to outputs/bert-mnli-smoke/" in job.special


def test_what_is_not_known_is_left_out_of_the_invocation(tmp_path: Path) -> None:
    _, job = sized(projects.models_by_datasets(tmp_path), run="bert-mnli", facts={"epochs": 30})
    assert job.environment == "to be named"
    assert job.invocation == (
        "/run-experiment --script jobs/bert-mnli.sh --name bert-mnli-smoke --gpus 1"
    )


def test_a_folder_that_bears_the_job_s_name_keeps_it_unless_it_holds_outputs(
    tmp_path: Path,
) -> None:
    _, job = sized(projects.two_nodes(tmp_path))
    assert "src/train/main.py --config configs/train/base.yaml" in job.command
    assert "/scratch" not in job.command


def test_a_run_no_group_can_hold_is_flagged_and_no_group_is_called_large_enough(
    tmp_path: Path,
) -> None:
    """Four-bit weights of 70 B need 48 GB per card; more replicas on 24 GB cards do not help."""
    facts = {"model": "llama-2-70b", "method": "qlora", "gpu": "a10g"}
    result, _ = sized(projects.control_root(tmp_path), facts=facts)
    assert result.flags[-1] == (
        "no group of the planned GPUs holds the run: make it fit in memory first"
    )
    assert not any("smallest group" in flag for flag in result.flags)


def test_a_very_short_run_is_its_own_smoke_test(tmp_path: Path) -> None:
    workspace = open_workspace(projects.plain_repo(tmp_path))
    result = size_smoke(workspace, RunRequest(run="small", facts={"max_steps": 500}))
    assert result.bound == "the run's own first steps"
    assert result.flags[0] == "the run is so short that its own first steps are the smoke test"
    # It is watched on the devices it runs on: no job of its own, and no word about groups.
    assert (result.n_gpus, result.job) == (2, None)
    assert not any("smallest group" in flag for flag in result.flags)


def test_without_an_estimate_the_missing_facts_are_named_and_nothing_is_invented(
    tmp_path: Path,
) -> None:
    workspace = open_workspace(projects.lone_config(tmp_path))
    result = size_smoke(workspace, RunRequest())
    estimate = estimate_run(workspace, RunRequest())
    assert (result.status, result.missing, result.steps, result.job) == (
        "incomplete",
        estimate.missing,
        None,
        None,
    )


@pytest.mark.parametrize("facts", [{}, {"n_gpus": 2}, {"seq_len": 512}])
def test_the_smoke_step_is_the_run_s_step_on_fewer_devices(
    tmp_path: Path, facts: dict[str, object]
) -> None:
    root = projects.control_root(tmp_path)
    smoke, _ = sized(root, facts=facts)
    run = estimate_run(open_workspace(root), RunRequest.model_validate({"facts": facts}))
    assert smoke.expected_step_seconds is not None
    assert run.step_seconds is not None
    assert 0.5 < smoke.expected_step_seconds.expected / run.step_seconds.expected <= 1.05


def test_no_path_user_host_or_secret_of_a_script_is_in_the_result(tmp_path: Path) -> None:
    result, _ = sized(projects.control_root(tmp_path))
    text = result.model_dump_json()
    assert [secret for secret in projects.SECRETS if secret in text] == []
