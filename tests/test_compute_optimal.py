"""The five self-check questions of compute-optimal experiments, answered by what the tool says."""

from pathlib import Path

import pytest
from compute_budget_planner.grid_request import GridRequest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.planner.grid.gridding import plan_grid
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.results.grid import GridResult


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> GridResult:
    folder: Path = tmp_path_factory.mktemp("study")
    return plan_grid(
        open_workspace(folder),
        GridRequest.model_validate(
            {
                "facts": {
                    "seq_len": 2048,
                    "gpu": "A100-SXM-80GB",
                    "n_gpus": 8,
                    "precision": "bf16",
                    "global_batch_size": 256,
                    "micro_batch_size": 8,
                    "unique_tokens": 6_000_000_000,
                },
                "budgets_flops": [1e20],
                "scenarios": [{"name": "api", "read_tokens": 1e12, "written_tokens": 1e11}],
                "test_time_samples": [1, 16],
            }
        ),
    )


def test_why_equal_steps_are_not_equal_compute(grid: GridResult) -> None:
    smaller, middle, larger = grid.cells[:3]
    assert smaller.training_flops == middle.training_flops == larger.training_flops
    # The same compute is four times the steps for a quarter of the parameters.
    steps = [c.optimizer_steps for c in (smaller, middle, larger)]
    assert steps[0] > 1.8 * steps[1] > 3.2 * steps[2]
    per_step = [c.training_flops / c.optimizer_steps for c in (smaller, larger)]
    assert per_step[1] > 3.5 * per_step[0]
    assert any("Equal steps or epochs are neither equal compute" in rule for rule in grid.rules)


def test_what_repetition_is_worth_against_new_data(grid: GridResult) -> None:
    by_epochs = sorted(grid.cells, key=lambda c: c.epochs or 0)
    worth = [(c.effective_tokens or 0) / c.tokens for c in by_epochs]
    assert (by_epochs[0].epochs or 0) < 4 < (by_epochs[-1].epochs or 0)
    assert worth == sorted(worth, reverse=True)
    assert worth[0] > 0.95 > worth[-1]
    assert by_epochs[-1].fails_by == "It repeats its data too often."
    assert all(c.unique_tokens == 6_000_000_000 and c.repeated_percent for c in grid.cells)


def test_how_the_three_failures_are_told_apart(grid: GridResult) -> None:
    rows = load_reference().rows("cell_failures")
    signs = {
        name: rows[name].required("seen_as") for name in ("capacity", "data", "under-training")
    }
    assert len(set(signs.values())) == 3
    assert "level off together and high" in signs["capacity"]
    assert "validation loss rises" in signs["data"]
    assert "still fall steeply" in signs["under-training"]
    larger = next(c for c in grid.cells if c.role == "larger")
    assert (larger.seen_as, larger.then) == (
        signs["under-training"],
        rows["under-training"].required("next"),
    )
    assert all(c.fails_by and c.seen_as and c.then for c in grid.cells)


def test_what_is_fair_without_identical_hyper_parameters(grid: GridResult) -> None:
    (tuning,) = [rule for rule in grid.rules if "learning rate" in rule]
    assert "the same number of trials" in tuning
    assert "Not the same learning rate for all sizes" in tuning
    assert any("as many trials as the method" in rule for rule in grid.rules)
    assert any("block nothing" in rule for rule in grid.rules)


def test_why_the_best_model_to_train_is_not_the_best_to_run(grid: GridResult) -> None:
    (scenario,) = grid.scenarios
    assert (scenario.training_optimum, scenario.deployment_optimum) == ("b1-n1", "b1-n0.5")
    assert scenario.saving_percent is not None
    assert scenario.saving_percent > 10
    assert "they differ" in scenario.reading
    small, large = (
        next(s for s in grid.test_time if s.cell == cell and s.samples == 16)
        for cell in ("b1-n0.5", "b1-n2")
    )
    assert small.times_largest_direct < large.times_largest_direct
    assert 3 < small.samples_at_equal_cost < 5


def test_the_answer_ends_with_what_must_not_be_extrapolated(grid: GridResult) -> None:
    assert len(grid.must_not_extrapolate) == len(load_reference().rows("extrapolation_limits"))
    assert grid.summary.endswith(grid.must_not_extrapolate[0])


def test_the_page_asks_the_five_questions() -> None:
    page = Path(__file__).parent.parent / "references" / "compute-optimal.md"
    text = page.read_text(encoding="utf-8").split("## Self-check", 1)[1]
    questions = [line.split("|")[1].strip() for line in text.splitlines() if "? |" in line]
    assert len(questions) == 5
