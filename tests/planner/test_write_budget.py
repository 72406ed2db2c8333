"""`write_budget`: the page of all main runs, its numbers, its jobs, and what it leaves alone."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.errors import PlannerError, ProjectError
from compute_budget_planner.planner import estimate_run, size_smoke, update_memory, write_budget
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.requests import MemoryRequest, RunRequest, WriteBudgetRequest
from written_budget import page_of, prose, written


@pytest.fixture
def control(tmp_path: Path) -> Workspace:
    return open_workspace(projects.control_root(tmp_path))


# Writing


@pytest.mark.parametrize(
    ("shape", "path"),
    [
        (projects.control_root, "code/.agent/compute-budget.md"),
        (projects.plain_repo, ".agent/compute-budget.md"),
        (projects.lone_config, ".agent/compute-budget.md"),
    ],
)
def test_the_budget_lies_beside_the_code_and_nothing_else_is_written(
    tmp_path: Path, shape: Callable[[Path], Path], path: str
) -> None:
    root = shape(tmp_path)
    before = projects.snapshot(root)
    result = written(open_workspace(root))
    assert (result.path, result.changed) == (path, True)
    after = projects.snapshot(root)
    assert {**before, path: after[path]} == after


def test_in_a_worktree_the_budget_is_the_worktree_s_own(tmp_path: Path) -> None:
    worktree = projects.linked_worktree(tmp_path)
    before = projects.snapshot(tmp_path)
    workspace = open_workspace(tmp_path, start=worktree)
    result = written(workspace, files=["jobs/short.sh"])
    path = "code-worktrees/exp-short/.agent/compute-budget.md"
    assert (result.path, [estimate.run for estimate in result.estimates]) == (path, ["short"])
    after = projects.snapshot(tmp_path)
    assert {**before, path: after[path]} == after


def test_a_dry_run_shows_the_page_as_a_diff_and_writes_nothing(control: Workspace) -> None:
    before = projects.snapshot(control.project.root)
    dry = written(control, dry_run=True)
    assert projects.snapshot(control.project.root) == before
    assert (dry.dry_run, dry.changed, dry.sha256) == (True, True, "")
    assert dry.summary.startswith("Would write `code/.agent/compute-budget.md` (draft)")
    (step,) = dry.next
    result = write_budget(control, WriteBudgetRequest.model_validate(step.arguments))
    assert result.sha256 == control.project.sha256(result.path)
    added = [line[1:] for line in dry.diff.splitlines()[2:] if line.startswith("+")]
    assert added == page_of(control).splitlines()


def test_the_same_call_twice_changes_nothing(control: Workspace) -> None:
    first = written(control)
    before = projects.snapshot(control.project.root)
    again = written(control)
    assert (again.changed, again.sha256) == (False, first.sha256)
    assert again.summary.startswith("Unchanged: `code/.agent/compute-budget.md`")
    assert projects.snapshot(control.project.root) == before


def test_another_day_alone_changes_nothing(control: Workspace) -> None:
    written(control)
    later = replace(control, today=control.today + timedelta(days=40))
    assert written(later).changed is False


def test_what_a_person_wrote_survives_a_refresh(control: Workspace) -> None:
    written(control)
    page = control.project.root / control.project.budget_path
    text = page.read_text(encoding="utf-8")
    text = "Agreed with the lab on Monday.\n\n" + text
    text = text.replace("## Totals\n", "## Totals\n\nAsk the group first.\n")
    text += "\n## Notes of a person\n\nQueue is empty at night.\n"
    page.write_text(text, encoding="utf-8")
    result = written(control, from_budget=True, facts={"seeds": 3})
    assert result.changed is True
    after = page.read_text(encoding="utf-8")
    for line in ("Agreed with the lab on Monday.", "Ask the group first.", "Queue is empty"):
        assert after.count(line) == 1
    assert after.startswith("Agreed with the lab on Monday.")


def test_a_refresh_keeps_the_inputs_takes_new_facts_and_names_the_files_that_changed(
    control: Workspace,
) -> None:
    written(control, facts={"seeds": 3}, claims=["CLM-001"])
    config = control.project.root / "code/experiments/configs/gpt2.yaml"
    config.write_text(config.read_text().replace("20000", "40000"), encoding="utf-8")
    result = written(control, from_budget=True, facts={"available_gpu_hours": 100})
    assert result.changed_files == ["code/experiments/configs/gpt2.yaml"]
    (estimate,) = result.estimates
    assert estimate.steps is not None
    assert (estimate.seeds, estimate.steps.optimizer_steps) == (3, 40_000)
    assert "CLM-001" in page_of(control)
    assert "Changed since the last budget: code/experiments/configs/gpt2.yaml" in result.summary
    assert written(control, from_budget=True).changed_files == []


def test_the_other_tools_start_from_the_budget(control: Workspace) -> None:
    result = written(control, facts={"seeds": 3})
    request = RunRequest(from_budget=True)
    assert estimate_run(control, request) == result.estimates[0]
    assert size_smoke(control, request) == result.smokes[0]


def test_what_is_next_is_a_look_at_what_memory_would_become(tmp_path: Path) -> None:
    workspace = open_workspace(projects.plain_repo(tmp_path))
    (step,) = written(workspace).next
    assert step.tool == "update_memory"
    told = update_memory(workspace, MemoryRequest.model_validate(step.arguments))
    assert told.dry_run is True


def test_a_page_that_changed_under_the_caller_is_refused(control: Workspace) -> None:
    first = written(control)
    page = control.project.root / first.path
    page.write_text(page_of(control) + "\nA late remark.\n", encoding="utf-8")
    before = projects.snapshot(control.project.root)
    with pytest.raises(ProjectError, match=first.path):
        written(control, facts={"seeds": 5}, expected_sha256=first.sha256)
    assert projects.snapshot(control.project.root) == before
    now = control.project.sha256(first.path)
    assert written(control, facts={"seeds": 5}, expected_sha256=now).changed is True


def test_decisions_are_kept_and_the_latest_on_an_alternative_holds(control: Workspace) -> None:
    decision = {"alternative": "fewer steps", "decision": "open", "reason": "ask first"}
    written(control, decisions=[decision])
    written(control, from_budget=True)
    assert "ask first" in page_of(control)
    changed = {"alternative": "fewer steps", "decision": "rejected", "reason": "schedule differs"}
    result = written(control, from_budget=True, decisions=[changed])
    assert "schedule differs" in prose(page_of(control))
    assert "ask first" not in page_of(control)
    assert result.checks[3].passed is True


def test_git_s_ignore_rule_is_named(tmp_path: Path) -> None:
    result = written(open_workspace(projects.plain_repo(tmp_path)))
    assert result.untracked == ".gitignore:1 (.agent/)"
    assert "git add -f .agent/compute-budget.md" in result.summary


# Nothing private


def test_nothing_private_of_files_or_arguments_enters_the_budget(control: Workspace) -> None:
    written(
        control,
        files=[f"{control.project.root}/code/jobs/gpt2-main.sh"],
        facts={"dataset": "/scratch/jdoe/openwebtext", "deadline": "ask jdoe@login7.cluster.edu"},
        measured_runs=[{"facts": {"step_seconds": 0.3, "dataset": "/home/jdoe/data"}}],
        decisions=[
            {
                "alternative": "less data",
                "decision": "rejected",
                "reason": "see /home/jdoe/notes.txt on login7.cluster.edu",
            }
        ],
        claims=["CLM-001 /scratch/jdoe/claims"],
    )
    page = page_of(control)
    planted = [*projects.SECRETS, str(control.project.root)]
    assert [secret for secret in planted if secret in page] == []
    assert written(control, from_budget=True).changed is False


def test_the_date_is_today_s(control: Workspace) -> None:
    written(replace(control, today=date(2027, 3, 1)))
    assert "- Generated: 2027-03-01\n" in page_of(control)


def test_a_link_in_the_place_of_the_budget_is_not_followed(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "notes.md"
    outside.write_text("mine\n", encoding="utf-8")
    root = projects.control_root(tmp_path)
    (root / "code/.agent").mkdir()
    (root / "code/.agent/compute-budget.md").symlink_to(outside)
    with pytest.raises(PlannerError):
        written(open_workspace(root))
    assert outside.read_text(encoding="utf-8") == "mine\n"
