"""The fenced JSON at the end of a budget: what the tool must know to refresh the page.

It holds the inputs of the plan, the hash of every file it was made from, the headline numbers,
the decisions, and a short hash of every generated line. By those hashes a refresh tells what a
person wrote inside a generated part from what the tool wrote there.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from hashlib import sha256
from typing import NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from compute_budget_planner.errors import FormatError
from compute_budget_planner.markdown.blocks import fenced
from compute_budget_planner.requests import Decision

SCHEMA_VERSION = 1
MACHINE = "machine"
"""Name of the section that holds the block."""

Quantities = dict[str, list[float] | int | float | str]
"""Numbers and verdicts by name; ranges are `[low, expected, high]`."""
Headline = dict[str, Quantities]
"""Quantities by run, smoke test and whole plan."""

_NOTE = "For the tool, which reads this block when the budget is refreshed:"
_FENCE = re.compile(r"(`{3,})json\s*")
_REMEDY = (
    "Restore the block from an earlier version of the page, or delete everything from "
    f"`<!-- budget:begin {MACHINE} -->` to `<!-- budget:end {MACHINE} -->` to have it written anew."
)
_HASH_DIGITS = 8


class ChangeEntry(BaseModel):
    """A line of the change log."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date: str
    change: str


class MachineBlock(BaseModel):
    """Contents of the block.

    `section_lines` holds the short hashes of a section's lines, separated by spaces.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: int = SCHEMA_VERSION
    generated: str
    tool_version: str
    inputs: dict[str, object] = Field(default_factory=dict)
    input_sha256: dict[str, str] = Field(default_factory=dict)
    decisions: list[Decision] = Field(default_factory=list)
    headline: Headline = Field(default_factory=dict)
    change_log: list[ChangeEntry] = Field(default_factory=list)
    section_lines: dict[str, str] = Field(default_factory=dict)


def line_hashes(lines: Sequence[str]) -> list[str]:
    """Return a short hash of every line, blanks at its end not counted."""
    return [sha256(_bytes(line.rstrip())).hexdigest()[:_HASH_DIGITS] for line in lines]


def machine_lines(block: MachineBlock) -> list[str]:
    """Return the lines of the section that holds the block."""
    text = json.dumps(block.model_dump(mode="json"), ensure_ascii=False, allow_nan=False, indent=2)
    return [_NOTE, "", *fenced("json", _visible(text))]


def outside_block(lines: Sequence[str]) -> list[str]:
    """Return the lines of the machine section that are not the block itself."""
    span = _fence_span(lines)
    return list(lines) if span is None else [*lines[: span[0]], *lines[span[1] + 1 :]]


def parse_block(lines: Sequence[str], *, path: str, first_line: int) -> MachineBlock:
    """Return the block in the lines of the machine section, of which the first has that number.

    Raises:
        FormatError: there is no block, it is not JSON, or it is not a block of this version.
    """
    span = _fence_span(lines)
    if span is None:
        _refuse("the machine block has no fenced json", f"{path}:{first_line}")
    start = first_line + span[0] + 1
    try:
        data = json.loads("\n".join(lines[span[0] + 1 : span[1]]), parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        what = f"the machine block is not JSON ({error.msg.lower()})"
        _refuse(what, f"{path}:{start + error.lineno - 1}")
    except (ValueError, RecursionError) as error:
        _refuse(f"the machine block cannot be read ({error})", f"{path}:{start}")
    if not isinstance(data, dict):
        _refuse("the machine block is not a JSON object", f"{path}:{start}")
    version = data.get("schema_version")
    if version != SCHEMA_VERSION:
        _refuse(
            f"the machine block has schema_version {version!r}, this tool reads {SCHEMA_VERSION}",
            f"{path}:{start}",
        )
    try:
        return MachineBlock.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        _refuse(f"the machine block is wrong at `{key}`: {first['msg'].lower()}", f"{path}:{start}")


def _fence_span(lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the indices of the opening and the closing fence."""
    for begin, line in enumerate(lines):
        if opening := _FENCE.fullmatch(line):
            closing = opening[1]
            ends = (i for i in range(begin + 1, len(lines)) if lines[i].rstrip() == closing)
            end = next(ends, None)
            return None if end is None else (begin, end)
    return None


def _visible(text: str) -> str:
    """Return JSON with characters nobody can see written as escapes; they are all in strings."""
    return "".join(
        json.dumps(c)[1:-1] if c != "\n" and unicodedata.category(c)[0] in "CZ" and c != " " else c
        for c in text
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _no_constant(name: str) -> NoReturn:
    text = f"{name} is not a number"
    raise ValueError(text)


def _refuse(what: str, where: str) -> NoReturn:
    raise FormatError(what, where=where, remedy=_REMEDY)
