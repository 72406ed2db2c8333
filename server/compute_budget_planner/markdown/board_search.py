"""Find a row of ours again on a board, and the table a new one belongs to.

A row is known by its subject, the words before the first colon of its text cell (`Compute of
gpt2-small: 1,300 of 1,200 GPU-hours …`), in whatever column order, table or heading block it
stands by now. No column or marker of our own is needed, and people may edit the rest.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from compute_budget_planner.errors import RequestError
from compute_budget_planner.markdown.board_ids import numeric_ids
from compute_budget_planner.markdown.board_page import BoardPage, bare
from compute_budget_planner.markdown.board_tables import BoardRow, BoardTable
from compute_budget_planner.markdown.escape import plain

_LONGEST_SUBJECT = 160
_RETIRED = re.compile(
    r"(?:accepted|archived?|blocked|closed|cut|expired|resolved|stale|superseded|suspended)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"(.*?):(?:\s|$)")


@dataclass(frozen=True)
class TableKind:
    """What rows of one kind look like on their board; columns are named as in the header.

    `text` holds subject and text, `needed` columns tell the table from others, `judged` ones
    follow the text, `links` hold lists. `progress` are the statuses we move a row through, in
    order; under one of `settled` a row is a person's.
    """

    board: str
    prefix: str
    text: str
    needed: tuple[str, ...] = ()
    judged: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()
    progress: tuple[str, ...] = ()
    settled: frozenset[str] = frozenset()


def subject_of(text: str) -> str:
    """Return a subject that ends at the colon after it.

    Raises:
        RequestError: nothing is left of it.
    """
    subject = plain(text, _LONGEST_SUBJECT).replace(": ", " ").rstrip(": ")
    if not bare(subject):
        raise RequestError(
            "a board entry has no subject", remedy="Name what it is about, such as the run."
        )
    return subject


def subject_in(text: str) -> str:
    """Return the subject a text opens with, for comparison; empty when it has none."""
    match = _SUBJECT.match(text)
    return bare(match[1]) if match else ""


def tables_of(tables: list[BoardTable], kind: TableKind) -> list[BoardTable]:
    """Return the tables with our ids or none yet that have the columns a row needs."""
    return [
        table
        for table in tables
        if all(table.column(name) is not None for name in ("ID", kind.text))
        and (_has_prefix(table, kind) or not any(table.cell(row, "ID") for row in table.rows))
    ]


def rows_of(
    tables: list[BoardTable], kind: TableKind, text: str
) -> Iterator[tuple[BoardTable, BoardRow]]:
    """Yield the rows about what a text cell is about, a template's placeholder never."""
    subject = subject_in(text)
    for table in tables:
        for row in table.rows:
            placeholder = 0 in numeric_ids(table.cell(row, "ID"), kind.prefix)
            if not placeholder and subject_in(table.cell(row, kind.text)) == subject:
                yield table, row


def block_of(page: BoardPage, kind: TableKind, text: str) -> str:
    """Return the id of the heading block (`## RSK-004 - subject: …`) about the same, if any."""
    for heading in page.headings:
        entry, dash, title = heading.title.partition(" - ")
        if dash and entry.startswith(f"{kind.prefix}-") and subject_in(title) == subject_in(text):
            return entry
    return ""


def retired(table: BoardTable) -> str:
    """Return the heading that says that the rows of a table are done with, if one does."""
    return next((title for title in table.sections if _RETIRED.match(title)), "")


def home(tables: list[BoardTable], kind: TableKind, columns: Collection[str]) -> BoardTable | None:
    """Return the table a new row goes to: the first with our ids, else the first without any.

    A table with far fewer of the row's columns than another is a list of something else, and
    under a heading such as `Closed` nothing new begins.
    """
    fitting = {
        table.line: sum(table.column(name) is not None for name in columns) for table in tables
    }
    enough = 2 / 3 * max(fitting.values(), default=0)
    candidates = [
        table
        for table in tables
        if all(table.column(name) is not None for name in kind.needed)
        and fitting[table.line] >= enough
        and not retired(table)
    ]
    with_ids = (table for table in candidates if _has_prefix(table, kind))
    return next(with_ids, candidates[0] if candidates else None)


def _has_prefix(table: BoardTable, kind: TableKind) -> bool:
    return any(f"{kind.prefix}-" in table.cell(row, "ID") for row in table.rows)
