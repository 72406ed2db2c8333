from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import BoardRow, SourceFile
from compute_budget_planner.readers.memory_boards import READER
from file_facts import problem_texts, reading_of
from hypothesis import given
from hypothesis import strategies as st

EVIDENCE = """\
# Evidence Board

| ID | Kind | Status | Summary | Supports |
|---|---|---|---|---|
| EVD-000 | experiment | needed | template | CLM-000 |
| EVD-002 | Experiment | Available | Pilot \\| first | CLM-003 |

| EVD-001 | validation | pending | — | CLM-001 |

## Experiment Families

| ID | Status | Hypothesis | Run IDs | Metrics |
|---|---|---|---|---|
| EXP-001 | COMPLETED | stable | pilot, `main` | loss |

## EVD-003 - Baseline comparison: Longformer
- Status: needed
- Linked claims: CLM-002
- Evidence type: matched-run
"""

RISK = """\
# Risk Board

| Status | ID | Summary | Threatens | Owner's note |
|---|---|---|---|---|
| open | RSK-021 | too dear | DEC-028 | ask |

## RSK-002 - Missing or unfair baseline: BigBird

- Status: Open
- Severity: Major
- Linked claims: CLM-004
- Description: BigBird is not run.

## Accepted Risks

- RSK-020 is accepted.
"""


def test_evidence_and_experiments_are_rows_whatever_their_form():
    reading = reading_of(READER, "memory/evidence-board.md", EVIDENCE)
    assert (reading.kind, reading.facts, reading.problems) == ("board", (), ())
    path = "memory/evidence-board.md"
    assert reading.board_rows == (
        BoardRow(
            "EVD-002",
            "evidence",
            {
                "id": "EVD-002",
                "kind": "experiment",
                "status": "available",
                "summary": "Pilot | first",
                "supports": "CLM-003",
            },
            f"{path}:6",
        ),
        BoardRow(
            "EVD-001",
            "evidence",
            {
                "id": "EVD-001",
                "kind": "validation",
                "status": "pending",
                "summary": "",
                "supports": "CLM-001",
            },
            f"{path}:8",
        ),
        BoardRow(
            "EXP-001",
            "evidence",
            {
                "id": "EXP-001",
                "status": "completed",
                "hypothesis": "stable",
                "run ids": "pilot, main",
                "metrics": "loss",
            },
            f"{path}:14",
        ),
        BoardRow(
            "EVD-003",
            "evidence",
            {
                "summary": "Baseline comparison: Longformer",
                "supports": "CLM-002",
                "kind": "matched-run",
                "status": "needed",
                "linked claims": "CLM-002",
                "evidence type": "matched-run",
            },
            f"{path}:16",
        ),
    )


def test_columns_stand_in_any_order_and_headings_are_entries_too():
    reading = reading_of(READER, "risk-board.md", RISK)
    assert reading.board_rows == (
        BoardRow(
            "RSK-021",
            "risk",
            {
                "status": "open",
                "id": "RSK-021",
                "summary": "too dear",
                "threatens": "DEC-028",
                "owner's note": "ask",
            },
            "risk-board.md:5",
        ),
        BoardRow(
            "RSK-002",
            "risk",
            {
                "summary": "BigBird is not run.",
                "threatens": "CLM-004",
                "status": "open",
                "severity": "high",
                "linked claims": "CLM-004",
                "description": "BigBird is not run.",
            },
            "risk-board.md:7",
        ),
    )


def test_a_claim_board_without_its_title_is_known_by_its_columns():
    text = "| ID | Lifecycle state | Claim |\n|---|---|---|\n| CLM-001 | Active | It scales. |\n"
    reading = reading_of(READER, "claims.md", text)
    assert reading.board_rows == (
        BoardRow(
            "CLM-001",
            "claim",
            {"id": "CLM-001", "lifecycle state": "active", "claim": "It scales."},
            "claims.md:3",
        ),
    )


def test_an_id_that_stands_twice_is_told_and_both_entries_are_kept():
    text = RISK.replace("RSK-002", "RSK-021")
    reading = reading_of(READER, "risk-board.md", text)
    assert [row.id for row in reading.board_rows] == ["RSK-021", "RSK-021"]
    assert problem_texts(reading) == [
        "risk-board.md:7: `RSK-021` stands at risk-board.md:5 already"
    ]


def test_line_ends_of_windows_change_nothing():
    plain = reading_of(READER, "risk-board.md", RISK)
    assert reading_of(READER, "risk-board.md", RISK.replace("\n", "\r\n")) == plain


def test_other_markdown_is_no_board():
    others = (
        ("a.md", "# Action Board\n\n| ID | Status | Owner |\n|---|---|---|\n"),
        ("a.txt", RISK),
        ("a.md", ""),
    )
    for path, text in others:
        assert not READER.matches(SourceFile(path, text))


PIECES = st.sampled_from(
    [*EVIDENCE.splitlines(keepends=True), *RISK.splitlines(keepends=True), "|", "## RSK-009\x0c\n"]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=10)), max_size=14).map("".join))
def test_any_text_under_a_board_s_title_gives_a_reading(text: str):
    file = SourceFile("board.md", "# Risk Board\n" + text)
    reading = READER.read(file, load_reference())
    assert all(row.id and row.board == "risk" for row in reading.board_rows)
