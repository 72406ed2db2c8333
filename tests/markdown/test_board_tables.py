"""Tables of irregular boards are read as people mean them."""

from compute_budget_planner.markdown.board_page import read_page
from compute_budget_planner.markdown.board_tables import (
    BoardRow,
    BoardTable,
    board_tables,
    cells_of,
    with_cells,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from irregular_boards import RISK_COLUMNS, RISKS, risk_boards


def tables(text: str) -> list[BoardTable]:
    return board_tables(read_page(text))


def ids(table: BoardTable) -> list[str]:
    return [table.cell(row, "ID") for row in table.rows]


def test_fragments_join_and_what_is_code_or_comment_is_no_table() -> None:
    (table,) = tables(RISKS)
    assert table.header == RISK_COLUMNS
    assert table.sections == ("Risk Board",)
    assert (table.line, table.end) == (4, 8)
    assert ids(table) == ["RSK-000", "RSK-002", "RSK-001", "RSK-006"]
    assert table.cell(table.rows[1], "summary") == r"Second \| of two: yes"
    assert [table.cell(table.rows[1], name) for name in ("Threatens", "Mitigation", "Owner")] == [
        "DEC-028",
        "",
        "",
    ]


def test_windows_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    text = "\ufeff" + RISKS.replace("\n", "\r\n")
    assert tables(text) == tables(RISKS)
    assert read_page(text).text == text


def test_several_tables_are_told_apart_by_heading_and_header() -> None:
    page = (
        "# Evidence\n| ID | Summary |\n|---|---|\n| EVD-001 | a |\n"
        "| ID | Status |\n|:--|--:|\n| EXP-001 | b |\n\n"
        "## Figures and Assets\n### 2026\n| ID | Location |\n| - | - |\n| FIG-001 | c\n"
    )
    first, second, third = tables(page)
    assert first.rows == (BoardRow(3, ("EVD-001", "a")),)
    assert (second.sections, ids(second), second.end) == (("Evidence",), ["EXP-001"], 7)
    assert third.sections == ("Evidence", "Figures and Assets", "2026")
    assert third.rows == (BoardRow(12, ("FIG-001", "c")),)


def test_a_rule_with_too_few_cells_and_rows_without_outer_pipes_are_read() -> None:
    (table,) = tables("| ID | Kind | Summary |\n|---|\n| RSK-001 | x | y |\n")
    assert ids(table) == ["RSK-001"]
    (table,) = tables("ID | Kind\n--- | ---\nRSK-001 | x\nRSK-002\nProse.\n")
    assert (ids(table), table.end) == (["RSK-001"], 3)


def test_rows_below_an_ordinary_heading_or_with_a_rule_below_them_are_kept_apart() -> None:
    text = "| ID | Summary |\n|---|---|\n\n## Other\n| RSK-001 | x |\n"
    assert [ids(table) for table in tables(text)] == [[]]
    text = "| ID | Summary |\n|---|---|\n\n| RSK-001 | x |\n---\n| RSK-002 | y |\n"
    assert [ids(table) for table in tables(text)] == [["RSK-001", "RSK-002"]]


def test_prose_with_a_pipe_is_no_row() -> None:
    (table,) = tables("| ID | Summary |\n|---|---|\n| RSK-001 | x |\n\nP(a | b) of RSK-002\n")
    assert ids(table) == ["RSK-001"]


def test_cells_are_split_at_walls_only() -> None:
    assert cells_of(r"| a \| b | `c\|d` || e") == (r"a \| b", r"`c\|d`", "", "e")
    assert cells_of("a | b\r\n") == ("a", "b")


def test_only_the_named_cells_of_a_line_change() -> None:
    assert with_cells("|  a  | |b|\r\n", {0: "x", 1: "y", 2: "z"}) == "|  x  | y |z|\r\n"
    assert with_cells("| a |", {2: "z"}) == "| a |  | z |"
    assert with_cells("a | b", {2: "z"}) == "a | b | z |"
    assert with_cells("|a|b|\n", {0: "back\\"}) == "|back\\ |b|\n"


@settings(max_examples=60, deadline=None)
@given(risk_boards())
def test_a_page_is_its_lines(board: str) -> None:
    page = read_page(board)
    assert page.text == board
    assert all(row.cells == cells_of(page.lines[row.line]) for t in tables(board) for row in t.rows)


@settings(max_examples=60, deadline=None)
@given(st.text("|\\ab -:#`>\n\r\ufeff<!", max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    page = read_page(text)
    assert page.text == text
    assert all(table.end <= len(page.lines) for table in tables(text))
