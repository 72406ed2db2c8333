"""A refresh keeps what a person wrote, byte for byte, and changes only the generated parts."""

from dataclasses import replace

import pytest
from compute_budget_planner.errors import FormatError, RequestError
from compute_budget_planner.markdown.budget import budget_text, render_budget
from compute_budget_planner.markdown.marked_page import marked_page
from compute_budget_planner.markdown.merge import KEPT, merge
from hypothesis import given, settings
from hypothesis import strategies as st
from small_budget_plan import BASE, PLAN, SMOKE, spread

NAMES = [section.name for section in render_budget(PLAN)]
PAGE = budget_text(PLAN)
CHANGED = replace(
    PLAN,
    generated="2026-12-24",
    estimates=(BASE.model_copy(update={"gpu_hours": spread(90, 99, 130)}),),
    smokes=(SMOKE, SMOKE.model_copy(update={"run": "other"})),
)
FRAGMENTS = st.sampled_from(
    ["```", "~~~~", "# Mine", "<pre>", "<!--", "-->", "| a |", KEPT, "\r", ""]
)
LINES = st.lists(FRAGMENTS | st.text(st.characters(exclude_categories=["Cs"])), max_size=4)
HAND_WRITTEN = LINES.map(lambda lines: "\n".join(lines) + "\n")


def section_of(page: str, name: str) -> str:
    """Return a generated part with its markers and the line end of the last one."""
    begin = page.index(f"<!-- budget:begin {name} -->")
    end = page.index(f"<!-- budget:end {name} -->")
    return page[begin : page.index("\n", end) + 1]


def hand_written(page: str) -> list[str]:
    """Return what stands before, between and after the generated parts."""
    marked = marked_page(page, NAMES)
    texts, position = [], 0
    for name in NAMES:
        texts.append("".join(marked.lines[position : marked.parts[name].begin]))
        position = marked.parts[name].end + 1
    return [*texts, "".join(marked.lines[position:])]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(HAND_WRITTEN, min_size=len(NAMES) + 1, max_size=len(NAMES) + 1),
    st.sampled_from(["\n", "\r\n"]),
)
def test_hand_written_text_around_sections_survives_byte_for_byte(
    texts: list[str], line_end: str
) -> None:
    parts = [section_of(PAGE, name).replace("\n", line_end) for name in NAMES]
    page = texts[0] + "".join(part + text for part, text in zip(parts, texts[1:], strict=True))
    assert hand_written(page) == texts
    refreshed = budget_text(CHANGED, page)
    assert hand_written(refreshed) == texts
    assert budget_text(CHANGED, refreshed) == refreshed
    assert budget_text(PLAN, page) == page


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NAMES[:-1]), st.integers(0, 30), HAND_WRITTEN)
def test_lines_written_inside_a_section_are_never_lost(name: str, at: int, text: str) -> None:
    part = section_of(PAGE, name)
    lines = part.split("\n")
    place = 1 + at % (len(lines) - 2)
    edited = "\n".join([*lines[:place], *text.removesuffix("\n").split("\n"), *lines[place:]])
    refreshed = budget_text(CHANGED, PAGE.replace(part, edited))
    rest = refreshed.split("\n")
    assert all(line.rstrip() in [other.rstrip() for other in rest] for line in text.split("\n"))
    assert budget_text(CHANGED, refreshed) == refreshed


def test_a_new_page_is_made_of_an_empty_one() -> None:
    sections = render_budget(PLAN)
    assert merge("", sections) == PAGE
    assert merge(" \n\n", sections) == PAGE
    assert merge("\ufeff", sections) == "\ufeff" + PAGE


def test_a_page_of_someone_else_is_left_alone() -> None:
    with pytest.raises(RequestError) as caught:
        merge(
            "# Our budget\n\n400 GPU-hours.\n", render_budget(PLAN), "code/.agent/compute-budget.md"
        )
    assert str(caught.value) == (
        "code/.agent/compute-budget.md: the page was not written by this tool and is left alone. "
        "Rename it, write the budget, then copy its text between the generated parts."
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_section_that_was_deleted_comes_back_in_its_place(name: str) -> None:
    part = section_of(PAGE, name)
    gap = f"\n{part}" if name == NAMES[-1] else f"{part}\n"
    assert budget_text(PLAN, PAGE.replace(gap, "")) == PAGE


def test_several_deleted_sections_come_back_in_order() -> None:
    shorter = PAGE
    for name in ("smoke-test", "ablation-matrix", "final-checks"):
        shorter = shorter.replace(f"{section_of(PAGE, name)}\n", "")
    assert budget_text(PLAN, shorter) == PAGE


def test_a_missing_section_goes_below_the_text_of_the_one_before() -> None:
    totals = section_of(PAGE, "totals")
    matrix = section_of(PAGE, "ablation-matrix")
    without = PAGE.replace(f"{totals}\n", "").replace(matrix, f"{matrix}Mine.\n## Also mine")
    expected = PAGE.replace(matrix, f"{matrix}Mine.\n## Also mine\n")
    assert budget_text(PLAN, without) == expected


def test_a_page_without_last_line_end_gets_one_before_a_new_section() -> None:
    machine = section_of(PAGE, "machine")
    page = PAGE.replace(f"\n{machine}", "\nmy last words")
    assert budget_text(PLAN, page) == PAGE.replace(machine, f"my last words\n\n{machine}")


def test_a_note_inside_a_section_moves_below_it() -> None:
    totals = section_of(PAGE, "totals")
    edited = totals.replace(
        "| Smoke tests | 0.34", "| Evaluation | 12 |\n| Smoke tests | 0.34"
    ).replace("<!-- budget:end", "Asked the group\n\non Monday.\n<!-- budget:end")
    kept = f"{KEPT}\n| Evaluation | 12 |\n\nAsked the group\n\non Monday.\n\n"
    refreshed = budget_text(PLAN, PAGE.replace(totals, edited))
    assert refreshed == PAGE.replace(totals, totals + kept)
    assert budget_text(PLAN, refreshed) == refreshed


def test_an_edited_row_is_kept_while_the_stale_rows_go() -> None:
    smoke = section_of(PAGE, "smoke-test")
    edited = smoke.replace("- first loss near 10.4", "- first loss near 9.2, seen twice")
    refreshed = budget_text(CHANGED, PAGE.replace(smoke, edited))
    fresh = section_of(budget_text(CHANGED), "smoke-test")
    assert f"{fresh}{KEPT}\n- first loss near 9.2, seen twice\n\n" in refreshed
    assert refreshed.count(KEPT) == 1


def test_a_deleted_line_comes_back() -> None:
    assert budget_text(PLAN, PAGE.replace("- Largest micro batch that fits: 9\n", "")) == PAGE


def test_without_record_every_line_that_is_not_new_is_kept() -> None:
    machine, totals = section_of(PAGE, "machine"), section_of(PAGE, "totals")
    page = PAGE.replace(f"\n{machine}", "").replace(totals, totals.replace("0.34 –", "0.33 –"))
    kept = f"{KEPT}\n| Smoke tests | 0.33 – 0.41 – 0.498 |\n\n"
    assert budget_text(PLAN, page) == PAGE.replace(totals, totals + kept)


def test_inputs_changed_inside_the_machine_block_are_not_text_to_keep() -> None:
    assert budget_text(PLAN, PAGE.replace('"A100-SXM-80GB",', '"H100-SXM",')) == PAGE


def test_a_note_beside_the_machine_block_moves_below_it() -> None:
    page = PAGE.replace("<!-- budget:end machine -->", "Do not touch!\n<!-- budget:end machine -->")
    assert budget_text(PLAN, page) == f"{PAGE}{KEPT}\nDo not touch!\n\n"


def test_windows_line_ends_stay() -> None:
    page = PAGE.replace("\n", "\r\n")
    assert budget_text(PLAN, page) == page
    assert budget_text(CHANGED, page) == budget_text(CHANGED, PAGE).replace("\n", "\r\n")


def test_markers_of_other_names_are_text_of_a_person() -> None:
    own = "<!-- budget:begin mine -->\n<!-- budget:begin mine -->\n  <!-- budget:end totals -->\n"
    assert budget_text(PLAN, PAGE + own) == PAGE + own


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (
            "<!-- budget:end totals -->\n",
            "",
            "part `cheaper-alternatives` begins before part `totals` has ended",
        ),
        ("<!-- budget:begin totals -->\n", "", "part `totals` ends here but has not begun"),
        ("<!-- budget:end machine -->\n", "", "part `machine` has no end marker"),
        (
            "# Compute Budget: tiny-llm",
            "<!-- budget:begin title -->",
            "part `title` begins before part `title` has ended",
        ),
        (
            section_of(PAGE, "totals"),
            2 * section_of(PAGE, "totals"),
            "part `totals` is there twice",
        ),
    ],
)
def test_broken_markers_are_refused_with_their_line(old: str, new: str, what: str) -> None:
    page = PAGE.replace(old, new)
    assert page != PAGE
    with pytest.raises(FormatError) as caught:
        budget_text(PLAN, page)
    assert caught.value.what == what
    assert caught.value.where.startswith("compute-budget.md:")
    assert "delete the whole part with both markers" in caught.value.remedy
