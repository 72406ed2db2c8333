"""Notes in a worktree's own status page, where a branch's results stay until they are confirmed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compute_budget_planner.errors import FormatError
from compute_budget_planner.markdown.board_page import BoardPage, Heading, bare, read_page
from compute_budget_planner.markdown.board_search import subject_in, subject_of
from compute_budget_planner.markdown.escape import escaped

STATUS_NAME = "worktree-status.md"

_TITLE = "# Worktree Status"
_BULLETS = ("- ", "* ", "+ ")


@dataclass(frozen=True)
class WorktreeLine:
    """One bullet, `subject: text (date)`, in one of the two sections that are ours to add to."""

    section: Literal["Latest Reliable State", "Local Hot Results"]
    subject: str
    text: str
    date: str


def worktree_note(text: str, lines: Sequence[WorktreeLine]) -> str:
    """Return the status page with these bullets; an empty page begins with a title.

    A bullet of the same subject is replaced when it says something else, whatever its date;
    otherwise the new one goes to the end of its section. A missing section is added at the end of
    the page.

    Raises:
        RequestError: a bullet has no subject.
        FormatError: a section at the end of the page would not be seen as one.
    """
    for line in lines:
        text = _noted(text if text.strip("\ufeff \t\r\n") else f"{text}{_TITLE}\n", line)
    return text


def _noted(text: str, line: WorktreeLine) -> str:
    page = read_page(text)
    said = escaped(f"{subject_of(line.subject)}: {line.text}")
    bullet = f"- {said} ({line.date})"
    heading = next((h for h in page.headings if bare(h.title) == bare(line.section)), None)
    if heading is None:
        return _with_section(page, line.section, bullet)
    stop = page.end_of_section(heading)
    for index in range(heading.line + 1, stop):
        there = _bullet_text(page.lines[index])
        if there and subject_in(there) == subject_in(said):
            return _replaced(page, index, said, bullet)
    return _added(page, heading, stop, bullet)


def _bullet_text(line: str) -> str:
    return line[2:].strip() if line.startswith(_BULLETS) else ""


def _replaced(page: BoardPage, index: int, said: str, bullet: str) -> str:
    line = page.lines[index]
    body = line.rstrip("\r\n")
    # The date says when it was found; the same finding on another day is no news.
    if bare(_bullet_text(body).rpartition(" (")[0]) == bare(said):
        return page.text
    return page.with_line(index, bullet + line[len(body) :])


def _added(page: BoardPage, heading: Heading, stop: int, bullet: str) -> str:
    last = max(i for i in range(heading.line, stop) if i == heading.line or page.lines[i].strip())
    runs_on = page.lines[last].startswith((*_BULLETS, "  ", "\t"))
    return page.with_lines(last + 1, [bullet] if runs_on else ["", bullet])


def _with_section(page: BoardPage, title: str, bullet: str) -> str:
    above = page.lines[-1] if page.lines else ""
    before = [""] if above.strip() else []
    text = page.with_lines(len(page.lines), [*before, f"## {title}", "", bullet])
    if all(bare(heading.title) != bare(title) for heading in read_page(text).headings):
        raise FormatError(
            f"a section `{title}` would not be seen as one",
            where=STATUS_NAME,
            remedy="Close the code fence or comment that is left open above the end of the page.",
        )
    return text
