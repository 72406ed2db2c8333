"""Earlier runs: which logs and statements calibrate, and at what speed."""

import json
from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.planner.assessing import run_inputs
from compute_budget_planner.planner.sources.history import (
    project_history,
    stated_facts,
    stated_history,
)
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.requests import FactInput, MeasuredRun
from compute_budget_planner.workload.facts import Fact

PLAN: dict[str, FactInput] = {
    "model": "gpt2",
    "gpu": "A100-SXM-80GB",
    "n_gpus": 4,
    "seq_len": 1024,
    "micro_batch_size": 16,
    "grad_accum_steps": 2,
    "max_steps": 20_000,
    "precision": "bf16",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return open_workspace(tmp_path)


def plan(workspace: Workspace) -> list[Fact]:
    return stated_facts(PLAN, workspace)


def step_seconds(workspace: Workspace, **facts: FactInput) -> float:
    (found,) = stated_history(workspace, [MeasuredRun(facts=facts)], plan(workspace))
    return found.step_seconds


@pytest.mark.parametrize(
    ("facts", "seconds"),
    [
        ({"step_seconds": 0.4}, 0.4),
        ({"steps_per_second": 2.5}, 0.4),
        # A step takes 4 devices × 16 × 2 = 128 samples of 1024 tokens.
        ({"samples_per_second": 320}, 0.4),
        ({"tokens_per_second": 327_680}, 0.4),
        ({"tokens_per_second_per_gpu": 81_920}, 0.4),
        ({"wall_clock_hours": 1, "steps_done": 9000}, 0.4),
        # On two devices with half the length: 64 samples of 512 tokens.
        ({"tokens_per_second": 327_680, "n_gpus": 2, "seq_len": 512}, 0.1),
        ({"step_seconds": 0.4, "wall_clock_hours": 9, "steps_done": 10}, 0.4),
    ],
)
def test_any_measured_speed_gives_the_seconds_of_a_step(
    workspace: Workspace, facts: dict[str, FactInput], seconds: float
) -> None:
    assert step_seconds(workspace, **facts) == pytest.approx(seconds)


def test_a_measured_run_keeps_its_own_configuration(workspace: Workspace) -> None:
    facts: dict[str, FactInput] = {"step_seconds": 1, "n_gpus": 2, "gpu": "RTX 3090"}
    (found,) = stated_history(workspace, [MeasuredRun(facts=facts)], plan(workspace))
    hardware = found.run.hardware
    assert (hardware.accelerator.name, hardware.n_gpus) == ("RTX-3090", 2)
    assert (found.run.batch.micro_batch_size, found.run.batch.global_batch_size) == (16, 64)


def logged_project(root: Path, *, speed: float) -> Path:
    """Fill a control root with the trainer's own log of an earlier run of 1000 steps."""
    projects.control_root(root)
    log = {
        "global_step": 1000,
        "max_steps": 1000,
        "log_history": [
            {"step": 500, "loss": 4.0},
            {
                "step": 1000,
                "train_runtime": 1000 / speed,
                "train_steps_per_second": speed,
                "train_samples_per_second": speed * 128,
            },
        ],
    }
    path = "code/outputs/gpt2-main/trainer_state.json"
    return projects.write_files(root, {path: json.dumps(log)})


def test_the_log_of_an_earlier_run_of_a_job_is_found_and_counts(tmp_path: Path) -> None:
    workspace = open_workspace(logged_project(tmp_path, speed=2.0))
    gathered = run_inputs(workspace, [], {}, [], from_budget=False).gathered
    (found,) = project_history(workspace, gathered)
    assert found.label == "code/outputs/gpt2-main/trainer_state.json"
    assert found.step_seconds == pytest.approx(0.5)
    assert found.run.batch.global_batch_size == 128


def test_a_log_that_is_not_there_is_no_history(tmp_path: Path) -> None:
    workspace = open_workspace(projects.control_root(tmp_path))
    inputs = run_inputs(workspace, [], {}, [], from_budget=False)
    assert inputs.history == ()


def test_a_log_named_beside_its_job_counts_wherever_it_lies(tmp_path: Path) -> None:
    root = logged_project(tmp_path, speed=2.0)
    moved = root / "code" / "old"
    moved.mkdir()
    (root / "code/outputs/gpt2-main/trainer_state.json").rename(moved / "trainer_state.json")
    workspace = open_workspace(root)
    files = ["code/jobs/gpt2-main.sh", "code/old/trainer_state.json"]
    inputs = run_inputs(workspace, files, {}, [], from_budget=False)
    assert [measured.label for measured in inputs.history] == ["code/old/trainer_state.json"]
