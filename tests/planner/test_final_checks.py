"""The five final checks through `write_budget`: each seen passing, failing and open."""

from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.planner import update_memory
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.requests import MemoryRequest
from compute_budget_planner.results import BudgetResult
from written_budget import page_of, written

SMOKE, LIMIT, VARIANTS, ALTERNATIVES, HOURS = range(5)
NAMES = [
    "smoke test under 30 minutes on one GPU or the smallest group",
    "full run inside the time limit, or planned as a chain of jobs",
    "every variant has a priority and a cost",
    "cheaper alternatives were considered",
    "required GPU-hours inside the available ones, or a risk entry exists",
]
HALF = {"name": "half-depth", "changes": {"n_layers": 6}}
UNREADABLE = {"name": "memory-token"}
ALL_GIVEN = {"facts": {"available_gpu_hours": 1000}, "variants": [HALF]}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return open_workspace(projects.control_root(tmp_path))


def passed(result: BudgetResult) -> list[bool | None]:
    assert [check.name for check in result.checks] == NAMES
    return [check.passed for check in result.checks]


def test_a_complete_plan_passes_all_five(workspace: Workspace) -> None:
    result = written(workspace, **ALL_GIVEN)
    assert passed(result) == [True] * 5
    assert "Failed checks" not in result.summary


def test_a_plan_of_nothing_leaves_all_five_open(tmp_path: Path) -> None:
    result = written(open_workspace(projects.lone_config(tmp_path)))
    assert passed(result) == [None] * 5


@pytest.mark.parametrize(
    ("which", "changes", "outcome", "reason"),
    [
        # A single step takes more than half an hour.
        (SMOKE, {"facts": {"step_seconds": 4000, "available_gpu_hours": 10**6}}, False, "at most"),
        (SMOKE, {"facts": {"gpu": None, "available_gpu_hours": 1000}}, None, "not every run"),
        (LIMIT, {"facts": {"time_limit_hours": 1, "available_gpu_hours": 1000}}, True, "a chain"),
        (
            LIMIT,
            {"facts": {"time_limit_hours": 0.1, "available_gpu_hours": 1000}},
            False,
            "start-up and the save margin alone exceed the limit",
        ),
        (
            LIMIT,
            {"facts": {"time_limit_hours": None, "available_gpu_hours": 1000}},
            None,
            "the time limit is not known",
        ),
        (VARIANTS, {"variants": [HALF, UNREADABLE]}, False, "cannot be costed yet"),
        (VARIANTS, {"variants": []}, None, "no variants are costed yet"),
        (HOURS, {"facts": {"available_gpu_hours": 1}}, False, "add a risk entry"),
        (HOURS, {"facts": {}}, None, "are not known"),
    ],
)
def test_each_check_passes_fails_or_stays_open_with_its_reason(
    workspace: Workspace,
    which: int,
    changes: dict[str, object],
    outcome: bool | None,
    reason: str,
) -> None:
    result = written(workspace, **{**ALL_GIVEN, **changes})
    assert passed(result)[which] is outcome
    assert reason in result.checks[which].reason
    assert (NAMES[which] in result.summary) == (outcome is False)
    assert reason in page_of(workspace)


def test_alternatives_that_were_considered_are_counted(workspace: Workspace) -> None:
    result = written(workspace, **ALL_GIVEN)
    (alternatives,) = result.alternatives
    assert result.checks[ALTERNATIVES].reason == f"{len(alternatives.alternatives)} are listed"


def test_a_risk_entry_settles_hours_that_are_exceeded(workspace: Workspace) -> None:
    # The board of this project has no table for a row; the template has one.
    (workspace.project.root / "memory/risk-board.md").unlink()
    over = {**ALL_GIVEN, "facts": {"available_gpu_hours": 1}}
    assert passed(written(workspace, **over))[HOURS] is False
    update_memory(workspace, MemoryRequest(boards=["risk"], create_boards=True))
    settled = written(workspace, **over)
    assert passed(settled)[HOURS] is True
    assert settled.checks[HOURS].reason.endswith("a risk entry exists")
