"""Boards are edited entry by entry; other layouts and foreign entries are refused."""

from dataclasses import replace
from pathlib import Path

import pytest
from compute_budget_planner.errors import PlannerError
from compute_budget_planner.markdown.board_entries import (
    ActionRow,
    ConventionRow,
    EvidenceRow,
    HandoffRow,
    RiskRow,
)
from compute_budget_planner.markdown.boards import (
    BOARDS,
    BoardUpdate,
    Entry,
    board_edit,
    from_template,
    refuse_yaml_boards,
)
from compute_budget_planner.markdown.decision_log import DecisionBlock

PACKAGE = Path(__file__).parents[2]
TEMPLATES = {
    page.name: page.read_text(encoding="utf-8")
    for page in (PACKAGE / "memory_templates").glob("*.md")
}
RISK = RiskRow(
    "reviewer", "medium", "medium", "Undisclosed compute", "No page names it.", ("CLM-001",),
    "Add the disclosure.", "2026-11-30", ("ACT-001",),
)  # fmt: skip
EVIDENCE = EvidenceRow("planned", "Compute", "9 GPU-hours.", ("a.md",), ("CLM-001",), "2026-11-30")
DECISION = DecisionBlock("Less", "2026-11-30", "Do less.", "Cost.", "More.", "CLM-001", "Never.")
ACTION = ActionRow("Disclosure", "Write it.", ("RSK-001",), "Draft", "2026-11-30")
HANDOFF = HandoffRow(
    "ready", "Jobs of pilot", "Two jobs.", ("a.md",), "Logs", ("EXP-001",), "Loss falls",
    "Facts change", "2026-11-30",
)  # fmt: skip
CONVENTION = ConventionRow("GPU-hours", "1,200 in all.", "2026-11-30")


def edit(board: str, text: str, *entries: Entry, **counters: int) -> BoardUpdate:
    update = board_edit(board, text, entries, counters)
    again = board_edit(board, update.text, entries, counters)
    assert (again.text, again.counters) == (update.text, {})
    assert {done.action for done in again.edits} <= {"unchanged"}
    return update


def test_a_new_board_is_made_of_its_template() -> None:
    text = from_template("memory/risk-board.md", TEMPLATES, "My | project")
    assert text == TEMPLATES["risk-board.md"].replace("{{PROJECT_NAME}}", "My \\| project")
    row = (
        "| RSK-003 | reviewer | open | medium | medium | Undisclosed compute: No page names it. "
        "| CLM-001 | Add the disclosure. | ACT-001 | inferred | 2026-11-30 |\n"
    )
    update = edit("memory/risk-board.md", text, RISK, risk=2, evidence=7)
    assert update.text == text.replace("\n\n## Accepted", f"\n{row}\n## Accepted")
    assert dict(update.counters) == {"risk": 3}


def test_every_entry_of_a_call_gets_an_id_of_its_own() -> None:
    text = from_template("memory/evidence-board.md", TEMPLATES, "p")
    update = edit(
        "memory/evidence-board.md", text, EVIDENCE, replace(EVIDENCE, subject="Pilot"), evidence=27
    )
    assert [(done.id, done.action) for done in update.edits] == [
        ("EVD-028", "added"),
        ("EVD-029", "added"),
    ]
    assert dict(update.counters) == {"evidence": 29}
    assert update.text.index("EVD-029") < update.text.index("## Experiment Families")
    log = from_template("memory/decision-log.md", TEMPLATES, "p")
    logged = edit("memory/decision-log.md", log, DECISION, replace(DECISION, title="Later"))
    assert dict(logged.counters) == {"decision": 2}


def test_the_optional_boards_take_one_row_each_in_either_form() -> None:
    action = "| ID | Status | Owner | Component | Summary | Links | Next step | Due | Updated |\n"
    action += "|---|---|---|---|---|---|---|---|---|\n"
    assert edit("memory/action-board.md", action, ACTION).text == (
        f"{action}| ACT-001 | todo | agent | code | Disclosure: Write it. | RSK-001 | Draft | "
        "| 2026-11-30 |\n"
    )
    handoff = (
        "| ID | Status | Producer | Consumer | From | To | Payload | Source paths | "
        "Expected output | Linked objects | Acceptance check | Staleness trigger | Updated |\n"
        + "|---" * 13
        + "|\n"
    )
    assert edit("memory/handoff-board.md", handoff, HANDOFF).text == (
        f"{handoff}| HND-001 | ready | compute-budget-planner | run-experiment | code | code "
        "| Jobs of pilot: Two jobs. | a.md | Logs | EXP-001 | Loss falls | Facts change "
        "| 2026-11-30 |\n"
    )
    odd = (
        "| ID | Status | Producer | Consumer | Payload | Source paths | Expected output | "
        "Acceptance check | Linked IDs | Certainty | Updated |\n" + "|---" * 11 + "|\n"
    )
    assert edit("memory/handoff-board.md", odd, HANDOFF).text == (
        f"{odd}| HND-001 | ready | compute-budget-planner | run-experiment "
        "| Jobs of pilot: Two jobs. | a.md | Logs | Loss falls | EXP-001 | inferred "
        "| 2026-11-30 |\n"
    )
    rules = "## Active\n\n| ID | Rule | Category | Since | Notes |\n|---|---|---|---|---|\n"
    update = edit("memory/project-conventions.md", rules, CONVENTION)
    assert update.text == (
        f"{rules}| PC-001 | GPU-hours: 1,200 in all. | compute | 2026-11-30 | |\n"
    )
    assert dict(update.counters) == {}


def test_evidence_boards_without_every_column_take_the_rest() -> None:
    ten = "| ID | Kind | Status | Summary | Source paths | Supports | Weakens | Traced by | "
    ten += "Certainty | Updated |\n" + "|---" * 10 + "|\n"
    ten += "| EVD-001 | validation | pending | Seen | x | — | — | — | verified | 2026-01-01 |\n"
    assert edit("memory/evidence-board.md", ten, EVIDENCE).text == (
        f"{ten}| EVD-002 | analysis | planned | Compute: 9 GPU-hours. | a.md | CLM-001 | | "
        "| inferred | 2026-11-30 |\n"
    )


@pytest.mark.parametrize(
    ("board", "entries", "message"),
    [
        (
            "memory/risk-bord.md",
            [RISK],
            "memory/risk-bord.md: this board is not written. Did you mean `memory/risk-board.md`",
        ),
        (
            "memory/risk-board.md",
            [EVIDENCE],
            "memory/risk-board.md: EVD entries do not belong here. `memory/evidence-board.md`.",
        ),
        (
            "memory/risk-board.md",
            [DECISION],
            "memory/risk-board.md: DEC entries do not belong here. `memory/decision-log.md`.",
        ),
        (
            "memory/risk-board.md",
            [RISK, replace(RISK, subject="undisclosed  Compute")],
            "memory/risk-board.md: two entries are about `undisclosed Compute`. Keep one of them.",
        ),
        (
            "memory/boards/risks.yaml",
            [RISK],
            "memory/boards/risks.yaml: boards in YAML have a schema of their own and are not writ",
        ),
    ],
)
def test_what_does_not_belong_is_refused(board: str, entries: list[Entry], message: str) -> None:
    with pytest.raises(PlannerError) as caught:
        board_edit(board, TEMPLATES["risk-board.md"], entries, {})
    assert str(caught.value).startswith(message)


def test_layouts_with_a_schema_are_refused_and_ours_are_not() -> None:
    refuse_yaml_boards([*BOARDS, "memory/project.yaml"])
    with pytest.raises(PlannerError, match="`expected_runtime` before it is approved"):
        refuse_yaml_boards(["memory/risk-board.md", "lab/research/experiment-ledger.yaml"])


def test_a_board_without_template_is_not_made_up() -> None:
    with pytest.raises(PlannerError) as caught:
        from_template("memory/action-board.md", {"risk-board.md": ""}, "p")
    assert str(caught.value) == (
        "memory/action-board.md: the board does not exist, and there is no template for it. "
        "Create it with `research-project-memory`. Templates: `risk-board.md`."
    )
