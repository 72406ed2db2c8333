"""Evidence, claim and risk boards: what exists already, what a claim needs, what threatens it.

Boards are kept by hand: columns are found by their name, tables that a blank line split are
joined, an entry may stand as a heading with bullets, and enumerated words come in any case.
"""

import re
from collections.abc import Iterator, Mapping

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import BoardRow, Problem, Reading, SourceFile
from compute_budget_planner.readers.plan_markdown import EMPTY_CELLS, Section, read_sections

_TITLE = re.compile(r"(?mi)^#[ \t]+(evidence|claim|risk)[ \t]+board\b")
_HEADER = re.compile(r"(?mi)^[ \t]{0,9}\|?[ \t]{0,9}ID[ \t]{0,99}\|(?P<columns>.*)$")
_BOARD_OF_COLUMN = {
    "threatens": "risk",
    "supports": "evidence",
    "run ids": "evidence",
    "lifecycle state": "claim",
}
_ID = re.compile(r"[A-Z]{2,5}(?:-[A-Z]{1,8})?-\d[\d-]*\b")
_BLOCK = re.compile(rf"[ \t]{{0,3}}#+[ \t]+(?P<id>{_ID.pattern})(?P<title>.*)")
_LINE_END = re.compile(r"\r\n?|\n")
_ENUMERATED = ("kind", "status", "severity", "probability", "lifecycle state", "decision")
_SEVERITY = {"major": "high", "minor": "low"}
"""Severities of a baseline audit in the words of the risk board."""
_MOST_ROWS = 5_000


class MemoryBoardReader:
    """A board of the project's memory with evidence, claims or risks."""

    format = "memory_board"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a Markdown file has a board's title or a table with a board's columns."""
        return file.name.lower().endswith(".md") and bool(_board_of(file.text))

    def read(self, file: SourceFile, reference: Reference) -> Reading:  # noqa: ARG002  every reader takes it
        """Return the entries of the board in order; the template's entry 000 is none.

        Raises:
            FormatError: never; what is missing is a problem of the reading.
        """
        rows = list(_rows(file))
        problems = list(_repeated(rows))
        if len(rows) > _MOST_ROWS:
            text = f"only the first {_MOST_ROWS} of {len(rows)} entries were read"
            problems.append(Problem(file.path, text))
        return Reading(
            path=file.path,
            format=self.format,
            kind="board",
            problems=tuple(problems),
            board_rows=tuple(rows[:_MOST_ROWS]),
        )


def _board_of(text: str) -> str:
    """Return the board a text is by its title, or by the columns of its first table with ids."""
    if title := _TITLE.search(text):
        return title[1].lower()
    for header in _HEADER.finditer(text):
        columns = [cell.strip(" \t*`").lower() for cell in header["columns"].split("|")]
        for column, board in _BOARD_OF_COLUMN.items():
            if column in columns:
                return board
    return ""


def _rows(file: SourceFile) -> Iterator[BoardRow]:
    """Yield the entries of every section: a heading with an id first, then its tables."""
    board = _board_of(file.text)
    lines = _LINE_END.split(file.text)
    for section in read_sections(file.text):
        heading = _BLOCK.match(lines[section.line - 1]) if section.title else None
        if heading and not _is_template(heading["id"]):
            cells = _block_cells(board, heading["title"].strip(" \t#-–—:"), section)
            yield BoardRow(heading["id"], board, cells, file.at(section.line))
        for table in section.tables:
            for row in table.rows:
                found = _ID.search(row.cells.get("id", ""))
                if found and not _is_template(found[0]):
                    yield BoardRow(found[0], board, _cells(row.cells), file.at(row.line))


def _is_template(entry: str) -> bool:
    return entry.endswith("-000")


def _cells(written: Mapping[str, str]) -> dict[str, str]:
    """Return the cells of known form: blanks for dashes, enumerated words in lower case."""
    cells: dict[str, str] = {}
    for column, text in written.items():
        value = "" if text.lower() in EMPTY_CELLS else text
        if column in _ENUMERATED:
            value = value.lower()
        if column == "severity":
            value = _SEVERITY.get(value, value)
        cells[column] = value
    return cells


def _block_cells(board: str, title: str, section: Section) -> dict[str, str]:
    """Return a heading's fields, under the columns of the board as well as their own names.

    The description is the summary, else the title; the claims a block links are what a risk
    threatens and what evidence supports.
    """
    fields = section.fields.items()
    cells = {name: value for name, (value, line) in fields if line != section.line}
    columns = {"summary": cells.get("description", "") or title}
    if linked := cells.get("linked claims"):
        columns |= {"risk": {"threatens": linked}, "evidence": {"supports": linked}}.get(board, {})
    if kind := cells.get("evidence type"):
        columns["kind"] = kind
    return _cells(columns | cells)


def _repeated(rows: list[BoardRow]) -> Iterator[Problem]:
    """Yield a problem for each id that a later entry bears again."""
    first: dict[str, str] = {}
    for row in rows:
        if row.id in first:
            yield Problem(row.source, f"`{row.id}` stands at {first[row.id]} already")
        first.setdefault(row.id, row.source)


READER = MemoryBoardReader()
