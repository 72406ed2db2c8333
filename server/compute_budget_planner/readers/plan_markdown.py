"""A Markdown plan as sections: its bullets `- Field: value` and tables, each with its line."""

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

_NUMBERED = re.compile(r"^\d+\.\s*")
_FIELD = re.compile(r"(?P<key>[^:]{1,80}):(?:\s+(?P<value>.*))?", re.S)
EMPTY_CELLS = {"", "-", "—", "–", "n/a", "tbd", "none"}
"""What a cell or field in lower case holds that says nothing."""

_CELL = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class PlanRow:
    """A table row: cells by lower-case column name, line from 1."""

    cells: dict[str, str]
    line: int


@dataclass(frozen=True)
class PlanTable:
    """A table: its columns in lower case, and its rows."""

    columns: tuple[str, ...]
    rows: list[PlanRow]


@dataclass(frozen=True)
class Section:
    """What stands under a heading: fields by lower-case name with value and line, and tables."""

    title: str
    line: int
    fields: dict[str, tuple[str, int]] = field(default_factory=dict)
    tables: list[PlanTable] = field(default_factory=list)
    texts: list[tuple[str, int]] = field(default_factory=list)


def read_sections(text: str) -> list[Section]:
    """Return the sections of a plan in order, numbers before titles removed.

    A table that a blank line has split is joined again.
    """
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    sections = [Section("", 1)]
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.type == "heading_open":
            title = _NUMBERED.sub("", tokens[index + 1].content.strip())
            sections.append(Section(title.lower(), _line(token)))
        elif token.type == "table_open":
            end = next(i for i in range(index, len(tokens)) if tokens[i].type == "table_close")
            sections[-1].tables.append(_table(tokens[index:end]))
            index = end
        elif token.type == "inline":
            _take_text(sections[-1], token)
        index += 1
    return sections


def _take_text(section: Section, token: Token) -> None:
    """Read a paragraph or bullet: fields, loose table rows, free text."""
    for offset, raw in enumerate(token.content.split("\n")):
        line = _line(token) + offset
        text = raw.strip()
        if text.startswith("|") and section.tables:
            table = section.tables[-1]
            table.rows.append(PlanRow(dict(zip(table.columns, _cells(text), strict=False)), line))
            continue
        section.texts.append((text, line))
        if match := _FIELD.fullmatch(text.replace("**", "").replace("`", "")):
            value = (match["value"] or "").strip()
            section.fields.setdefault(match["key"].strip().lower(), (value, line))


def _table(tokens: list[Token]) -> PlanTable:
    rows: list[tuple[list[str], int]] = []
    for position, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append(([], _line(token)))
        elif token.type in ("th_open", "td_open"):
            rows[-1][0].append(_plain(tokens[position + 1].content))
    columns = tuple(cell.lower() for cell in rows[0][0])
    return PlanTable(
        columns,
        [PlanRow(dict(zip(columns, cells, strict=False)), line) for cells, line in rows[1:]],
    )


def _cells(text: str) -> list[str]:
    return [_plain(cell) for cell in _CELL.split(text.strip().strip("|"))]


def _plain(cell: str) -> str:
    return cell.replace("\\|", "|").replace("**", "").replace("`", "").strip()


def _line(token: Token) -> int:
    return (token.map or [0])[0] + 1
