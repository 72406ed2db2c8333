"""The grid on the page: cells, data, signals, serving, rules and limits, and when it is absent."""

import re
from collections.abc import Iterator
from dataclasses import replace

from budget_page import bullets_below, rows_of, section_of
from compute_budget_planner.markdown.budget import budget_text, render_budget
from compute_budget_planner.numbers import shown
from compute_budget_planner.results.grid import GridResult
from pydantic import BaseModel
from small_budget_plan import PLAN
from small_grid import BARE, GRID, MIDDLE

RULES = ("Compare at equal compute.", "Failures stay on the list.")
NAME = "compute-optimal-grid"
WITH_GRID = replace(PLAN, grid=GRID, fairness_rules=RULES)


def grid(**changes: object) -> str:
    return section_of(NAME, replace(PLAN, grid=GRID.model_copy(update=changes)))


def row_by_column(text: str, title: str, number: int = 1) -> dict[str, str]:
    """Return a row of the table below a title, by the names of its columns."""
    rows = rows_of(text[text.index(title) :], "Cell")
    return dict(zip(rows[0], rows[number], strict=True))


def numbers_in(value: object) -> Iterator[float]:
    match value:
        case bool() | str() | None:
            return
        case int() | float():
            yield value
        case BaseModel():
            yield from numbers_in(dict(value).values())
        case _:
            for entry in value:  # type: ignore[attr-defined]
                yield from numbers_in(entry)


# Where it stands


def test_the_section_follows_the_cheaper_alternatives() -> None:
    names = [s.name for s in render_budget(WITH_GRID)]
    assert names[names.index("cheaper-alternatives") + 1] == NAME


def test_without_a_grid_the_page_has_no_such_section() -> None:
    assert NAME not in budget_text(PLAN)


def test_a_grid_that_is_planned_no_more_leaves_no_numbers_behind() -> None:
    page = budget_text(PLAN, budget_text(WITH_GRID))
    assert "## Compute-Optimal Grid\n\nNo grid is planned any more.\n<!-- budget:end" in page
    assert "b1-n1" not in page
    assert "compute-optimal grid: removed" in page
    assert budget_text(PLAN, page) == page


def test_a_grid_that_is_new_on_a_page_is_in_the_change_log() -> None:
    page = budget_text(WITH_GRID, budget_text(PLAN))
    assert "compute-optimal grid: added" in page
    assert budget_text(WITH_GRID, page) == page
    dearer = replace(WITH_GRID, grid=GRID.model_copy(update={"total_gpu_hours": None}))
    assert "compute-optimal grid: gpu_hours_one_seed 128 – 160 – 210 → none" in budget_text(
        dearer, page
    )


def test_a_person_s_remark_in_the_section_is_kept() -> None:
    page = budget_text(WITH_GRID).replace(
        "## Compute-Optimal Grid\n", "## Compute-Optimal Grid\n\nTwo cells are enough for us.\n"
    )
    assert budget_text(PLAN, page).count("Two cells are enough for us.") == 1


# What it holds


def test_every_number_of_the_result_is_in_the_section_digit_for_digit() -> None:
    on_page = set(re.findall(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?", grid()))
    assert {shown(n) for n in numbers_in(GRID)} - on_page == set()


def test_what_to_run_first_and_what_all_of_it_costs_stand_above() -> None:
    text = grid()
    assert bullets_below(text, "Allocations of near-equal training compute") == [
        "All cells: 128 – 160 – 210 GPU-hours",
        "Run first: `b1-n1`, `b2-n1`; look at their curves before more is spent",
        "Failed and interrupted cells stay on the list, with the reason",
    ]
    assert "around `base`. In no sum of this page: nobody owes the whole grid." in text


def test_a_cell_has_its_size_cost_memory_and_predicted_loss() -> None:
    assert row_by_column(grid(), "**Cells**") == {
        "Cell": "`b1-n1`",
        "Role": "middle",
        "Parameters": "254,053,376",
        "Tokens": "6,182,797,312",
        "Optimizer steps": "47,171",
        "GPU-hours": "19.3 – 24.3 – 31.9",
        "Wall-clock hours": "4.83 – 6.09 – 7.97",
        "Memory": "FITS",
        "Predicted loss": "2.93 – 2.95 – 2.97",
        "Above the best cell (%)": "0.747 – 0.806 – 0.902",
    }


def test_what_is_not_known_of_a_cell_is_said_and_never_zero() -> None:
    row = row_by_column(grid(), "**Cells**", 2)
    assert list(row.values())[5:] == ["unknown", "unknown", "UNKNOWN", "withheld", "–"]


def test_uniqueness_and_repetition_are_recorded_where_the_data_are_known() -> None:
    text = grid()
    assert row_by_column(text, "**Data**") == {
        "Cell": "`b1-n1`",
        "Tokens": "6,182,797,312",
        "Unique tokens seen": "2,000,000,017",
        "Epochs": "3.09",
        "Repeated (%)": "67.7",
        "Worth in fresh tokens": "5,910,000,000",
        "Generator coverage (%)": "40.5",
    }
    natural = MIDDLE.model_copy(update={"generator_coverage_percent": None})
    coverage = row_by_column(grid(cells=[natural]), "**Data**")["Generator coverage (%)"]
    assert coverage == "–"
    assert "**Data**" not in grid(cells=[BARE])


def test_how_each_cell_would_fail_and_be_seen_is_said_beforehand() -> None:
    assert row_by_column(grid(), "**Signals of sufficiency**") == {
        "Cell": "`b1-n1`",
        "How it would fail": r"It repeats \| too often.",
        "Seen as": "Validation loss rises.",
        "Then": "Add unique tokens.",
    }


def test_inference_cost_stands_on_its_own_and_scenarios_state_their_weights() -> None:
    text = grid()
    assert row_by_column(text, "**Inference cost:**") == {
        "Cell": "`b1-n1`",
        "FLOPs per token": "539,000,000",
        "GPU-seconds per million tokens read": "2.3 – 3.84 – 8.64",
        "GPU-seconds per million tokens written": "5.24 – 21.6 – 173",
    }
    head, row = rows_of(text, "Scenario")
    assert dict(zip(head, row, strict=True)) == {
        "Scenario": r"api \`x",
        "Tokens read": "1,000,000,000,000",
        "Tokens written": "200,000,000,000",
        "λ per GPU-hour": "0.00011",
        "μ per GPU-hour": "1.2e-6",
        "Training optimum": "`b1-n1`",
        "Deployment optimum": "`b1-n1`",
        "Least J": "unknown",
        "Best parameters over a life": "62,000,000",
        "Best tokens over a life": "109,000,000,000",
        "Saving (%)": "68.7",
    }
    costs = rows_of(text[text.index("J = loss") :], "Scenario")
    assert costs[1] == [
        r"api \`x",
        "`b1-n1`",
        "19.3 – 24.3 – 31.9",
        "6.47e20",
        "931 – 2,270 – 12,000",
        "2.96",
    ]
    without = grid(scenarios=[], scenario_cells=[], test_time=[])
    assert "J = loss" not in without
    assert "**Test-time compute**" not in without


def test_measured_losses_give_minima_and_exponents_where_there_are_some() -> None:
    text = grid()
    assert bullets_below(text[text.index("Its interval") :], "| 1.11e19") == [
        "N* grows with the budget to the power 0.49 (0.46 – 0.49 – 0.53)",
        "D* grows with the budget to the power 0.51 (0.47 – 0.51 – 0.54)",
        "Noise about the parabolas: 0.264 % of the loss",
        "Two budgets.",
    ]
    assert GRID.measured_fit is not None
    single = GRID.measured_fit.model_copy(update={"params_exponent": None, "tokens_exponent": None})
    assert "to the power" not in grid(measured_fit=single)
    assert "Measured losses" not in grid(measured_fit=None)


def test_predictions_name_their_law_and_its_range_or_why_there_are_none() -> None:
    text = grid()
    assert (
        "Losses are predicted by `a-law` (A paper), fitted from 57,000,000 to 16,200,000,000 "
        "parameters and 820,000,000 to 318,000,000,000 tokens; nothing beyond is predicted."
    ) in text
    assert (
        "Predicted losses are withheld, the model is larger than any the law was fitted to." in text
    )
    assert "predicted by" not in grid(law=None)
    assert "Predicted losses are withheld" not in grid(withheld="")


def test_flags_warnings_rules_limits_and_questions_are_listed() -> None:
    text = grid()
    assert [
        bullets_below(text, title)
        for title in (
            "**To note:**",
            "**Fairness rules**",
            "**What must not be extrapolated:**",
            "**Questions:**",
        )
    ] == [
        ["`b1-n1`: 3.09 epochs are worth less than as many fresh tokens", "Some warning."],
        ["Compare at equal compute.", "A baseline gets as many trials."],
        ["Loss is not the task."],
        ["How large are the data?"],
    ]


def test_a_grid_without_cells_yet_says_what_is_missing() -> None:
    open_grid = GridResult(
        summary="No grid yet for `base`: gpu missing.",
        run="base",
        status="incomplete",
        missing=["gpu"],
        questions=["Which GPU?"],
    )
    assert section_of(NAME, replace(PLAN, grid=open_grid)) == (
        "## Compute-Optimal Grid\n\nNo grid yet for `base`: gpu missing.\n\n"
        "**Questions:**\n\n- Which GPU?"
    )


# The picture, the matrix


def test_the_picture_is_the_file_beside_the_page_or_else_mermaid() -> None:
    link = "![Predicted loss over parameters, a line per budget](compute-budget-grid.svg)"
    mermaid = "```mermaid\nxychart-beta\n    line [3, 2]\n```"
    drawn = section_of(NAME, replace(WITH_GRID, grid_picture="compute-budget-grid.svg"))
    assert (link in drawn, mermaid in drawn) == (True, False)
    assert (link in grid(), mermaid in grid()) == (False, True)
    assert "mermaid" not in grid(chart="")


def test_every_ablation_matrix_carries_the_fairness_rules() -> None:
    matrix = section_of("ablation-matrix", WITH_GRID)
    assert bullets_below(matrix, "**Fairness rules**") == list(RULES)
    assert "**Fairness rules**" not in section_of(
        "ablation-matrix", replace(WITH_GRID, ablations=None)
    )
