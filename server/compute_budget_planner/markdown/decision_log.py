"""The decision log: blocks under headings, newest last; nothing in it is ever changed.

A decision is known by its title. The same decision again changes nothing; another decision under
the same title becomes a new block that names the one it supersedes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compute_budget_planner.errors import FormatError, RequestError
from compute_budget_planner.markdown.board_ids import next_id
from compute_budget_planner.markdown.board_page import BoardPage, Heading, bare, read_page
from compute_budget_planner.markdown.board_rows import BoardEdit
from compute_budget_planner.markdown.escape import escaped, plain

LOG = "memory/decision-log.md"
PREFIX = "DEC"

_LONGEST_TITLE = 160
_CLOSING_MARKS = re.compile(r"(?:\s+#+)+\s*$")
_TITLE = re.compile(r"(?P<id>DEC-[\w-]*\d)\s*(?:[-–—:]\s*)?(?P<title>.*)")
_BULLET = re.compile(
    r"[-*+]\s+[*_`]*(?P<name>[A-Za-z][A-Za-z ]{0,60}?)[*_`]*:[*_`]*\s*(?P<text>.*)"
)


@dataclass(frozen=True)
class DecisionBlock:
    """A decision the user has taken; `date` is `YYYY-MM-DD`, `certainty` how it is known.

    `decision` alone says whether it is the same as one before: it should hold no figure that a
    refresh changes; those belong in `why`.
    """

    title: str
    date: str
    decision: str
    why: str
    alternatives_considered: str
    affects: str
    revisit_when: str
    certainty: str = "user-stated"


@dataclass(frozen=True)
class _Logged:
    """A block of the log: its heading, id, title and bullets by lower-case name."""

    heading: Heading
    id: str
    title: str
    bullets: Mapping[str, str]


def append_decision(text: str, block: DecisionBlock, counter: int = 0) -> BoardEdit:
    """Return the log with a decision in it; the seven bullets are those of the board's form.

    Raises:
        RequestError: the title or the decision is empty.
        FormatError: a block at the end of the log would not be seen as one.
    """
    title = _CLOSING_MARKS.sub("", plain(block.title, _LONGEST_TITLE))
    if not bare(title) or not bare(block.decision):
        raise RequestError(
            "a decision has no title or says nothing", remedy="Give both in one sentence each."
        )
    page = read_page(text)
    logged = _logged(page)
    latest = [entry for entry in logged if bare(entry.title) == bare(escaped(title))][-1:]
    if latest and _says(latest[0], block.decision):
        return BoardEdit(text, latest[0].id, "unchanged")
    entry = next_id(text, PREFIX, counter)
    level = logged[-1].heading.level if logged else 2
    heading = f"{'#' * level} {entry} - {escaped(title)}"
    lines = [heading, *_bullet_lines(block, latest[0].id if latest else "")]
    new = _with_block(page, logged, lines)
    if entry not in [again.id for again in _logged(read_page(new))]:
        raise FormatError(
            "a new block would not be seen as a heading",
            where=LOG,
            remedy="Close the code fence or comment that is left open above the end of the log.",
        )
    return BoardEdit(new, entry, "added")


def _logged(page: BoardPage) -> list[_Logged]:
    return [
        _Logged(heading, match["id"], match["title"], _bullets(page, heading))
        for heading in page.headings
        if (match := _TITLE.fullmatch(heading.title))
    ]


def _bullets(page: BoardPage, heading: Heading) -> dict[str, str]:
    """Return the bullets below a heading by name, lines they run on over included."""
    bullets: dict[str, str] = {}
    name = ""
    for line in page.lines[heading.line + 1 : page.end_of_section(heading)]:
        match = _BULLET.match(line.strip())
        if match:
            name = bare(match["name"])
            bullets.setdefault(name, match["text"])
        elif line.strip() and name and line[0] in " \t":
            bullets[name] += f" {line.strip()}"
        else:
            name = ""
    return bullets


def _says(entry: _Logged, decision: str) -> bool:
    return bare(entry.bullets.get("decision", "")) == bare(escaped(decision))


def _bullet_lines(block: DecisionBlock, superseded: str) -> list[str]:
    why = f"Supersedes {superseded}. {block.why}" if superseded else block.why
    bullets = {
        "Date": block.date,
        "Decision": block.decision,
        "Why": why,
        "Alternatives considered": block.alternatives_considered,
        "Affects": block.affects,
        "Revisit when": block.revisit_when,
        "Certainty": block.certainty,
    }
    return [f"- {name}: {escaped(text)}".rstrip() for name, text in bullets.items()]


def _with_block(page: BoardPage, logged: Sequence[_Logged], lines: Sequence[str]) -> str:
    """Return the log with a block below the last one, before a section that follows it."""
    at = page.end_of_section(logged[-1].heading) if logged else len(page.lines)
    above = page.lines[at - 1] if at else ""
    before = [""] if above.strip() else []
    after = [""] if at < len(page.lines) else []
    return page.with_lines(at, [*before, *lines, *after])
