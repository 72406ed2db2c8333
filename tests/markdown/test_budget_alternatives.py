"""Cheaper alternatives on the page: grouped, with what falls, what to watch and the decision."""

from dataclasses import replace

from budget_page import bullets_below, rows_of, section_of
from compute_budget_planner.requests import Decision
from small_alternatives import ALTERNATIVES, COMPILE, FASTER
from small_budget_plan import PLAN


def page(**changes: object) -> str:
    return section_of(
        "cheaper-alternatives",
        replace(PLAN, alternatives=(ALTERNATIVES.model_copy(update=changes),)),
    )


def test_the_table_has_the_agreed_columns_and_names_what_falls() -> None:
    assert rows_of(page(alternatives=[FASTER]), "Alternative") == [
        ["Alternative", "Saving", "Signal quality", "Misleading risk", "Decision"],
        [
            "faster hardware: 2 × H200",
            "GPU-hours 56.6 %, cost 12.4 %; not wall-clock -74.1 %",
            "same result",
            "GPU-hours on two devices are different units",
            "open",
        ],
    ]


def test_an_unknown_cost_is_not_called_a_saving() -> None:
    changed = {"saving_cost_percent": None, "falls": ["GPU-hours", "wall-clock"]}
    row = rows_of(page(alternatives=[COMPILE.model_copy(update=changed)]), "Alternative")[1]
    assert row[1] == "GPU-hours 13.1 %, wall-clock 13.2 %; cost unknown"


def test_groups_stand_in_order_and_only_where_they_have_alternatives() -> None:
    titles = [line for line in page().split("\n") if line.startswith("**")]
    assert titles == [
        "**Free**, the same result:",
        "**Levers**, how the model is trained and hardly what is learnt:",
        "**Another question**, accepted they change the design:",
        "**Other hardware**, the same result elsewhere:",
        "**Tried, not worth listing:**",
        "**Decisions:**",
    ]
    assert "**Levers**" not in page(alternatives=[COMPILE])


def test_each_alternative_says_changes_numbers_memory_and_what_to_watch() -> None:
    assert [line for line in page().split("\n") if line.startswith("- fewer steps: ")] == [
        (
            "- fewer steps: `max_steps` = 5,000, `note` = `re-stretched`; "
            "42 – 48.3 – 60.9 GPU-hours; 5.25 – 6.04 – 7.61 wall-clock hours; memory TIGHT; "
            "changes the design; watch whether curves have crossed before the end"
        )
    ]


def test_a_run_without_alternatives_says_what_is_missing() -> None:
    text = section_of("cheaper-alternatives", PLAN)
    part = text[text.index("### Instead of `large`") : text.index("**Decisions:**")]
    assert part == (
        "### Instead of `large`\n\n"
        "No alternatives yet for `large`: model, dataset_tokens missing.\n\n"
        "**No number without:**\n\n- model\n- dataset_tokens\n\n"
        "**Questions:**\n\n- Which model is `large`?\n\n"
    )


def test_decisions_stay_when_their_alternative_is_no_longer_listed() -> None:
    text = page()
    start = text.index("**Decisions:**")
    assert rows_of(text[start:], "Alternative")[1:] == [
        ["fewer steps", "rejected", "the claim is on the end"],
        ["half the seeds (not listed now)", "open", "–"],
    ]


def test_without_results_the_levers_to_consider_are_named_and_decisions_kept() -> None:
    decision = Decision(alternative="fewer steps", decision="accepted", reason="pilot")
    plan = replace(PLAN, alternatives=(), decisions=(decision,))
    assert section_of("cheaper-alternatives", plan) == (
        "## Cheaper Alternatives\n\n"
        "Not costed yet: smaller model, shorter sequence or smaller image, fewer steps, less data, "
        "low-rank or adapter training, faster hardware.\n\n"
        "**Decisions:**\n\n"
        "| Alternative | Decision | Reason |\n|---|---|---|\n| fewer steps | accepted | pilot |"
    )


def test_what_was_tried_in_vain_is_listed() -> None:
    assert bullets_below(page(), "**Tried") == ["8-bit optimizer: saves nothing (96.2 GPU-hours)"]
