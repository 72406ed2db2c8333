"""Put one row into a table of a board: updated where it is there already, else appended.

What a refresh changes in a row that is there:

- The text when it says something new, and with it the columns judged from it. As long as the text
  is the same, a person's other severity or mitigation stays, so the text must carry the numbers
  the judgement rests on.
- Columns of links gain what is missing; nothing is taken out of them.
- The status moves forward along the row's own progress, never back.
- Empty cells are filled; every other cell is left to its author, the id always.

A row that a person has settled (a risk accepted, evidence cut) or moved under a heading such as
`Closed` is not touched at all: what was settled were the numbers it shows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from compute_budget_planner.errors import FormatError
from compute_budget_planner.markdown.board_ids import next_id
from compute_budget_planner.markdown.board_page import BoardPage, bare, read_page
from compute_budget_planner.markdown.board_search import (
    TableKind,
    block_of,
    home,
    retired,
    rows_of,
    subject_of,
    tables_of,
)
from compute_budget_planner.markdown.board_tables import (
    BoardRow,
    BoardTable,
    board_tables,
    with_cells,
)
from compute_budget_planner.markdown.escape import escaped, plain

_SEPARATOR = re.compile(r"\s*(?:[,;]|<br\s*/?>)\s*")


@dataclass(frozen=True)
class BoardEdit:
    """A board after one entry was put into it; `note` says why an entry was left as it was."""

    text: str
    id: str
    action: Literal["added", "updated", "unchanged"]
    note: str = ""


def put_row(
    text: str, kind: TableKind, subject: str, cells: Mapping[str, str], counter: int = 0
) -> BoardEdit:
    """Return the board with the row of a subject.

    `cells` are raw texts by column, the text cell without its subject. Columns the table lacks
    are skipped, columns it has beyond them stay empty. `counter` is that of the ids' prefix.

    Raises:
        RequestError: the subject is empty.
        FormatError: no table of the board can take the row, or it would not be found again.
    """
    written = {name: escaped(value) for name, value in cells.items()}
    written[kind.text] = escaped(f"{subject_of(subject)}: {cells[kind.text]}")
    page = read_page(text)
    tables = tables_of(board_tables(page), kind)
    found = list(rows_of(tables, kind, written[kind.text]))
    # Of several rows one that is still open is ours; the settled ones are history.
    for table, row in found:
        if not _left_alone(table, row, kind, written):
            return _updated(page, table, row, kind, written)
    if found:
        table, row = found[0]
        note = _left_alone(table, row, kind, written)
        return BoardEdit(text, table.cell(row, "ID"), "unchanged", note)
    if block := block_of(page, kind, written[kind.text]):
        note = "it stands as a block under a heading and was left as it is"
        return BoardEdit(text, block, "unchanged", note)
    return _appended(page, tables, kind, written, next_id(text, kind.prefix, counter))


def _left_alone(
    table: BoardTable, row: BoardRow, kind: TableKind, written: Mapping[str, str]
) -> str:
    """Return why a row is not touched, empty when it may be."""
    status = bare(table.cell(row, "Status"))
    new = bare(written.get("Status", ""))
    if status in kind.settled:
        return f"its status is `{status}`, so it was left as it is"
    if {status, new} <= set(kind.progress) and _steps(kind, status) > _steps(kind, new):
        return f"its status is `{status}` already; `{new}` does not take that back"
    if heading := retired(table):
        return f"it stands under `{plain(heading)}` and was left as it is"
    return ""


def _steps(kind: TableKind, status: str) -> int:
    return kind.progress.index(status)


def _updated(
    page: BoardPage, table: BoardTable, row: BoardRow, kind: TableKind, written: Mapping[str, str]
) -> BoardEdit:
    entry = table.cell(row, "ID")
    said = bare(table.cell(row, kind.text)) != bare(written[kind.text])
    moved = _moves(table.cell(row, "Status"), written.get("Status", ""), kind)
    changes: dict[str, str] = {}
    for name, new in written.items():
        old = table.cell(row, name)
        if not new or name == "Updated" or bare(old) == bare(new):
            continue
        if name in kind.links:
            changes[name] = _joined(old, new)
        elif not old or _ours(name, kind, said=said, moved=moved):
            changes[name] = new
    columns = {table.column(name): new for name, new in changes.items()}
    there = {
        index: new
        for index, new in columns.items()
        if index is not None and row.cells[index : index + 1] != (new,)
    }
    if not there:
        return BoardEdit(page.text, entry, "unchanged")
    updated = table.column("Updated")
    if updated is not None and written.get("Updated"):
        there[updated] = written["Updated"]
    line = with_cells(page.lines[row.line], there)
    return BoardEdit(page.with_line(row.line, line), entry, "updated")


def _moves(old: str, new: str, kind: TableKind) -> bool:
    both = {bare(old), bare(new)} <= set(kind.progress)
    return both and _steps(kind, bare(old)) < _steps(kind, bare(new))


def _ours(name: str, kind: TableKind, *, said: bool, moved: bool) -> bool:
    if name == "Status":
        return moved
    return (name == kind.text and said) or (name in kind.judged and (said or moved))


def _joined(old: str, new: str) -> str:
    """Return a list with what is missing added, in the way it is separated already."""
    present = {bare(item) for item in _SEPARATOR.split(old)}
    missing = [item for item in _SEPARATOR.split(new) if bare(item) not in present]
    separator = "; " if ";" in old else ", "
    return separator.join(([old] if old else []) + missing)


def _appended(
    page: BoardPage,
    tables: list[BoardTable],
    kind: TableKind,
    written: Mapping[str, str],
    entry: str,
) -> BoardEdit:
    table = home(tables, kind, written)
    if table is None:
        columns = ", ".join(f"`{name}`" for name in ("ID", *kind.needed, kind.text))
        raise FormatError(
            f"no table here takes {kind.prefix} rows",
            where=kind.board,
            remedy=f"Add a table with at least the columns {columns}; check that no code fence "
            "or comment is left open above it.",
        )
    by_name = {bare(name): value for name, value in written.items()} | {"id": entry}
    values = (by_name.get(bare(head), "") for head in table.header)
    row = "".join(f" {value} |" if value else " |" for value in values)
    header = page.lines[table.line]
    indent = header[: len(header) - len(header.lstrip())]
    text = page.with_lines(table.end, [f"{indent}|{row}"])
    again = rows_of(tables_of(board_tables(read_page(text)), kind), kind, written[kind.text])
    if all(entry != grown.cell(added, "ID") for grown, added in again):
        raise FormatError(
            "the row would not be part of the table",
            where=f"{kind.board}:{table.line + 1}",
            remedy="Give the table's header, rule and rows the same columns.",
        )
    return BoardEdit(text, entry, "added")
