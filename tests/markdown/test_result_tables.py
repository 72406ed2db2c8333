"""Rows of a result as tables a terminal can hold: split, noted and shared, nothing lost."""

from compute_budget_planner.markdown.result_tables import WIDEST, tables
from compute_budget_planner.markdown.result_text import text_of
from hypothesis import given
from hypothesis import strategies as st
from small_ablations import MATRIX
from small_alternatives import ALTERNATIVES

WORDS = st.text("abc ", min_size=1, max_size=200).map(str.strip).filter(bool)
VALUES = st.none() | st.integers(0, 10**9) | WORDS


def lines_of(rows: list[dict[str, object]], **meanings: str) -> list[str]:
    return list(tables(rows, meanings))


def test_a_narrow_table_stays_one_table() -> None:
    assert lines_of([{"name": "a", "gib": 1}, {"name": "b", "gib": None}]) == [
        "| name | GiB |",
        "| ---- | --: |",
        "| a    |   1 |",
        "| b    |   – |",
        "",
    ]


def test_a_long_text_at_the_end_sticks_out_and_widens_no_other_row() -> None:
    rows = [{"name": "a", "source": "x" * 200}, {"name": "b", "source": "y"}]
    widths = [len(line) for line in lines_of(rows)]
    assert widths == [WIDEST, WIDEST, 211, WIDEST, 0]


def test_a_wide_table_is_split_and_every_part_names_its_rows() -> None:
    rows = [{"name": name, **{f"column_{i}": name * 28 for i in range(6)}} for name in ("x", "y")]
    lines = lines_of(rows, column_1="a meaning")
    assert [line.split(" | ")[0] for line in lines if line[:2] == "| "] == [
        *("| name", "| ----", "| x   ", "| y   "),
        *("| name", "| ----", "| x   ", "| y   "),
    ]
    assert lines[-2:] == ["- Column 1: a meaning", ""]
    assert max(map(len, lines)) <= WIDEST


def test_what_all_rows_share_is_said_once_and_long_or_rare_texts_are_notes() -> None:
    rows: list[dict[str, object]] = [
        {
            "name": name,
            "wall_clock_hours": 2,
            "claims": ["CLM-001", "CLM-002"] if name == "a" else [],
            "changes": {"glu": True, "n_layers": 6},
            "note": name * 70,
            "question": f"{name}: why?" if name == "b" else "",
            "end": name * 30,
        }
        for name in "abc"
    ]
    assert lines_of(rows) == [
        "| name | end                            |",
        "| ---- | ------------------------------ |",
        f"| a    | {'a' * 30} |",
        f"| b    | {'b' * 30} |",
        f"| c    | {'c' * 30} |",
        "",
        "- Wall clock, all rows: 2 hours",
        "- Changes, all rows: glu = yes, n_layers = 6",
        "",
        "Claims:",
        "",
        "- a: CLM-001, CLM-002",
        "",
        "Note:",
        "",
        f"- a: {'a' * 70}",
        f"- b: {'b' * 70}",
        f"- c: {'c' * 70}",
        "",
        "Question:",
        "",
        "- b: why?",
        "",
    ]


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.lists(st.lists(VALUES, min_size=n, max_size=n), min_size=1, max_size=5)
    )
)
def test_no_value_is_lost_and_only_last_columns_stick_out(values: list[list[object]]) -> None:
    rows = [
        {"name": f"row{i}", **{f"column_{j}": value for j, value in enumerate(row)}}
        for i, row in enumerate(values)
    ]
    lines = lines_of(rows)
    text = "\n".join(lines)
    for row in rows:
        for value in filter(None, row.values()):
            shown = f"{value:,}" if isinstance(value, int) else " ".join(str(value).split())
            assert shown in text
    heads = [line for line in lines if line.startswith("| name")]
    assert max(map(len, heads), default=0) <= WIDEST


def test_ablations_and_alternatives_read_as_tables_at_a_terminal() -> None:
    for result in (MATRIX, ALTERNATIVES):
        text = text_of(result)
        assert "###" not in text
        rows = [line for line in text.split("\n") if line.startswith("|")]
        assert max(map(len, rows)) <= WIDEST
