"""Markdown pages into named tables, each cell with its place.

A table the server reads is announced by the paragraph right above it:

    Table `smoke_rules`. Source: ... Checked: 2026-11-30.

Tables without such a caption are for the reader alone and are skipped.
"""

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from compute_budget_planner.errors import GuideError

_CAPTION = re.compile(
    r"\ATable `(?P<name>[a-z0-9_]+)`\.\s.*\bSource: .+\bChecked: \d{4}-\d{2}-\d{2}", re.S
)
_ANNOUNCED = re.compile(r"\ATable `(?P<name>[a-z0-9_]+)`")


@dataclass(frozen=True)
class Row:
    """One row of a table; `cells` maps column name to text, `line` counts from 1."""

    page: str
    table: str
    line: int
    cells: dict[str, str]

    def place(self, column: str) -> str:
        """Return where a cell stands, for error messages."""
        key = next(iter(self.cells.values()), "")
        return f"{self.page}:{self.line}, table `{self.table}`, row `{key}`, column `{column}`"

    def text(self, column: str) -> str:
        """Return the text of a cell, empty when the cell is.

        Raises:
            GuideError: the table has no such column.
        """
        if column not in self.cells:
            raise GuideError(
                "the column is missing",
                where=self.place(column),
                remedy="Columns present: " + ", ".join(f"`{c}`" for c in self.cells) + ".",
            )
        return self.cells[column]

    def required(self, column: str) -> str:
        """Return the text of a cell that must not be empty."""
        text = self.text(column)
        if not text:
            raise GuideError("the cell is empty", where=self.place(column), remedy="Fill it in.")
        return text

    def number(self, column: str) -> float | None:
        """Return a cell as a finite number ≥ 0, or None when it is empty."""
        text = self.text(column).replace(",", "")
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not 0 <= value < float("inf"):
            raise GuideError(
                f"`{text}` is not a number",
                where=self.place(column),
                remedy="Write a plain number such as 312 or 0.85, or leave the cell empty.",
            )
        return value

    def required_number(self, column: str) -> float:
        """Return a cell that must hold a finite number ≥ 0."""
        self.required(column)
        value = self.number(column)
        assert value is not None  # noqa: S101  required() has seen text there
        return value

    def words(self, column: str) -> tuple[str, ...]:
        """Return a cell of semicolon-separated words."""
        return tuple(w.strip().strip("`") for w in self.text(column).split(";") if w.strip())


@dataclass(frozen=True)
class Table:
    """A named table of a reference page."""

    name: str
    page: str
    line: int
    rows: tuple[Row, ...]


def read_tables(page: str, text: str) -> list[Table]:
    """Return the captioned tables of one page, in order.

    Raises:
        GuideError: a caption lacks its source or date, or announces no table.
    """
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    tables: list[Table] = []
    caption: str | None = None
    caption_line = 0
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.type == "paragraph_open":
            content = tokens[index + 1].content
            if _ANNOUNCED.match(content):
                caption = content
                caption_line = (token.map or [0])[0] + 1
            else:
                caption = None
            index += 3
            continue
        if token.type == "table_open" and caption is not None:
            name = _caption_name(page, caption_line, caption)
            end = next(i for i in range(index, len(tokens)) if tokens[i].type == "table_close")
            tables.append(_table(name, page, caption_line, tokens[index:end]))
            caption = None
            index = end
        index += 1
    return tables


def _caption_name(page: str, line: int, caption: str) -> str:
    announced = _ANNOUNCED.match(caption)
    name = announced.group("name") if announced else ""
    if not _CAPTION.match(caption):
        raise GuideError(
            "the caption lacks its source or date",
            where=f"{page}:{line}, table `{name}`",
            remedy="Write: Table `name`. Source: … Checked: YYYY-MM-DD.",
        )
    return name


def _table(name: str, page: str, line: int, tokens: list[Token]) -> Table:
    header: list[str] = []
    rows: list[Row] = []
    cells: list[str] = []
    row_line = line
    in_head = False
    for position, token in enumerate(tokens):
        if token.type == "thead_open":
            in_head = True
        elif token.type == "thead_close":
            in_head = False
        elif token.type == "tr_open":
            cells = []
            row_line = (token.map or [line])[0] + 1
        elif token.type in ("th_open", "td_open"):
            cells.append(_plain(tokens[position + 1].content))
        elif token.type == "tr_close":
            if in_head:
                header = cells
            else:
                rows.append(Row(page, name, row_line, dict(zip(header, cells, strict=False))))
    return Table(name, page, line, tuple(rows))


def _plain(cell: str) -> str:
    text = cell.strip()
    if text.startswith("`") and text.endswith("`") and text.count("`") == 2:
        return text[1:-1]
    return text.replace("\\|", "|")
