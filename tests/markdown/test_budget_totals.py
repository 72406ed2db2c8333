"""Totals on the page: seeds never mixed, what to run and what is cut, and whether it fits."""

from dataclasses import replace

import pytest
from budget_page import bullets_below, rows_of, section_of
from small_ablations import MATRIX, OPEN, spread
from small_budget_plan import PLAN


def with_matrix(name: str, **changes: object) -> str:
    plan = replace(PLAN, ablations=MATRIX.model_copy(update=changes))
    return section_of(name, plan)


def test_all_seeds_and_one_seed_stand_in_tables_of_their_own() -> None:
    all_seeds, one_seed = with_matrix("totals").split("**One seed of each:**")
    assert rows_of(all_seeds, "What") == [
        ["What", "GPU-hours"],
        ["Smoke tests", "0.34 – 0.41 – 0.498"],
        ["Main runs, all seeds", "249 – 288 – 363"],
        ["Required ablations, all seeds", "65.4 – 75 – 93.9"],
        ["Required main runs and ablations, all seeds", "314 – 363 – 457"],
        ["**Required** (smoke tests, main runs, required ablations)", "315 – 363 – 457"],
        ["**Should-have** (ablations)", "52.3 – 60 – 75.1"],
        ["**Optional** (ablations)", "95.7 – 110 – 138"],
        ["**Everything** (main runs and all ablations; smoke tests apart)", "462 – 533 – 670"],
    ]
    assert rows_of(one_seed, "What") == [
        ["What", "GPU-hours"],
        ["Main runs, one seed each", "83.1 – 96 – 121"],
        ["Required ablations, one seed each", "21.8 – 25 – 31.3"],
        ["Should-have ablations, one seed each", "26.1 – 30 – 37.5"],
        ["Optional ablations, one seed each", "60.9 – 70 – 87.5"],
    ]


def test_without_a_matrix_ablations_are_not_costed_rather_than_zero() -> None:
    text = section_of("totals", replace(PLAN, ablations=None))
    assert rows_of(text, "What")[-2:] == [
        ["**Should-have** (ablations)", "not costed yet"],
        ["**Optional** (ablations)", "not costed yet"],
    ]
    assert text.endswith(
        "Recommended minimum run set: the smoke tests, then every main run with all its seeds."
    )


def test_the_minimum_run_set_is_told_from_what_is_kept_beyond_it() -> None:
    text = with_matrix("totals")
    assert bullets_below(text, "**Recommended minimum run set**") == MATRIX.minimum_run_set
    assert bullets_below(text, "**Kept beyond it**") == ["wide (2 seeds)", "lr (1 seed)"]


def test_further_seeds_as_many_as_the_required_ones_are_still_kept() -> None:
    text = with_matrix("totals", minimum_run_set=["a (2 seeds)"], kept=["a (2 seeds)"] * 2)
    assert bullets_below(text, "**Kept beyond it**") == ["a (2 seeds)"]


def test_what_is_cut_says_what_that_does_to_the_claims() -> None:
    text = with_matrix("totals")
    assert rows_of(text, "Variant")[1:] == [
        ["`deep`", "optional", "3", "52.2 – 60 – 75", "CLM-003", "weakens CLM-003"],
        [
            *("`lion`", "optional", "1", "8.7 – 10 – 12.5", "–"),
            "no claim names it; say in the paper that it was left out",
        ],
    ]


def test_the_elapsed_time_is_told_when_it_is_known() -> None:
    sentence = "are done after 37.7 hours on 16 GPUs at once."
    assert sentence in with_matrix("totals")
    assert "are done after" not in with_matrix("totals", elapsed_hours=None)


def test_a_main_run_that_is_the_baseline_is_counted_once_and_says_so() -> None:
    sentence = "`base` is counted once, as the baseline among the ablations."
    assert sentence in with_matrix("totals", main_runs=[])
    assert sentence not in with_matrix("totals")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {},
            (
                "Verdict: **fits**. Required runs stay inside 430 GPU-hours at the expected value, "
                "not at the high end; cut: `deep` (3 seeds), `lion` (1 seed)."
            ),
        ),
        (
            {"available_gpu_hours": 700, "cut": []},
            "Verdict: **fits**. Required runs stay inside 700 GPU-hours even at the high end.",
        ),
        (
            {"verdict": "over", "shortfall_gpu_hours": 63},
            (
                "Verdict: **over**. Required alone lacks 63 GPU-hours; all of it stays, "
                "the rest is cut."
            ),
        ),
        (
            {
                "verdict": "unknown",
                "variants": [OPEN.model_copy(update={"priority": "required"})],
            },
            (
                "Verdict: **unknown** until `no-bias` is costed; the next line is without.\n"
                "- The plan probably fits: the expected value is inside, the high end is not."
            ),
        ),
        (
            {"verdict": "unknown"},
            "The plan probably fits: the expected value is inside, the high end is not.",
        ),
    ],
)
def test_the_envelope_takes_the_verdict_of_the_matrix(
    changes: dict[str, object], line: str
) -> None:
    assert f"\n- {line}\n" in with_matrix("resource-envelope", **changes)


def test_a_plan_over_its_hours_says_which_required_row_comes_on_top() -> None:
    variants = [OPEN.model_copy(update={"priority": "required"})]
    text = with_matrix(
        "resource-envelope", verdict="over", shortfall_gpu_hours=63, variants=variants
    )
    assert "\n- Not counted, its cost is not known: `no-bias`\n" in text


def test_unknown_sums_are_unknown() -> None:
    text = with_matrix("totals", required_gpu_hours=None, all_gpu_hours=None)
    rows = dict(rows_of(text, "What")[1:])
    assert rows["Required main runs and ablations, all seeds"] == "unknown"
    assert rows["**Everything** (main runs and all ablations; smoke tests apart)"] == "unknown"


def test_a_range_that_is_one_number_is_shown_once() -> None:
    totals = [t.model_copy(update={"gpu_hours": spread(0, 0, 0)}) for t in MATRIX.totals]
    assert ["**Optional** (ablations)", "0"] in rows_of(
        with_matrix("totals", totals=totals), "What"
    )
