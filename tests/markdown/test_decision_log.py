"""Decisions are added below the last one and never changed."""

from dataclasses import replace

import pytest
from compute_budget_planner.errors import FormatError, RequestError
from compute_budget_planner.markdown.board_rows import BoardEdit
from compute_budget_planner.markdown.decision_log import DecisionBlock, append_decision
from hypothesis import given, settings
from hypothesis import strategies as st

DECISION = DecisionBlock(
    title="Shorter sequences in ablations",
    date="2026-11-30",
    decision="Ablations train on 512 tokens per sequence.",
    why="It saves 300 of 900 GPU-hours.",
    alternatives_considered="125M parameters; half the steps.",
    affects="CLM-001",
    revisit_when="the order of variants changes at 1,024.",
)
BULLETS = (
    "- Date: 2026-11-30\n"
    "- Decision: Ablations train on 512 tokens per sequence.\n"
    "- Why: It saves 300 of 900 GPU-hours.\n"
    "- Alternatives considered: 125M parameters; half the steps.\n"
    "- Affects: CLM-001\n"
    "- Revisit when: the order of variants changes at 1,024.\n"
    "- Certainty: user-stated\n"
)
BLOCK = f"## DEC-009 - Shorter sequences in ablations\n{BULLETS}"
LOG = (
    "# Decision Log\n\n```\n## DEC-007 - In a fence\n```\n\n"
    "## DEC-2026-05-02 - Baseline set for CLM-001\nDate: 2026-05-02\n\n"
    "## DEC-008 - One seed\n- **Decision:** Once.\n\n### Notes\n\nMore.\n"
)
OTHER = replace(DECISION, decision="Ablations train on 256 tokens.", date="2026-12-24")


def append(text: str, block: DecisionBlock, counter: int = 0) -> BoardEdit:
    edit = append_decision(text, block, counter)
    assert append_decision(edit.text, block, counter) == BoardEdit(edit.text, edit.id, "unchanged")
    return edit


def test_a_decision_goes_to_the_end_of_the_log() -> None:
    assert append(LOG, DECISION, 4) == BoardEdit(f"{LOG}\n{BLOCK}", "DEC-009", "added")
    assert append("", DECISION, 8).text == BLOCK
    windows = LOG.replace("\n", "\r\n").removesuffix("\r\n")
    expected = f"{LOG}\n{BLOCK}".removesuffix("\n").replace("\n", "\r\n")
    assert append(windows, DECISION).text == expected


def test_a_section_after_the_decisions_stays_after_them() -> None:
    tail = "\n## Open Questions\n\n- Which data?\n"
    assert append(LOG + tail, DECISION).text == f"{LOG}\n{BLOCK}{tail}"


def test_a_decision_stands_at_the_level_of_the_others() -> None:
    log = "## Active\n\n### DEC-001: One seed\n- Decision: Once.\n\n## Superseded\n"
    block = f"### DEC-002 - Shorter sequences in ablations\n{BULLETS}"
    assert append(log, DECISION).text == log.replace("\n## Sup", f"\n{block}\n## Sup")


def test_new_figures_are_no_new_decision() -> None:
    log = append(LOG, DECISION).text
    again = replace(DECISION, why="It saves 290 GPU-hours.", date="2026-12-24")
    assert append(log, again) == BoardEdit(log, "DEC-009", "unchanged")
    wrapped = log.replace("on 512 tokens", "on\n  **512** tokens")
    assert append(wrapped, DECISION) == BoardEdit(wrapped, "DEC-009", "unchanged")
    marked = log.replace("- Shorter sequences", "- *Shorter* Sequences")
    assert append(marked, DECISION) == BoardEdit(marked, "DEC-009", "unchanged")


def test_another_decision_supersedes_the_last_of_its_title() -> None:
    first = append(LOG, DECISION).text
    second = append(first, OTHER)
    assert second == BoardEdit(
        f"{first}\n## DEC-010 - Shorter sequences in ablations\n"
        + BULLETS.replace("2026-11-30", "2026-12-24")
        .replace("512 tokens per sequence", "256 tokens")
        .replace("It saves", "Supersedes DEC-009. It saves"),
        "DEC-010",
        "added",
    )
    back = append(second.text, DECISION)
    assert back.text.startswith(second.text)
    assert "- Why: Supersedes DEC-010. It saves" in back.text


def test_text_of_a_project_cannot_make_blocks_of_its_own() -> None:
    block = replace(DECISION, title="# x #", why="a\n## DEC-099 - b\n- Date: c", affects="")
    text = append("", block).text
    assert text.splitlines()[0] == "## DEC-001 - \\# x"
    assert "- Why: a ## DEC-099 - b - Date: c\n" in text
    assert "- Affects:\n" in text


def test_what_cannot_be_logged_is_refused() -> None:
    with pytest.raises(FormatError, match=r"memory/decision-log.md: a new block would not be seen"):
        append("# Log\n\n```\nleft open\n", DECISION)
    for empty in (replace(DECISION, title=" ** "), replace(DECISION, decision="")):
        with pytest.raises(RequestError, match="a decision has no title or says nothing"):
            append("", empty)


@settings(max_examples=80, deadline=None)
@given(
    st.text("ab:-# |\\`*_&;<>1.\n\r", min_size=1, max_size=20).map(lambda text: f"x{text}"),
    st.text("ab:-# |\\`*_&;<>1.\n\r", max_size=20).map(lambda text: f"{text}x"),
    st.sampled_from([LOG, "", "\ufeff# Log\r\n", "prose", f"{LOG}\n\n# End\n"]),
)
def test_any_decision_is_logged_once(title: str, decision: str, log: str) -> None:
    block = replace(DECISION, title=title, decision=decision)
    edit = append(log, block)
    assert edit.action == "added"
    other = append(edit.text, replace(block, decision=f"{decision}y"))
    assert other.action == "added"
    assert f"Supersedes {edit.id}." in other.text
