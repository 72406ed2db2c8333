"""The ablation matrix on the page: agreed columns, marked rows, what is open and excluded."""

from dataclasses import replace

from budget_page import bullets_below, rows_of, section_of
from small_ablations import DONE, MATRIX, OPEN
from small_budget_plan import PLAN


def matrix(**changes: object) -> str:
    plan = replace(PLAN, ablations=MATRIX.model_copy(update=changes))
    return section_of("ablation-matrix", plan)


def test_the_first_five_columns_are_exactly_the_agreed_ones() -> None:
    agreed = "| Variant | Changed variable | Cost multiplier | GPU-hours | Priority |"
    assert f"\n{agreed} Seeds |" in matrix()
    assert f"\n{agreed} Seeds |" in section_of("ablation-matrix", replace(PLAN, ablations=None))


def test_each_row_holds_cost_seeds_claims_basis_rule_and_source() -> None:
    rows = rows_of(matrix(), "Variant")
    assert [row[0] for row in rows[1:]] == [
        "`baseline` (baseline)",
        "`wide`",
        "`lr`",
        "`deep`",
        "`lion`",
        "`lion (tuning)`",
        "`narrow` (exists)",
        "`no-bias` (open)",
    ]
    assert dict(zip(rows[0], rows[2], strict=True)) == {
        "Variant": "`wide`",
        "Changed variable": "d_ff = 12288",
        "Cost multiplier": "1.5×",
        "GPU-hours": "65.5 – 75 – 94",
        "Priority": "required",
        "Seeds": "5",
        "GPU-hours (one seed)": "13.1 – 15 – 18.8",
        "Wall-clock hours (one run)": "1.64 – 1.88 – 2.35",
        "Runs per seed": "1",
        "GPUs": "8",
        "Claim": "CLM-001, CLM-003",
        "Basis": "re-estimated",
        "Rule": "CLM-001, CLM-003 depends on it",
        "Source": "`docs/plan.md:22`",
    }


def test_a_run_that_exists_costs_nothing_and_says_where_it_is() -> None:
    row = rows_of(matrix(variants=[DONE]), "Variant")[1]
    assert row[:7] == ["`narrow` (exists)", "d_model = 512", "–", "0", "required", "3", "0"]
    assert row[12] == "has run already (EXP-002, memory/evidence-board.md:9)"


def test_an_open_row_is_unknown_and_its_question_stands_below() -> None:
    text = matrix()
    row = rows_of(text, "Variant")[-1]
    assert row[:4] == ["`no-bias` (open)", "no biases", "unknown", "unknown"]
    assert bullets_below(text, "**Open**") == [
        "`no-bias` (optional): 'no biases' is not a change of facts. Write `fact: old -> new`.",
        "docs/plan.md:21: `Fixed controls` 'as usual' cannot be read as facts",
    ]


def test_what_the_cells_cannot_say_is_noted() -> None:
    assert bullets_below(matrix(), "**To note:**") == [
        "`wide`: 2 seeds beyond the required number, at most should-have",
        "`deep` does not fit in memory (OOM)",
    ]
    tuned = OPEN.model_copy(update={"tuning_trials": 20})
    assert bullets_below(matrix(variants=[tuned]), "**To note:**") == [
        "`no-bias`: 20 tuning trials before the run itself are not costed either"
    ]


def test_excluded_baselines_are_listed_with_no_cost() -> None:
    assert bullets_below(matrix(), "**Excluded**") == ["gpt-5 (citation-only): 0 GPU-hours"]
    assert "**Excluded**" not in matrix(excluded=[])


def test_main_runs_stand_beside_the_matrix() -> None:
    line = "Main runs, which count as required beside the matrix: "
    assert f"{line}`base` (3 seeds, 249 – 288 – 363 GPU-hours)." in matrix()
    assert line not in matrix(main_runs=[])


def test_without_a_matrix_the_main_runs_are_its_baselines() -> None:
    text = section_of("ablation-matrix", replace(PLAN, ablations=None))
    assert rows_of(text, "Variant")[1][:5] == [
        "`base` (baseline)",
        "–",
        "1×",
        "249 – 288 – 363",
        "required",
    ]
    assert text.endswith(
        "Not costed yet: list the variants and cost each as a multiple of the main run."
    )
