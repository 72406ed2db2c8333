"""A worktree's status page gains our bullets and loses nothing."""

from dataclasses import replace

import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.markdown.worktree_status import WorktreeLine, worktree_note

STATE = WorktreeLine("Latest Reliable State", "Compute budget", "1,300 GPU-hours.", "2026-11-30")
RESULT = WorktreeLine("Local Hot Results", "Compute of pilot", "11,900 tokens/s.", "2026-11-30")
STATE_BULLET = "- Compute budget: 1,300 GPU-hours. (2026-11-30)\n"
RESULT_BULLET = "- Compute of pilot: 11,900 tokens/s. (2026-11-30)\n"
PAGE = (
    "# Worktree\n\n## Identity\n\nbranch x\n\n## Latest Reliable State\n\n- Runs.\n\n"
    "## Local Hot Results\n\nNone yet.\n\n## Exit Condition\n\ncontinue\n"
)
NOTED = PAGE.replace("- Runs.\n", f"- Runs.\n{STATE_BULLET}").replace(
    "None yet.\n", f"None yet.\n\n{RESULT_BULLET}"
)


def note(text: str, *lines: WorktreeLine) -> str:
    noted = worktree_note(text, lines)
    assert worktree_note(noted, lines) == noted
    return noted


def test_bullets_go_to_the_end_of_their_sections() -> None:
    assert note(PAGE, STATE, RESULT) == NOTED
    windows = "\ufeff" + PAGE.replace("\n", "\r\n")
    assert note(windows, STATE, RESULT) == "\ufeff" + NOTED.replace("\n", "\r\n")


def test_a_missing_page_or_section_is_begun() -> None:
    page = f"# Worktree Status\n\n## Latest Reliable State\n\n{STATE_BULLET}"
    assert note("", STATE) == page
    assert note(page, RESULT) == f"{page}\n## Local Hot Results\n\n{RESULT_BULLET}"
    assert note("# W\n\n## Local Hot Results", RESULT) == (
        f"# W\n\n## Local Hot Results\n\n{RESULT_BULLET}".removesuffix("\n")
    )


def test_the_same_finding_on_another_day_changes_nothing() -> None:
    assert note(NOTED, replace(STATE, date="2026-12-24")) == NOTED
    assert note(NOTED, replace(STATE, text="900 GPU-hours.", date="2026-12-24")) == NOTED.replace(
        "1,300 GPU-hours. (2026-11-30)", "900 GPU-hours. (2026-12-24)"
    )


def test_a_page_with_an_open_fence_is_refused() -> None:
    with pytest.raises(FormatError, match="a section `Latest Reliable State` would not be seen"):
        note("# W\n\n```\n", STATE)
