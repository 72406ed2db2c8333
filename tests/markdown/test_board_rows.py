"""A row is put where it belongs, changed only where it is ours, and found again."""

from dataclasses import replace

import pytest
from compute_budget_planner.errors import FormatError, RequestError
from compute_budget_planner.markdown.board_entries import ConventionRow, EvidenceRow, RiskRow
from compute_budget_planner.markdown.board_ids import numeric_ids
from compute_budget_planner.markdown.board_page import read_page
from compute_budget_planner.markdown.board_rows import BoardEdit, put_row
from compute_budget_planner.markdown.board_tables import board_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from irregular_boards import RISK_HEADER, RISKS, risk_boards

RISK = RiskRow(
    kind="execution",
    severity="high",
    probability="high",
    subject="Compute of the required runs",
    summary="1,300 GPU-hours needed, 1,200 available; no cut makes them fit.",
    threatens=("CLM-001", "CLM-002"),
    mitigation="Train variants on 20 B tokens.",
    date="2026-11-30",
)
RISK_CELLS = (
    "| execution | open | high | high | Compute of the required runs: 1,300 GPU-hours needed, "
    "1,200 available; no cut makes them fit. | CLM-001, CLM-002 | Train variants on 20 B tokens. "
    "| | inferred | 2026-11-30 |\n"
)
EMPTY = f"# Risk Board\n\n{RISK_HEADER}\n## Accepted Risks\n"
BOARD = f"# Risk Board\n\n{RISK_HEADER}| RSK-004 {RISK_CELLS}\n## Accepted Risks\n"
LATER = replace(
    RISK, summary="1,250 GPU-hours needed.", severity="medium", mitigation="Cut", date="2026-12-24"
)
EVIDENCE = EvidenceRow(
    status="planned",
    subject="Compute of gpt2-small",
    summary="8 A100, 1,200 GPU-hours.",
    source_paths=("code/.agent/compute-budget.md",),
    supports=("CLM-003",),
    date="2026-11-30",
)
OBSERVED = replace(
    EVIDENCE,
    status="available",
    summary="8 A100, 1,153 GPU-hours.",
    source_paths=("code/.agent/compute-budget.md", "code/outputs/log.out"),
    date="2026-12-24",
)


def put(text: str, row: RiskRow | EvidenceRow | ConventionRow, counter: int = 0) -> BoardEdit:
    edit = put_row(text, row.table, row.subject, row.cells, counter)
    again = put_row(edit.text, row.table, row.subject, row.cells, counter)
    assert (again.text, again.id, again.action) == (edit.text, edit.id, "unchanged")
    return edit


def test_a_new_row_follows_the_rows_and_precedes_the_next_heading() -> None:
    assert put(EMPTY, RISK, 3) == BoardEdit(BOARD, "RSK-004", "added")


def test_a_new_row_joins_the_fragment_below_the_header() -> None:
    expected = RISKS.replace("2026-01-02 |\n", f"2026-01-02 |\n| RSK-021 {RISK_CELLS}")
    assert put(RISKS, RISK) == BoardEdit(expected, "RSK-021", "added")


def test_line_ends_byte_order_mark_and_a_missing_last_line_end_are_kept() -> None:
    windows = "\ufeff" + EMPTY.replace("\n", "\r\n")
    assert put(windows, RISK, 3).text == "\ufeff" + BOARD.replace("\n", "\r\n")
    bare_end = RISK_HEADER.removesuffix("\n")
    assert put(bare_end, RISK).text == f"{bare_end}\n| RSK-001 {RISK_CELLS}".removesuffix("\n")
    mixed = EMPTY.replace("| --- |\n", "| --- |\r\n")
    assert put(mixed, RISK, 3).text == mixed.replace(
        "| --- |\r\n", f"| --- |\r\n| RSK-004 {RISK_CELLS}".removesuffix("\n") + "\r\n"
    )


def test_columns_are_filled_by_name_and_walls_are_escaped() -> None:
    text = "  | Owner | summary | ID | Level |\n  |---|---|---|---|\n"
    row = replace(RISK, subject="A|B", summary="`x|y` # <b>")
    assert put(text, row).text == f"{text}  | | A\\|B: \\`x\\|y\\` # &lt;b> | RSK-001 | |\n"


def test_a_changed_row_keeps_its_id_and_what_people_wrote() -> None:
    edited = BOARD.replace("CLM-001, CLM-002", "CLM-002; CLM-009").replace(
        "execution", "maintenance"
    )
    assert put(edited, LATER, 9) == BoardEdit(
        edited.replace("1,300 GPU-hours needed, 1,200 available; no cut makes them fit.", "1,250 "
                       "GPU-hours needed.")
        .replace("| high | high |", "| medium | high |")
        .replace("Train variants on 20 B tokens.", "Cut")
        .replace("CLM-002; CLM-009", "CLM-002; CLM-009; CLM-001")
        .replace("2026-11-30", "2026-12-24"),
        "RSK-004",
        "updated",
    )  # fmt: skip


def test_as_long_as_a_row_says_the_same_a_persons_judgement_stays() -> None:
    edited = BOARD.replace("| high | high |", "| low | low |").replace("Compute of", "*Compute* of")
    assert put(edited, replace(RISK, date="2026-12-24")) == BoardEdit(
        edited, "RSK-004", "unchanged"
    )


def test_empty_cells_are_filled_and_links_only_grow() -> None:
    edited = BOARD.replace("Train variants on 20 B tokens.", "—")
    linked = replace(RISK, actions=("ACT-003",), threatens=("CLM-001",), date="2026-12-24")
    assert put(edited, linked) == BoardEdit(
        BOARD.replace("tokens. | |", "tokens. | ACT-003 |").replace("2026-11-30", "2026-12-24"),
        "RSK-004",
        "updated",
    )


@pytest.mark.parametrize("status", ["mitigated", "Accepted", "`closed`"])
def test_a_risk_a_person_has_settled_is_not_touched(status: str) -> None:
    settled = BOARD.replace("| open |", f"| {status} |")
    word = status.lower().strip("`")
    note = f"its status is `{word}`, so it was left as it is"
    assert put(settled, LATER) == BoardEdit(settled, "RSK-004", "unchanged", note)


def test_a_status_of_a_persons_own_stays_while_the_figures_follow() -> None:
    pending = BOARD.replace("| open |", "| pending |")
    edit = put(pending, LATER)
    assert edit.action == "updated"
    assert "| pending | medium | high | Compute of the required runs: 1,250" in edit.text


def test_of_a_settled_and_an_open_row_the_open_one_is_ours() -> None:
    both = BOARD.replace("| RSK-004", f"| RSK-003 {RISK_CELLS.replace('open', 'closed')}| RSK-004")
    edit = put(both, LATER)
    assert (edit.id, edit.action) == ("RSK-004", "updated")


def test_a_row_moved_to_another_table_or_into_a_block_is_found_there() -> None:
    moved = f"{EMPTY}\n| Summary | ID |\n|---|---|\n| {RISK.subject}: 9 GPU-hours. | RSK-002 |\n"
    note = "it stands under `Accepted Risks` and was left as it is"
    assert put(moved, RISK) == BoardEdit(moved, "RSK-002", "unchanged", note)
    block = f"{EMPTY}\n## RSK-005 - {RISK.subject}: too much\n- Status: open\n"
    note = "it stands as a block under a heading and was left as it is"
    assert put(block, RISK) == BoardEdit(block, "RSK-005", "unchanged", note)


def test_a_placeholder_row_stays_a_placeholder() -> None:
    board = EMPTY.replace("\n\n##", f"\n| RSK-000 {RISK_CELLS}\n##", 1)
    assert put(board, RISK).id == "RSK-001"
    assert f"| RSK-000 {RISK_CELLS}" in put(board, LATER).text


def test_evidence_moves_from_planned_to_available_and_not_back() -> None:
    header = "| ID | Kind | Status | Summary | Source paths | Supports | Certainty | Updated |\n"
    board = header + "|---|---|---|---|---|---|---|---|\n"
    planned = put(board, EVIDENCE, 1)
    budget = "code/.agent/compute-budget.md"
    assert planned.text == (
        f"{board}| EVD-002 | analysis | planned | Compute of gpt2-small: 8 A100, 1,200 GPU-hours. "
        f"| {budget} | CLM-003 | inferred | 2026-11-30 |\n"
    )
    available = put(planned.text, OBSERVED, 2)
    assert available.text == (
        f"{board}| EVD-002 | analysis | available | Compute of gpt2-small: 8 A100, 1,153 "
        f"GPU-hours. | {budget}, code/outputs/log.out | CLM-003 | observed | 2026-12-24 |\n"
    )
    note = "its status is `available` already; `planned` does not take that back"
    assert put(available.text, EVIDENCE) == BoardEdit(available.text, "EVD-002", "unchanged", note)


def test_each_table_of_a_board_takes_its_own_rows() -> None:
    families = "## Experiment Families\n\n| ID | Status | Hypothesis |\n|---|---|---|\n"
    figures = "## Figures\n\n| ID | Summary |\n|---|---|\n| FIG-001 | Loss |\n"
    evidence = "## Evidence\n\n| ID | Status | Summary |\n|---|---|---|\n"
    row = "| EVD-001 | planned | Compute of gpt2-small: 8 A100, 1,200 GPU-hours. |\n"
    parts = [families, figures, evidence]
    assert put("\n".join(parts), EVIDENCE).text == "\n".join([*parts, ""])[:-1] + row


def test_a_new_rule_is_not_put_among_suspended_ones() -> None:
    suspended = (
        "## Suspended\n\n| ID | Rule | Category | Suspended | Resume condition |\n"
        "|---|---|---|---|---|\n| PC-001 | Old | git | 2026-01-01 | never |\n\n"
    )
    active = "## Active\n\n| ID | Rule | Category | Since | Notes |\n|---|---|---|---|---|\n"
    rule = ConventionRow("GPU-hours of the group", "1,200 until May.", "2026-11-30")
    added = "| PC-002 | GPU-hours of the group: 1,200 until May. | compute | 2026-11-30 | |\n"
    assert put(suspended + active, rule).text == suspended + active + added


@pytest.mark.parametrize(
    "board",
    [
        "",
        "# Risk Board\n",
        f"```\n{RISK_HEADER}```\n",
        f"```\n{RISK_HEADER}",
        "| ID | Title |\n|---|---|\n",
        "| ID | Summary |\n|---|---|\n| EVD-001 | x |\n",
        "## Closed\n\n| ID | Summary |\n|---|---|\n| RSK-001 | x |\n",
    ],
)
def test_a_board_without_a_table_for_the_row_is_refused(board: str) -> None:
    with pytest.raises(FormatError) as caught:
        put(board, RISK)
    assert str(caught.value) == (
        "memory/risk-board.md: no table here takes RSK rows. Add a table with at least the columns "
        "`ID`, `Summary`; check that no code fence or comment is left open above it."
    )


@pytest.mark.parametrize("subject", ["", " : ", "**", "\u200b"])
def test_a_row_about_nothing_is_refused(subject: str) -> None:
    with pytest.raises(RequestError, match="a board entry has no subject"):
        put(EMPTY, replace(RISK, subject=subject))


@settings(max_examples=150, deadline=None)
@given(risk_boards(), st.text("ab: |\\`*_~#&;<>-1.é\r\n", max_size=12), st.integers(0, 50))
def test_only_the_row_changes_on_any_board(board: str, subject: str, counter: int) -> None:
    row = replace(RISK, subject=f"run {subject}")
    edit = put(board, row, counter)
    assert edit.action == "added"
    before, after = read_page(board).lines, read_page(edit.text).lines
    place = next(i for i, line in enumerate(after) if edit.id in line)
    rest = [*after[:place], *after[place + 1 :]]
    assert edit.text.startswith("\ufeff") == board.startswith("\ufeff")
    # A last line without line end has one now, and the row has none instead.
    assert "".join(rest).removesuffix("\r\n").removesuffix("\n") == (
        "".join(before).removesuffix("\r\n").removesuffix("\n")
    )
    assert edit.id not in board
    assert numeric_ids(edit.id, "RSK")[0] > max([counter, *numeric_ids(board, "RSK")])
    tables = board_tables(read_page(edit.text))
    home = next(t for t in tables if any(t.cell(r, "ID") == edit.id for r in t.rows))
    assert home.sections == ("Risk Board",)
    changed = put(edit.text, replace(row, summary="less", severity="medium", date="2026-12-24"))
    assert (changed.id, changed.action) == (edit.id, "updated")
    now = read_page(changed.text).lines
    assert [i for i, (a, b) in enumerate(zip(after, now, strict=True)) if a != b] == [place]
