"""`plan_grid`: from a request to cells that recompute, with what is withheld and why."""

import json
from pathlib import Path

import made_up_projects as projects
import pytest
from click.testing import CliRunner
from compute_budget_planner.cli import main
from compute_budget_planner.errors import RequestError
from compute_budget_planner.grid_request import GridRequest
from compute_budget_planner.planner import estimate_run
from compute_budget_planner.planner.grid.gridding import plan_grid
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.planning.scaling_law import scaling_law
from compute_budget_planner.requests import RunRequest
from compute_budget_planner.results import RangeOut
from compute_budget_planner.results.grid import CellOut, GridResult

FACTS: dict[str, object] = {
    "seq_len": 2048,
    "gpu": "H100-SXM-80GB",
    "n_gpus": 8,
    "precision": "bf16",
    "global_batch_size": 256,
    "micro_batch_size": 8,
}
LAW = scaling_law(open_workspace(Path(__file__).parent).reference)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return open_workspace(tmp_path)


def planned(
    workspace: Workspace, facts: dict[str, object] | None = None, **request: object
) -> GridResult:
    given = {"facts": {**FACTS, **(facts or {})}, **request}
    return plan_grid(workspace, GridRequest.model_validate(given))


def cell(result: GridResult, name: str) -> CellOut:
    (found,) = [c for c in result.cells if c.cell == name]
    return found


def expected(value: RangeOut | None) -> float:
    assert value is not None
    return value.expected


def test_a_budget_alone_gives_three_equal_cells_around_the_optimum_and_a_dearer_one(
    workspace: Workspace,
) -> None:
    result = planned(workspace, budgets_flops=[1e20])
    assert result.status == "planned"
    assert [(c.cell, c.role) for c in result.cells] == [
        ("b1-n0.5", "smaller"),
        ("b1-n1", "middle"),
        ("b1-n2", "larger"),
        ("b2-n1", "higher-budget"),
    ]
    best = LAW.surface.optimum(1e20)
    middle = cell(result, "b1-n1")
    assert middle.params_total == pytest.approx(best.params, rel=0.06)
    assert middle.tokens_per_param == pytest.approx(best.tokens_per_param, rel=0.12)
    assert [c.training_flops for c in result.cells] == [1e20, 1e20, 1e20, 4e20]
    assert result.run_first == ["b1-n1", "b1-n0.5", "b1-n2"]
    assert result.next[0].tool == "size_smoke"
    assert result.must_not_extrapolate[0] in result.summary


def test_every_cell_costs_what_estimate_run_says_of_the_same_facts(workspace: Workspace) -> None:
    result = planned(workspace, {"model": "gpt2", "unique_tokens": 10**10}, budgets_flops=[1e19])
    assert result.cells
    for row in result.cells:
        facts = {
            **FACTS,
            "model": "gpt2",
            "n_layers": row.n_layers,
            "d_model": row.d_model,
            "n_heads": row.n_heads,
            "d_ff": 4 * row.d_model,
            "train_tokens": row.tokens,
        }
        alone = estimate_run(workspace, RunRequest.model_validate({"facts": facts}))
        assert alone.parameters is not None
        assert alone.parameters.total == row.params_total
        assert alone.steps is not None
        assert (alone.steps.optimizer_steps, alone.steps.tokens) == (
            row.optimizer_steps,
            row.tokens,
        )
        assert alone.memory is not None
        assert (row.gpu_hours, row.wall_clock_hours, row.memory_verdict) == (
            alone.gpu_hours,
            alone.wall_clock_hours,
            alone.memory.verdict,
        )


def test_a_planned_run_is_the_middle_of_its_own_budget(tmp_path: Path) -> None:
    workspace = open_workspace(projects.control_root(tmp_path))
    result = plan_grid(workspace, GridRequest())
    estimate = estimate_run(workspace, RunRequest())
    middle = cell(result, "b1-n1")
    assert estimate.steps is not None
    assert estimate.parameters is not None
    assert (middle.params_total, middle.tokens, middle.optimizer_steps) == (
        estimate.parameters.total,
        estimate.steps.tokens,
        estimate.steps.optimizer_steps,
    )
    assert middle.gpu_hours == estimate.gpu_hours
    assert [b.source for b in result.budgets] == ["what the run costs", "the trend"]


@pytest.mark.parametrize("facts", [{}, {"model": "gpt2"}, {"params_total": 10**10}])
def test_gpu_hours_buy_the_middle_cell_that_takes_them(
    workspace: Workspace, facts: dict[str, object]
) -> None:
    result = planned(workspace, facts, budgets_gpu_hours=[500])
    hours = expected(cell(result, "b1-n1").gpu_hours)
    # Start-up, evaluation and checkpoints come on top of the steps.
    assert 450 < hours < 650
    assert result.budgets[0].source == "500 GPU-hours at the speed of the middle cell"


def test_budgets_cells_and_the_trend_are_as_many_as_asked_for(workspace: Workspace) -> None:
    result = planned(
        workspace,
        budgets_flops=[1e20, 1e19],
        cells_per_budget=5,
        higher_budget_factor=1,
    )
    assert [b.budget_flops for b in result.budgets] == [1e19, 1e20]
    assert len(result.cells) == 10
    assert {c.role for c in result.cells} == {"smaller", "middle", "larger"}


def test_relative_units_with_a_k_show_what_equal_products_really_cost(
    workspace: Workspace,
) -> None:
    result = planned(
        workspace,
        {"seq_len": 8192, "global_batch_size": 64, "model": "gpt2"},
        relative_cells=[
            {"params": 1, "tokens": 16},
            {"params": 2, "tokens": 8},
            {"params": 4, "tokens": 4},
        ],
        unit_params=60e6,
        unit_tokens=1e9,
        k=6,
    )
    assert [(c.cell, c.budget_flops) for c in result.cells] == [
        ("n1-d16", 5.76e18),
        ("n2-d8", 5.76e18),
        ("n4-d4", 5.76e18),
    ]
    deviations = [c.budget_deviation_percent for c in result.cells]
    assert max(deviations) - min(deviations) > 5
    for row in result.cells:
        said = any("true FLOPs than the budget" in flag for flag in row.flags)
        assert said == (abs(row.budget_deviation_percent) > 5)
    assert min(deviations) > 5


def test_relative_units_take_model_and_budget_where_nobody_gives_them(
    workspace: Workspace,
) -> None:
    result = planned(
        workspace,
        {"model": "gpt2"},
        relative_cells=[{"params": 1, "tokens": 4}, {"params": 2, "tokens": 2}],
        budgets_flops=[1e19],
    )
    first = cell(result, "n1-d4")
    assert first.params_total == 124_439_808
    assert first.tokens == pytest.approx(1e19 / (6 * 124_439_808), rel=0.001)


def test_relative_units_without_any_size_are_refused(workspace: Workspace) -> None:
    with pytest.raises(RequestError, match="unit_tokens: relative cells need a size"):
        planned(workspace, {"model": "gpt2"}, relative_cells=[{"params": 1, "tokens": 4}])


def test_penalties_are_those_of_half_and_twice_the_size(workspace: Workspace) -> None:
    result = planned(workspace, budgets_flops=[1e21], higher_budget_factor=1)
    assert expected(cell(result, "b1-n1").penalty_percent) == 0
    for name in ("b1-n0.5", "b1-n2"):
        assert expected(cell(result, name).penalty_percent) == pytest.approx(0.65, abs=0.15)
    for row in result.cells:
        learned = row.effective_tokens or row.tokens
        assert expected(row.predicted_loss) == pytest.approx(
            LAW.surface.loss(row.params_total, learned), rel=0.003
        )


@pytest.mark.parametrize(
    ("facts", "request_", "why"),
    [
        ({"model": "bert-base", "objective": "mlm"}, {}, "the objective is mlm"),
        ({"model": "Llama-3-8B", "method": "full-ft"}, {}, "the method is full-ft"),
        ({"model": "Mixtral-8x7B"}, {}, "this one is a mixture of experts"),
        ({"model": "gpt2"}, {"law": "none"}, "no law was wanted"),
    ],
)
def test_where_the_law_does_not_apply_losses_are_withheld_and_the_grid_stays(
    workspace: Workspace, facts: dict[str, object], request_: dict[str, object], why: str
) -> None:
    result = planned(
        workspace,
        {**facts, "seq_len": 512},
        budgets_flops=[1e20],
        around="model",
        scenarios=[{"name": "api", "read_tokens": 1e9}],
        **request_,
    )
    assert why in result.withheld
    assert why in result.summary
    assert [(c.predicted_loss, c.penalty_percent) for c in result.cells] == [(None, None)] * 4
    assert all(c.gpu_hours is not None for c in result.cells)
    assert result.law is None
    (scenario,) = result.scenarios
    assert (scenario.training_optimum, scenario.preferred) == ("", "")
    assert len(result.scenario_cells) == 4


def test_far_from_the_fitted_sizes_only_those_cells_are_withheld(workspace: Workspace) -> None:
    result = planned(workspace, budgets_flops=[1e22], higher_budget_factor=16)
    given = {c.cell for c in result.cells if c.predicted_loss is not None}
    # The smallest would see more tokens than any run the law was fitted to.
    assert given == {"b1-n1", "b1-n2"}
    assert "b2-n1" in result.withheld
    assert "outside the fitted range of `chinchilla-corrected`" in result.withheld
    assert result.budgets[1].note == "beyond the fitted range: a place to start"
    tiny = planned(workspace, {"vocab_size": 512, "params_total": 1_000_000}, budgets_flops=[1e15])
    assert {c.predicted_loss for c in tiny.cells} == {None}
    assert tiny.run_first


def test_unique_tokens_give_epochs_repetition_and_effective_data(workspace: Workspace) -> None:
    result = planned(
        workspace,
        {"unique_tokens": 2_000_000_000},
        budgets_flops=[1e20],
        generator_tokens=8e9,
    )
    for row in result.cells:
        assert row.unique_tokens == 2_000_000_000
        assert row.epochs == pytest.approx(row.tokens / 2e9, rel=0.005)
        assert row.effective_tokens is not None
        assert row.effective_tokens < row.tokens
        assert row.generator_coverage_percent == 25
        assert (row.fails_by == "It repeats its data too often.") == ((row.epochs or 0) > 4)
    assert not result.warnings


def test_without_the_size_of_the_data_repetition_is_open_and_said(workspace: Workspace) -> None:
    result = planned(workspace, budgets_flops=[1e20])
    assert {(c.epochs, c.effective_tokens) for c in result.cells} == {(None, None)}
    assert result.warnings == [
        "Epochs and repetition are open: give `unique_tokens` or `dataset_tokens`."
    ]


def test_weights_of_a_scenario_move_the_preferred_cell(workspace: Workspace) -> None:
    served = {"read_tokens": 1e12, "written_tokens": 1e11}
    result = planned(
        workspace,
        budgets_flops=[1e20],
        scenarios=[
            {"name": "loss only", **served},
            {"name": "dear to serve", **served, "mu_per_gpu_hour": 1e-4},
            {"name": "dear to train", **served, "lambda_per_gpu_hour": 1e-2},
        ],
    )
    assert [s.preferred for s in result.scenarios] == ["b2-n1", "b1-n0.5", "b1-n2"]
    for row in result.scenario_cells:
        weights = {"loss only": (0, 0), "dear to serve": (0, 1e-4), "dear to train": (1e-2, 0)}
        on_train, on_serve = weights[row.scenario]
        loss = expected(cell(result, row.cell).predicted_loss)
        j = loss + on_train * expected(row.training_gpu_hours)
        j += on_serve * row.inference_gpu_hours.expected
        assert row.objective == pytest.approx(j, rel=0.01)


def test_measured_losses_are_fitted_and_doubtful_minima_named(workspace: Workspace) -> None:
    losses = [
        {"params": n, "tokens": c / 6 / n, "loss": LAW.surface.loss(n, c / 6 / n)}
        for c in (1e19, 1e20)
        for n in (LAW.surface.optimum(c).params * f for f in (0.5, 1, 2))
    ]
    edge = [{"params": n, "tokens": 1e21 / 6 / n, "loss": 2.6 - n / 1e10} for n in (1e9, 2e9, 3e9)]
    fit = planned(workspace, budgets_flops=[1e20], measured_losses=[*losses, *edge]).measured_fit
    assert fit is not None
    assert [m.status for m in fit.minima] == ["interior", "interior", "no minimum"] or [
        m.status for m in fit.minima
    ] == ["interior", "interior", "edge"]
    assert all("One seed" in m.note for m in fit.minima)
    assert fit.params_exponent == pytest.approx(0.3658 / (0.3478 + 0.3658), abs=0.005)


def test_what_is_missing_is_asked_for(workspace: Workspace) -> None:
    bare = plan_grid(workspace, GridRequest())
    assert bare.status == "incomplete"
    assert "gpu" in bare.missing
    assert bare.next[0].tool == "plan_grid"
    without_length = planned(workspace, {"model": "gpt2"})
    assert without_length.status == "incomplete"
    assert without_length.questions


def test_a_model_without_a_shape_is_refused(workspace: Workspace) -> None:
    with pytest.raises(RequestError, match="known by what one sample costs"):
        planned(
            workspace,
            {"model": "ResNet-50", "image_size": 224, "seq_len": None, "dataset_examples": 1000},
            budgets_flops=[1e18],
        )


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"law": "chinchilla"}, "law: the guide has no scaling law `chinchilla`"),
        ({"law": "none", "around": "optimum"}, "around: `around` is optimum, but `law` is none"),
    ],
)
def test_arguments_that_contradict_each_other_are_refused(
    workspace: Workspace, request_: dict[str, object], message: str
) -> None:
    with pytest.raises(RequestError) as caught:
        planned(workspace, budgets_flops=[1e20], **request_)
    assert str(caught.value).startswith(message)


def test_a_grid_of_which_nothing_fits_names_no_first_cell(workspace: Workspace) -> None:
    result = planned(
        workspace,
        {"model": "Llama-2-70B", "sharding": "ddp"},
        budgets_flops=[1e22],
        around="model",
        cells_per_budget=1,
    )
    assert result.run_first == []
    assert any("No cell of the lowest budget fits in memory" in w for w in result.warnings)
    assert {(c.memory_verdict, bool(c.flags)) for c in result.cells} == {("OOM", True)}


def test_tensor_and_pipeline_parallel_cells_stay_divisible(workspace: Workspace) -> None:
    result = planned(
        workspace,
        {"model": "Llama-3-8B", "tp": 4, "pp": 2, "global_batch_size": 64, "micro_batch_size": 1},
        budgets_flops=[1e22],
        around="model",
    )
    assert result.cells
    for row in result.cells:
        assert (row.n_heads % 4, row.n_layers % 2) == (0, 0)
        assert row.gpu_hours is not None


def test_the_command_line_takes_every_argument_and_says_the_same(tmp_path: Path) -> None:
    arguments: dict[str, object] = {
        "facts": {"seq_len": 1024, "gpu": "A100-SXM-80GB", "n_gpus": 8, "model": "gpt2"},
        "budgets_flops": [1e18, 1e19],
        "budgets_gpu_hours": [5.0],
        "around": "optimum",
        "cells_per_budget": 1,
        "higher_budget_factor": 2.0,
        "k": 6.0,
        "law": "chinchilla-corrected",
        "generator_tokens": 1e9,
        "scenarios": [
            {"name": "api", "read_tokens": 1e9, "written_tokens": 1e8, "mu_per_gpu_hour": 0.1}
        ],
        "test_time_samples": [1, 4],
        "measured_losses": [{"params": 1e8, "tokens": 2e9, "loss": 3.3, "seed": 1}],
    }
    options = [
        "--fact",
        "seq_len=1024",
        "--fact",
        "gpu=A100-SXM-80GB",
        "--fact",
        "n_gpus=8",
        "--fact",
        "model=gpt2",
        "--budget-flops",
        "1e18",
        "--budget-flops",
        "1e19",
        "--budget-gpu-hours",
        "5",
        "--around",
        "optimum",
        "--cells-per-budget",
        "1",
        "--higher-budget-factor",
        "2",
        "--k",
        "6",
        "--law",
        "chinchilla-corrected",
        "--generator-tokens",
        "1e9",
        "--samples",
        "1",
        "--samples",
        "4",
        "--scenario",
        "api:read_tokens=1e9,written_tokens=1e8,mu_per_gpu_hour=0.1",
        "--measured-loss",
        "params=1e8,tokens=2e9,loss=3.3,seed=1",
    ]
    place = ["--project-root", str(tmp_path)]
    said = CliRunner().invoke(main, [*place, "plan-grid", *options, "--json"])
    assert (said.exit_code, said.stderr) == (0, "")
    result = plan_grid(open_workspace(tmp_path), GridRequest.model_validate(arguments))
    assert json.loads(said.stdout) == result.model_dump(mode="json")
    units = [
        "--relative-cell",
        "1,4",
        "--relative-cell",
        "2,2",
        "--unit-params",
        "5e7",
        "--unit-tokens",
        "1e9",
    ]
    relative = CliRunner().invoke(main, [*place, "plan-grid", *options[:8], *units, "--json"])
    assert [c["cell"] for c in json.loads(relative.stdout)["cells"]] == ["n1-d4", "n2-d2"]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--relative-cell", "4"], "'4' is not PARAMS,TOKENS, such as 2,8."),
        (["--scenario", ":a=1"], "is not 'NAME:read_tokens=...,written_tokens=...'"),
    ],
)
def test_an_option_of_another_form_is_refused(option: list[str], message: str) -> None:
    said = CliRunner().invoke(main, ["plan-grid", *option])
    assert said.exit_code == 2
    assert message in said.stderr
