"""The places where a project keeps what the planner reads."""

from pathlib import Path

import pytest
from compute_budget_planner.project import Project, discovery


def touch(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


def test_a_control_root_lists_code_before_root_and_plans_last(tmp_path):
    wanted = [
        "code/jobs/a.sh",
        "code/jobs/b.slurm",
        "code/jobs/c.sbatch",
        "code/experiments/configs/base.yaml",
        "code/configs/deep/model/x.toml",
        "code/infra/envs/local.yaml",
        "code/docs/runs/2026-01-01-a.md",
        "code/docs/ops/runs/r1-status.md",
        "code/.agent/run-status/runs.json",
        "code/docs/ops/runs.yaml",
        "code/outputs/logs/a/slurm-1.out",
        "code/outputs/gpt-1042.out",
        "code/outputs/a/eval_results.json",
        "code/outputs/a/checkpoint-10/trainer_state.json",
        "code/models/small/config.json",
        "configs/root.yml",
        "environments.yaml",
        ".agents/skills/run-experiment/references/environments.yaml",
        "code/docs/reports/baselines.md",
        "code/.agent/data-pipeline-plan.md",
        "docs/experiments/plan.md",
        "code-worktrees/feat/docs/reports/audit.md",
    ]
    touch(tmp_path, *wanted)
    touch(
        tmp_path,
        "memory/risk-board.md",
        "code/jobs/README.md",
        "code/configs/.git/x.yaml",
        "code/configs/node_modules/x.json",
        "code/outputs/a/checkpoint-10/model.safetensors",
        "code/src/train.py",
    )
    assert Project(tmp_path).known_files() == wanted


def test_a_repository_without_folders_of_its_own_is_found_from_its_root(tmp_path):
    wanted = [
        "train.sh",
        "scripts/sweep.sbatch",
        "slurm/big.slurm",
        "config_small.yaml",
        "ds_zero2.json",
        "slurm-7.out",
        "train.yml",
        "logs/first/out.txt",
    ]
    touch(tmp_path, *wanted, "docker-compose.yaml", "package.json", "train.py", "scripts/x.py")
    assert Project(tmp_path).known_files() == wanted


def test_the_worktree_one_stands_in_comes_first(tmp_path):
    touch(tmp_path, "memory/project.yaml", "code/jobs/a.sh", "code-worktrees/feat/jobs/a.sh")
    (tmp_path / "code-worktrees/feat/.git").write_text("gitdir: /x/.git/worktrees/feat")
    (tmp_path / "memory/project.yaml").write_text("")
    assert Project.around(tmp_path / "code-worktrees/feat").known_files() == [
        "code-worktrees/feat/jobs/a.sh",
        "code/jobs/a.sh",
    ]


def test_symlinks_that_leave_the_root_are_not_listed_and_loops_end(tmp_path):
    root = tmp_path / "proj"
    touch(root, "configs/a.yaml", "shared/b.yaml")
    touch(tmp_path / "proj-evil", "secret.yaml")
    (root / "configs/out").symlink_to(tmp_path / "proj-evil")
    (root / "configs/out.yaml").symlink_to(tmp_path / "proj-evil/secret.yaml")
    (root / "configs/gone.yaml").symlink_to(root / "nowhere")
    (root / "configs/loop").symlink_to(root / "configs")
    (root / "configs/itself").symlink_to(root / "configs/itself")
    (root / "configs/in.yaml").symlink_to(root / "shared/b.yaml")
    (root / "jobs").symlink_to(tmp_path / "proj-evil")
    assert Project(root).known_files() == ["configs/a.yaml", "configs/in.yaml"]


def test_folders_deeper_than_the_bound_are_not_entered(tmp_path):
    touch(tmp_path, "configs/1/2/3/4/5/6/seen.yaml", "configs/1/2/3/4/5/6/7/unseen.yaml")
    assert Project(tmp_path).known_files() == ["configs/1/2/3/4/5/6/seen.yaml"]


def test_a_listing_that_was_cut_names_the_folder_and_leaves_room_for_the_rest(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(discovery, "_MAX_PER_PLACE", 2)
    touch(tmp_path, *(f"outputs/logs/{i}.log" for i in range(4)), "docs/experiments/plan.md")
    found = Project(tmp_path).discover()
    assert found.files == ("outputs/logs/0.log", "outputs/logs/1.log", "docs/experiments/plan.md")
    assert "outputs/logs" in found.cut


def test_a_folder_with_too_many_entries_is_named_as_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(discovery, "_MAX_ENTRIES_PER_FOLDER", 3)
    touch(tmp_path, *(f"jobs/{i}.txt" for i in range(5)))
    assert Project(tmp_path).discover() == discovery.Discovered((), ("jobs",))


def test_no_more_files_are_listed_than_the_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(discovery, "MAX_FILES", 3)
    touch(tmp_path, *(f"jobs/{i}.sh" for i in range(2)), *(f"configs/{i}.yaml" for i in range(3)))
    found = Project(tmp_path).discover()
    assert found == discovery.Discovered(("jobs/0.sh", "jobs/1.sh", "configs/0.yaml"), ("configs",))


@pytest.mark.parametrize("board", ["risk-board", "claim-board"])
def test_boards_are_reported_present_or_absent(tmp_path, board):
    touch(tmp_path, f"memory/{board}.md")
    boards = Project(tmp_path).memory_boards()
    assert [path for path, exists in boards.items() if exists] == [f"memory/{board}.md"]
    assert len(boards) == 7


def test_an_empty_project_has_no_known_files(tmp_path):
    assert Project(tmp_path).discover() == discovery.Discovered((), ())
