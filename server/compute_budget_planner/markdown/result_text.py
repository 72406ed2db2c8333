"""A tool's result as text, for a terminal and for clients that show a model text only.

Nothing is left out and nothing is said that the structured result does not say: the summary
first, quantities as `low – expected – high unit`, tables, and at the end what to ask and what
comes next. The layout follows from the shape of a result, so a new result needs no code here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from pydantic import BaseModel

from compute_budget_planner.markdown.blocks import fenced
from compute_budget_planner.markdown.escape import escaped
from compute_budget_planner.markdown.labels import heading_of, unit_of
from compute_budget_planner.markdown.result_cells import cell, fits_a_cell, is_line, one_line
from compute_budget_planner.markdown.result_tables import tables
from compute_budget_planner.results import NextStep

_LAST = ("questions", "next")
_NAMES = ("name", "run", "path", "job_name")
_WIDEST_ROW = 7
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
        yield from (one_line(summary), "")
    lines = [f"Warning: {one_line(warning)}" for warning in fields.pop("warnings", ())]
    last = [(name, fields.pop(name)) for name in _LAST if name in fields]
    for name, value in fields.items():
        if is_line(value) and value not in (None, ""):
            meaning = type(model).model_fields[name].description
            lines.append(_line(name, value) + (f" ({meaning})" if meaning else ""))
    yield from _bullets(lines)
    for name, value in chain(fields.items(), last):
        if value and not is_line(value):
            yield _heading(heading_of(name), level)
            yield ""
            yield from _section(name, value, level)


def _line(name: str, value: object) -> str:
    text = f"{heading_of(name)}: {cell(value)}"
    return f"{text} {unit_of(name)}".rstrip()


def _section(name: str, value: object, level: int) -> Iterator[str]:
    match value:
        case str():
            yield from (*fenced("mermaid" if name == "chart" else "", value.rstrip("\n")), "")
        case BaseModel():
            yield from _body(value, level + 1)
        case Mapping():
            yield from _mapping(value)
        case [*items]:
            models = [item for item in items if isinstance(item, BaseModel)]
            if models and not isinstance(models[0], NextStep):
                yield from _models(name, models, level)
            else:
                yield from _bullets(map(cell, items))


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
        yield from tables(rows, {})
    else:
        yield from _bullets(f"{one_line(name)}: {cell(entry)}" for name, entry in entries.items())


def _models(name: str, models: Sequence[BaseModel], level: int) -> Iterator[str]:
    """Show models of one kind as tables when their rows are short, else one block each."""
    rows = [dict(model) for model in models]
    said = {c: None for row in rows for c, value in row.items() if value not in (None, "", [], {})}
    flat = all(fits_a_cell(value) for row in rows for value in row.values())
    if flat and (len(rows) > 1 or len(said) <= _WIDEST_ROW):
        yield from tables(
            [{c: row[c] for c in rows[0] if c in said} for row in rows], _meanings(models[0])
        )
        return
    for number, model in enumerate(models, start=1):
        title = next((getattr(model, n) for n in _NAMES if getattr(model, n, "")), "")
        yield from (_heading(escaped(title) or f"{heading_of(name)} {number}", level + 1), "")
        yield from _body(model, level + 2)


def _meanings(model: BaseModel) -> dict[str, str]:
    fields = type(model).model_fields
    return {name: field.description for name, field in fields.items() if field.description}
