"""A tool's result as text, for a terminal and for clients that show a model text only.

Nothing is left out and nothing is said that the structured result does not say: the summary
first, quantities as `low – expected – high unit`, tables, and at the end what to ask and what
comes next. The layout follows from the shape of a result, so a new result needs no code here.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from pydantic import BaseModel

from compute_budget_planner.markdown.blocks import fenced, span
from compute_budget_planner.markdown.escape import escaped, plain
from compute_budget_planner.markdown.labels import column_of, heading_of, unit_of
from compute_budget_planner.numbers import shown
from compute_budget_planner.results import FactOut, NextStep, RangeOut

_LAST = ("questions", "next")
_NAMES = ("name", "run", "path", "job_name")
_LONGEST_LINE = 4_000
_WIDEST_TABLE = 7
_WIDEST_LIST = 80
_DEEPEST_HEADING = 6


def text_of(result: BaseModel) -> str:
    """Return a result as Markdown that carries every number of it, digit for digit."""
    return "\n".join(_body(result, level=2)).strip() + "\n"


def _body(model: BaseModel, level: int) -> Iterator[str]:
    """Yield the lines of a model: summary, warnings, one-line fields, sections, what is open.

    Like everything that yields lines here, it ends with an empty one.
    """
    fields = dict(model)
    summary = fields.pop("summary", "")
    if summary:
        yield from (_text(summary), "")
    lines = [f"Warning: {_text(warning)}" for warning in fields.pop("warnings", ())]
    last = [(name, fields.pop(name)) for name in _LAST if name in fields]
    for name, value in fields.items():
        if _is_line(value) and value not in (None, ""):
            meaning = type(model).model_fields[name].description
            lines.append(_line(name, value) + (f" ({meaning})" if meaning else ""))
    yield from _bullets(lines)
    for name, value in chain(fields.items(), last):
        if value and not _is_line(value):
            yield _heading(heading_of(name), level)
            yield ""
            yield from _section(name, value, level)


def _is_line(value: object) -> bool:
    if isinstance(value, str):
        return "\n" not in value
    return value is None or isinstance(value, int | float | RangeOut | FactOut)


def _line(name: str, value: object) -> str:
    text = f"{heading_of(name)}: {_cell(value)}"
    return f"{text} {unit_of(name)}".rstrip()


def _section(name: str, value: object, level: int) -> Iterator[str]:
    match value:
        case str():
            yield from (*fenced("", value.rstrip("\n")), "")
        case BaseModel():
            yield from _body(value, level + 1)
        case Mapping():
            yield from _mapping(value)
        case [*items]:
            models = [item for item in items if isinstance(item, BaseModel)]
            if models and not isinstance(models[0], NextStep):
                yield from _models(name, models, level)
            else:
                yield from _bullets(map(_cell, items))


def _bullets(items: Iterable[str]) -> Iterator[str]:
    lines = [f"- {item}" for item in items]
    yield from (*lines, "") if lines else ()


def _heading(text: str, level: int) -> str:
    return f"{'#' * min(level, _DEEPEST_HEADING)} {text}"


def _mapping(entries: Mapping[str, object]) -> Iterator[str]:
    rows = [
        {"name": name, **dict(entry)}
        for name, entry in entries.items()
        if isinstance(entry, BaseModel)
    ]
    if rows:
        yield from _table(rows)
    else:
        yield from _bullets(f"{_text(name)}: {_cell(entry)}" for name, entry in entries.items())


def _models(name: str, models: Sequence[BaseModel], level: int) -> Iterator[str]:
    """Show models of one kind as a table when their rows are short, else one block each."""
    rows = [dict(model) for model in models]
    columns = {column for row in rows for column, value in row.items() if value not in (None, [])}
    flat = all(_fits_a_cell(value) for row in rows for value in row.values())
    if flat and len(columns) <= _WIDEST_TABLE:
        yield from _table([{c: v for c, v in row.items() if c in columns} for row in rows])
        return
    for number, model in enumerate(models, start=1):
        title = next((getattr(model, n) for n in _NAMES if getattr(model, n, "")), "")
        yield from (_heading(escaped(title) or f"{heading_of(name)} {number}", level + 1), "")
        yield from _body(model, level + 2)


def _fits_a_cell(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value) and len(_cell(value)) <= _WIDEST_LIST
    return _is_line(value)


def _table(rows: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Yield a Markdown table whose columns line up, numbers to the right."""
    columns = list(rows[0])
    cells = [[escaped(_cell(row[column])) for column in columns] for row in rows]
    heads = [column_of(column) for column in columns]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    right = [all(isinstance(row[c], int | float | None) for row in rows) for c in columns]

    def row_of(texts: Sequence[str]) -> str:
        padded = (
            text.rjust(width) if numeric else text.ljust(width)
            for text, width, numeric in zip(texts, widths, right, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    yield row_of(heads)
    rules = (
        "-" * (w - 1) + (":" if numeric else "-") for w, numeric in zip(widths, right, strict=True)
    )
    yield f"| {' | '.join(rules)} |"
    yield from map(row_of, cells)
    yield ""


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return shown(value)
    if isinstance(value, list):
        return ", ".join(map(_cell, value)) or "–"
    return _of_kind(value)


def _of_kind(value: object) -> str:
    match value:
        case RangeOut():
            return span(value)
        case FactOut():
            return f"{_cell(value.value)} ({value.basis}, {_text(value.source)})"
        case NextStep():
            return _next_step(value)
        case _:
            return _text(str(value))


def _next_step(step: NextStep) -> str:
    arguments = json.dumps(step.arguments, ensure_ascii=False) if step.arguments else ""
    call = f"`{step.tool}` {_text(arguments)}".rstrip() if step.tool else ""
    question = f"Ask: {_text(step.question)}" if step.question else ""
    return " Then: ".join(part for part in (question, call) if part)


def _text(text: str) -> str:
    # On a line of its own a command must stay as it is, to be copied; only what cannot be seen
    # goes. In cells and headings every mark of Markdown loses its meaning.
    return plain(text, _LONGEST_LINE)
