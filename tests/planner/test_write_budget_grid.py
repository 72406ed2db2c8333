"""`write_budget` with a grid: computed as `plan_grid` does, kept on refresh, drawn where it can."""

import re
from collections.abc import Iterator
from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.errors import PlannerError, ProjectError, RequestError
from compute_budget_planner.grid_request import GridRequest
from compute_budget_planner.numbers import shown
from compute_budget_planner.planner import update_memory
from compute_budget_planner.planner.budget.stored import stored_request
from compute_budget_planner.planner.grid import budget_grid
from compute_budget_planner.planner.grid.gridding import plan_grid
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.plotting.drawing import can_draw
from compute_budget_planner.requests import MemoryRequest, WriteBudgetRequest
from compute_budget_planner.results import BudgetResult
from pydantic import BaseModel
from written_budget import page_of, prose, written

GRID: dict[str, object] = {
    "budgets_flops": [1e19],
    "scenarios": [
        {
            "name": "api",
            "read_tokens": 1e12,
            "written_tokens": 2e11,
            "lambda_per_gpu_hour": 1e-4,
            "mu_per_gpu_hour": 1e-6,
        }
    ],
    "test_time_samples": [4],
    "measured_losses": [
        {"params": 1e8, "tokens": 1.6e10, "loss": 3.1},
        {"params": 2e8, "tokens": 8e9, "loss": 3.0},
        {"params": 4e8, "tokens": 4e9, "loss": 3.05},
    ],
}
FACTS: dict[str, object] = {"unique_tokens": 2e9}
SVG = "code/.agent/compute-budget-grid.svg"


@pytest.fixture
def control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Open a project where the extra that draws is not installed."""
    monkeypatch.setattr(budget_grid, "can_draw", lambda: False)
    return open_workspace(projects.control_root(tmp_path))


@pytest.fixture
def drawing(control: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Open a project where it is, with a drawing of one line."""
    monkeypatch.setattr(budget_grid, "can_draw", lambda: True)
    monkeypatch.setattr(budget_grid, "drawn", lambda *_: b"<svg/>\n")
    return control


def with_grid(workspace: Workspace, **request: object) -> BudgetResult:
    return written(workspace, **{"facts": FACTS, "grid": GRID, **request})


def numbers_in(value: object) -> Iterator[float]:
    match value:
        case bool() | str() | None:
            return
        case int() | float():
            yield value
        case BaseModel():
            yield from numbers_in(dict(value).values())
        case dict():
            return
        case _:
            for entry in value:  # type: ignore[attr-defined]
                yield from numbers_in(entry)


# The grid and its page


def test_the_grid_of_the_budget_is_that_of_plan_grid(control: Workspace) -> None:
    result = with_grid(control)
    alone = plan_grid(control, GridRequest.model_validate({"facts": FACTS, **GRID}))
    assert result.grid is not None
    apart = {"next"}
    assert result.grid.model_dump(exclude=apart) == alone.model_dump(exclude=apart)
    assert result.grid.run == "gpt2-main"
    assert result.summary.endswith("a grid of 4 cells beside them.")


def test_every_number_of_the_grid_stands_on_the_page(control: Workspace) -> None:
    result = with_grid(control)
    on_page = set(re.findall(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?", prose(page_of(control))))
    assert {shown(n) for n in numbers_in(result.grid)} - on_page == set()


def test_the_grid_is_in_no_sum_of_the_page(control: Workspace) -> None:
    without = written(control, facts=FACTS)
    result = with_grid(control)
    assert (result.total_gpu_hours, result.required_gpu_hours) == (
        without.total_gpu_hours,
        without.required_gpu_hours,
    )


def test_without_a_grid_there_is_none(control: Workspace) -> None:
    assert (written(control).grid, "Compute-Optimal" in page_of(control)) == (None, False)


def test_a_matrix_carries_the_fairness_rules_of_the_guide(control: Workspace) -> None:
    written(control, variants=[{"name": "half", "changes": {"n_layers": 6}}])
    rules = control.reference.rows("fairness_rules").values()
    page = prose(page_of(control))
    assert [row.required("text") for row in rules if f"- {row.required('text')}" not in page] == []


def test_what_the_grid_lacks_is_an_open_point(tmp_path: Path) -> None:
    result = written(open_workspace(tmp_path), facts={"seq_len": 1024}, grid={})
    assert result.grid is not None
    assert result.grid.status == "incomplete"
    assert result.grid.questions != []
    assert {f"grid: {q}" for q in result.grid.questions} <= set(result.open_points)
    assert "grid of" not in result.summary


# Refresh


def test_a_dry_run_with_a_grid_writes_nothing_and_goes_on_to_the_same_page(
    drawing: Workspace,
) -> None:
    before = projects.snapshot(drawing.project.root)
    dry = with_grid(drawing, dry_run=True)
    assert projects.snapshot(drawing.project.root) == before
    assert f"to be drawn in `{SVG}`" in dry.summary
    (step,) = dry.next
    written(drawing, **step.arguments)
    added = [line[1:] for line in dry.diff.splitlines()[2:] if line.startswith("+")]
    assert added == page_of(drawing).splitlines()


@pytest.mark.parametrize("again", [{"facts": FACTS, "grid": GRID}, {"from_budget": True}])
def test_the_same_grid_again_changes_nothing(drawing: Workspace, again: dict[str, object]) -> None:
    with_grid(drawing)
    before = projects.snapshot(drawing.project.root)
    result = written(drawing, **again)
    assert (result.changed, result.dropped_inputs) == (False, [])
    assert projects.snapshot(drawing.project.root) == before


def test_the_grid_comes_back_as_it_was_given_and_a_new_one_replaces_it(control: Workspace) -> None:
    with_grid(control)
    given = WriteBudgetRequest.model_validate({"grid": GRID}).grid
    assert stored_request(control).request.grid == given
    result = written(control, from_budget=True, grid={"budgets_flops": [1e20]})
    assert result.grid is not None
    assert [b.budget_flops for b in result.grid.budgets] == [1e20, 4e20]
    assert result.grid.scenarios == []


def test_a_call_that_does_not_repeat_the_grid_says_so(control: Workspace) -> None:
    with_grid(control)
    result = written(control, facts=FACTS)
    assert result.dropped_inputs == ["grid"]
    assert "No grid is planned any more." in page_of(control)
    assert written(control, facts=FACTS).changed is False


def test_boards_are_kept_from_a_budget_with_a_grid(control: Workspace) -> None:
    with_grid(control)
    told = update_memory(control, MemoryRequest(dry_run=True))
    assert told.dry_run is True


# Which run, and what is refused


def test_of_several_runs_one_has_to_be_named(tmp_path: Path) -> None:
    workspace = open_workspace(projects.models_by_datasets(tmp_path))
    with pytest.raises(RequestError) as caught:
        written(workspace, grid={})
    assert caught.value.where == "grid.run"
    assert "`bert-mnli`" in str(caught.value)
    assert not (tmp_path / ".agent").exists()
    result = written(workspace, grid={"run": "bert-qnli"})
    assert result.grid is not None
    assert result.grid.run == "bert-qnli"


@pytest.mark.parametrize(
    "grid",
    [{"run": "gpt3"}, {"law": "nobodys"}, {"law": "none", "around": "optimum"}],
)
def test_a_grid_that_cannot_be_planned_is_refused_and_nothing_is_written(
    control: Workspace, grid: dict[str, object]
) -> None:
    before = projects.snapshot(control.project.root)
    with pytest.raises(PlannerError):
        written(control, grid=grid)
    assert projects.snapshot(control.project.root) == before


def test_nothing_private_of_a_scenario_enters_the_page(control: Workspace) -> None:
    scenario = {"name": "see /home/jdoe/notes.txt on login7.cluster.edu", "read_tokens": 1e9}
    result = written(control, grid={**GRID, "scenarios": [scenario]})
    assert [s for s in projects.SECRETS if s in page_of(control)] == []
    assert "jdoe" not in str(result.grid)
    assert written(control, from_budget=True).changed is False


# The picture


def test_the_grid_is_drawn_beside_the_page_and_linked(drawing: Workspace) -> None:
    before = projects.snapshot(drawing.project.root)
    result = with_grid(drawing)
    after = projects.snapshot(drawing.project.root)
    assert set(after) - set(before) == {result.path, SVG}
    assert (result.grid_picture, (drawing.project.root / SVG).read_bytes()) == (SVG, b"<svg/>\n")
    assert "](compute-budget-grid.svg)" in page_of(drawing)
    assert "mermaid" not in prose(page_of(drawing))


def test_a_picture_that_was_deleted_is_drawn_again(drawing: Workspace) -> None:
    with_grid(drawing)
    (drawing.project.root / SVG).unlink()
    result = written(drawing, from_budget=True)
    assert (result.changed, (drawing.project.root / SVG).is_file()) == (True, True)


def test_without_the_extra_the_page_has_the_mermaid_text(control: Workspace) -> None:
    result = with_grid(control)
    assert result.grid_picture == ""
    assert not (control.project.root / SVG).exists()
    assert "```mermaid\nxychart-beta\n" in prose(page_of(control))


def test_a_withheld_loss_is_not_drawn(drawing: Workspace) -> None:
    result = written(drawing, grid={"budgets_flops": [1e19], "law": "none"})
    assert result.grid_picture == ""
    assert not (drawing.project.root / SVG).exists()
    assert "Predicted losses are withheld" in page_of(drawing)


def test_a_page_that_changed_under_the_caller_leaves_the_picture_alone(drawing: Workspace) -> None:
    with pytest.raises(ProjectError):
        with_grid(drawing, expected_sha256="0" * 64)
    assert not (drawing.project.root / SVG).exists()


def test_a_link_in_the_place_of_the_picture_is_not_followed(
    drawing: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "mine.svg"
    outside.write_text("mine\n", encoding="utf-8")
    (drawing.project.root / "code/.agent").mkdir()
    (drawing.project.root / SVG).symlink_to(outside)
    with pytest.raises(PlannerError):
        with_grid(drawing)
    assert outside.read_text(encoding="utf-8") == "mine\n"
    assert not (drawing.project.root / drawing.project.budget_path).exists()


@pytest.mark.skipif(not can_draw(), reason="needs the extra `plot`")
def test_a_real_drawing_is_the_same_every_time(tmp_path: Path) -> None:
    workspace = open_workspace(projects.control_root(tmp_path))
    with_grid(workspace)
    text = (tmp_path / SVG).read_text(encoding="utf-8")
    assert text.startswith("<?xml")
    assert written(workspace, from_budget=True).changed is False
