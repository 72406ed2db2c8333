"""Reading captioned tables: every fault is refused with the place where it stands."""

import pytest
from compute_budget_planner.errors import GuideError
from compute_budget_planner.guide.rows import Quantity
from compute_budget_planner.guide.tables import Row, read_tables
from hypothesis import given
from hypothesis import strategies as st

PAGE = """# Page

Table `speeds`. Source: a paper. Checked: 2026-11-30.

| name | low | expected | high | unit |
|---|---|---|---|---|
| walk | 4 | 5 | 6 | km/h |
| `run` | | 12 | | km/h |
"""


def only_row(cells: str) -> Row:
    text = PAGE.replace("| walk | 4 | 5 | 6 | km/h |\n| `run` | | 12 | | km/h |", cells)
    (table,) = read_tables("page.md", text)
    return table.rows[0]


def test_a_captioned_table_is_read_with_its_places() -> None:
    (table,) = read_tables("page.md", PAGE)
    assert (table.name, table.page, table.line) == ("speeds", "page.md", 3)
    assert [row.cells for row in table.rows] == [
        {"name": "walk", "low": "4", "expected": "5", "high": "6", "unit": "km/h"},
        {"name": "run", "low": "", "expected": "12", "high": "", "unit": "km/h"},
    ]
    assert [row.line for row in table.rows] == [7, 8]


def test_a_table_without_caption_is_for_the_reader_alone() -> None:
    text = "Some words.\n\n| a | b |\n|---|---|\n| 1 | x |\n"
    assert read_tables("page.md", text) == []


def test_a_paragraph_between_caption_and_table_takes_the_caption_away() -> None:
    text = PAGE.replace("| name |", "Words in between.\n\n| name |", 1)
    assert read_tables("page.md", text) == []


@pytest.mark.parametrize(
    "caption",
    [
        "Table `speeds`.",
        "Table `speeds`. Source: a paper.",
        "Table `speeds`. Checked: 2026-11-30.",
        "Table `speeds`. Source: a paper. Checked: last week.",
        "Table `speeds`. Source: . Checked:",
    ],
)
def test_a_caption_without_source_or_date_is_refused_with_page_and_line(caption: str) -> None:
    text = PAGE.replace("Table `speeds`. Source: a paper. Checked: 2026-11-30.", caption)
    with pytest.raises(GuideError) as error:
        read_tables("page.md", text)
    assert str(error.value) == (
        "page.md:3, table `speeds`: the caption lacks its source or date. "
        "Write: Table `name`. Source: … Checked: YYYY-MM-DD."
    )


@pytest.mark.parametrize("broken", ["fast", "-1", "nan", "inf", "1e999", "5 km/h"])
def test_a_broken_number_names_page_table_row_and_column(broken: str) -> None:
    row = only_row(f"| walk | 4 | {broken} | 6 | km/h |")
    with pytest.raises(GuideError) as error:
        row.number("expected")
    assert str(error.value) == (
        f"page.md:7, table `speeds`, row `walk`, column `expected`: `{broken}` is not a number. "
        "Write a plain number such as 312 or 0.85, or leave the cell empty."
    )


def test_an_empty_cell_is_unknown_and_never_zero() -> None:
    row = only_row("| walk | | 5 | | km/h |")
    assert row.number("low") is None
    with pytest.raises(GuideError, match="column `low`: the cell is empty"):
        row.required_number("low")


def test_a_missing_column_is_refused_with_the_columns_there_are() -> None:
    with pytest.raises(GuideError) as error:
        only_row("| walk | 4 | 5 | 6 | km/h |").number("median")
    assert str(error.value) == (
        "page.md:7, table `speeds`, row `walk`, column `median`: the column is missing. "
        "Columns present: `name`, `low`, `expected`, `high`, `unit`."
    )


def test_a_row_with_too_few_cells_reads_them_as_empty() -> None:
    assert only_row("| walk | 4 |").cells == {
        "name": "walk",
        "low": "4",
        "expected": "",
        "high": "",
        "unit": "",
    }


def test_thousands_separators_are_allowed_in_numbers() -> None:
    assert only_row("| walk | 4 | 1,234.5 | 2,000 | km/h |").number("expected") == 1234.5


def test_empty_ends_of_a_quantity_repeat_its_expected_value() -> None:
    (table,) = read_tables("page.md", PAGE)
    assert [Quantity.from_row(row) for row in table.rows] == [
        Quantity("walk", 4, 5, 6, "km/h"),
        Quantity("run", 12, 12, 12, "km/h"),
    ]


def test_a_quantity_out_of_order_is_refused_with_its_place() -> None:
    with pytest.raises(GuideError, match=r"page\.md:7, table `speeds`, row `walk`.*does not hold"):
        Quantity.from_row(only_row("| walk | 7 | 5 | 6 | km/h |"))


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader_with_anything_but_a_guide_error(text: str) -> None:
    try:
        tables = read_tables("page.md", f"Table `t`. Source: s. Checked: 2026-01-01.\n\n{text}")
    except GuideError:
        return
    assert all(table.page == "page.md" for table in tables)
