"""The lab page: blocks come and are renewed, a person's words stay byte for byte."""

import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.measuring.lab_page import with_block, without_block
from hypothesis import given
from hypothesis import strategies as st

PATH = "code/.agent/lab-guide.md"
BEGIN = "<!-- compute-budget-planner measure: begin H200 -->"
END = "<!-- compute-budget-planner measure: end H200 -->"

words = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=80)


def test_a_new_page_says_what_it_is_before_its_block() -> None:
    page = with_block("", "H200", "## Measured", PATH)
    assert page.startswith("# Lab guide\n")
    assert page.endswith(f"\n\n{BEGIN}\n## Measured\n{END}\n")


@given(words, words)
def test_the_words_around_a_block_stay_as_they_are(above: str, below: str) -> None:
    page = f"{above}\n{BEGIN}\nold\n{END}\n{below}"
    assert with_block(page, "H200", "new", PATH) == f"{above}\n{BEGIN}\nnew\n{END}\n{below}"
    assert without_block(page, "H200", PATH) == f"{above}\n{below}"


@given(words, st.sampled_from(["\n", "\r\n"]))
def test_the_same_block_twice_changes_nothing(text: str, line_end: str) -> None:
    once = with_block(text.replace("\n", line_end), "H200", "a\nb", PATH)
    assert with_block(once, "H200", "a\nb", PATH) == once


def test_a_block_takes_over_the_line_ends_of_the_page() -> None:
    page = with_block("# Mine\r\n", "H200", "a\nb", PATH)
    assert page == f"# Mine\r\n\r\n{BEGIN}\r\na\r\nb\r\n{END}\r\n"


def test_each_device_has_a_block_of_its_own() -> None:
    page = with_block(with_block("", "A100", "one", PATH), "H200", "two", PATH)
    assert without_block(page, "H200", PATH) == with_block("", "A100", "one", PATH) + "\n"


def test_markers_inside_a_line_are_words() -> None:
    page = f"Write `{BEGIN}` by hand.\n"
    assert without_block(page, "H200", PATH) == page


@pytest.mark.parametrize(
    "page",
    [
        f"# Mine\n{BEGIN}\nrows\n",
        f"# Mine\n{END}\n",
        f"# Mine\n{END}\n{BEGIN}\n",
        f"# Mine\n{BEGIN}\n{END}\n{BEGIN}\n{END}\n",
    ],
    ids=["no end", "no begin", "end first", "twice"],
)
def test_a_broken_block_is_refused_with_its_place(page: str) -> None:
    with pytest.raises(FormatError, match=f"{PATH}:2: the block of `H200`") as refused:
        with_block(page, "H200", "new", PATH)
    assert "Repair the two marker lines" in refused.value.remedy
