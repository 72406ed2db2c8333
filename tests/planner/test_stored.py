"""What a written budget remembers of its inputs, and which of them changed since."""

from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.errors import FormatError, RequestError
from compute_budget_planner.planner import write_budget
from compute_budget_planner.planner.budget.stored import budget_block, changed_files, stored_request
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.requests import MeasuredRun, WriteBudgetRequest

REQUEST = WriteBudgetRequest(
    files=["code/jobs/gpt2-main.sh"],
    facts={"seeds": 3, "max_steps": None, "train_tokens": "2.5B"},
    runs=["gpt2-main"],
    measured_runs=[MeasuredRun(facts={"step_seconds": 0.3})],
    claims=["CLM-001"],
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = open_workspace(projects.control_root(tmp_path))
    write_budget(workspace, REQUEST)
    return workspace


def edit(workspace: Workspace, old: str, new: str) -> None:
    page = workspace.project.root / workspace.project.budget_path
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")


def test_the_inputs_come_back_as_they_were_given(workspace: Workspace) -> None:
    stored = stored_request(workspace).request
    assert (
        stored.files,
        stored.facts,
        stored.runs,
        stored.measured_runs,
        stored.claims,
    ) == (REQUEST.files, REQUEST.facts, REQUEST.runs, REQUEST.measured_runs, REQUEST.claims)


def test_every_file_that_was_read_is_remembered_by_its_hash(workspace: Workspace) -> None:
    stored = stored_request(workspace)
    assert stored.input_sha256 == {
        path: workspace.project.sha256(path)
        for path in (
            "code/experiments/configs/gpt2.yaml",
            "code/jobs/gpt2-main.sh",
            "code/models/gpt2/config.json",
            "environments.yaml",
        )
    }
    assert changed_files(workspace, stored) == []


def test_changed_and_vanished_files_are_named(workspace: Workspace) -> None:
    root = workspace.project.root
    stored = stored_request(workspace)
    (root / "code/jobs/gpt2-main.sh").write_text("#!/bin/bash\n", encoding="utf-8")
    (root / "environments.yaml").unlink()
    assert changed_files(workspace, stored) == ["code/jobs/gpt2-main.sh", "environments.yaml"]


def test_without_a_budget_there_is_nothing_stored(tmp_path: Path) -> None:
    workspace = open_workspace(tmp_path)
    assert budget_block(workspace) is None
    with pytest.raises(RequestError) as caught:
        stored_request(workspace)
    assert caught.value.where == ".agent/compute-budget.md"
    assert "write_budget" in caught.value.remedy


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"inputs": {', '"inputs": {,', "is not JSON"),
        ('"schema_version": 1', '"schema_version": 99', "schema_version 99"),
        ('"seeds": 3', '"seeds": [3]', "`facts`"),
        ('"seeds": 3', '"seeds": NaN', "NaN"),
        ('"runs": [', '"runs": "all", "was": [', "`runs`"),
    ],
)
def test_a_block_edited_so_that_it_cannot_be_read_is_refused_with_its_place(
    workspace: Workspace, old: str, new: str, what: str
) -> None:
    edit(workspace, old, new)
    with pytest.raises(FormatError) as caught:
        stored_request(workspace)
    assert what in str(caught.value)
    assert caught.value.where.startswith("code/.agent/compute-budget.md")
    assert caught.value.remedy
