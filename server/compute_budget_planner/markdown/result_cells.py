"""Single values of a result as words: what stands on a line or in the cell of a table."""

import json
from collections.abc import Mapping

from compute_budget_planner.markdown.blocks import NONE, span
from compute_budget_planner.markdown.escape import plain
from compute_budget_planner.numbers import shown
from compute_budget_planner.results import FactOut, NextStep, RangeOut

_LONGEST_LINE = 4_000
_LONGEST_LIST = 300


def is_line(value: object) -> bool:
    """Tell whether a value is said on one line."""
    if isinstance(value, str):
        return "\n" not in value
    return value is None or isinstance(value, int | float | RangeOut | FactOut)


def fits_a_cell(value: object) -> bool:
    """Tell whether a value may stand in a row: one line, a short list of words, plain changes."""
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value) and len(cell(value)) <= _LONGEST_LIST
    if isinstance(value, Mapping):
        return all(item is None or isinstance(item, str | int | float) for item in value.values())
    return is_line(value)


def cell(value: object) -> str:
    """Return a value in words; what is not there is a dash."""
    match value:
        case None:
            return NONE
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return shown(value)
        case list():
            return _joined([cell(item) for item in value]) or NONE
        case Mapping():
            return ", ".join(f"{one_line(str(k))} = {cell(v)}" for k, v in value.items()) or NONE
        case RangeOut():
            return span(value)
        case FactOut():
            return f"{cell(value.value)} ({value.basis}, {one_line(value.source)})"
        case NextStep():
            return _next_step(value)
        case _:
            return one_line(str(value))


def _joined(items: list[str]) -> str:
    """Return words with commas between them, and sentences one after the other."""
    return "".join(
        item if index == 0 else (" " if items[index - 1].endswith((".", "?")) else ", ") + item
        for index, item in enumerate(items)
    )


def one_line(text: str) -> str:
    """Return text on one line, all of it visible.

    On a line of its own a command must stay as it is, to be copied; only what cannot be seen
    goes. In cells of tables and in headings every mark of Markdown must lose its meaning besides.
    """
    return plain(text, _LONGEST_LINE)


def _next_step(step: NextStep) -> str:
    arguments = json.dumps(step.arguments, ensure_ascii=False) if step.arguments else ""
    call = f"`{step.tool}` {one_line(arguments)}".rstrip() if step.tool else ""
    question = f"Ask: {one_line(step.question)}" if step.question else ""
    return " Then: ".join(part for part in (question, call) if part)
