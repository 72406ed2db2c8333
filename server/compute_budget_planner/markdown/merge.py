"""Refresh the generated parts of a page and keep every byte a person wrote.

Text outside the markers is never touched. What a person wrote inside a generated part moves
below it, under a line that says so, before the part is written anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from compute_budget_planner.errors import RequestError
from compute_budget_planner.markdown.blocks import Section
from compute_budget_planner.markdown.machine_block import MACHINE, line_hashes, outside_block
from compute_budget_planner.markdown.marked_page import (
    BUDGET_NAME,
    MarkedPage,
    begin_marker,
    end_marker,
    marked_page,
    read_machine_block,
)

KEPT = "<!-- kept from an edited section -->"


@dataclass(frozen=True)
class _Edit:
    """Lines that take the place of the page's lines `start` to `stop` (exclusive)."""

    start: int
    stop: int
    lines: list[str]


def merge(existing_text: str, sections: Sequence[Section], path: str = BUDGET_NAME) -> str:
    """Return the page with these sections; a section that is not there is added in its place.

    `existing_text` must have been read without translating line ends: the page keeps its own.

    Raises:
        RequestError: the page is not empty and none of the sections is on it.
        FormatError: markers are doubled, nested or without their other half, or the machine
            block cannot be read.
    """
    page = marked_page(existing_text, [section.name for section in sections], path)
    if not page.parts:
        return page.byte_order_mark + _fresh(page, sections, path)
    block = read_machine_block(existing_text, path)
    hashes = block.section_lines if block else {}
    edits = [
        _refreshed(page, section, hashes.get(section.name))
        if section.name in page.parts
        else _added(page, section, following=sections[index + 1 :])
        for index, section in enumerate(sections)
    ]
    return page.byte_order_mark + "".join(_applied(page, edits))


def _fresh(page: MarkedPage, sections: Sequence[Section], path: str) -> str:
    if any(line.strip() for line in page.lines):
        raise RequestError(
            "the page was not written by this tool and is left alone",
            where=path,
            remedy="Rename it, write the budget, then copy its text between the generated parts.",
        )
    return "\n".join("".join(f"{line}\n" for line in _marked(section)) for section in sections)


def _refreshed(page: MarkedPage, section: Section, hashes: str | None) -> _Edit:
    part = page.parts[section.name]
    end = page.lines[part.end]
    new = [line + page.line_end for line in section.lines]
    kept = _persons_lines(page.inside(section.name), section, hashes)
    if not kept:
        return _Edit(part.begin + 1, part.end, new)
    if not end.endswith("\n"):
        end += page.line_end
    moved = [line + page.line_end for line in (KEPT, *kept, "")]
    return _Edit(part.begin + 1, part.end + 1, [*new, end, *moved])


def _persons_lines(found: Sequence[str], section: Section, hashes: str | None) -> list[str]:
    """Return the lines of a part that the tool has not written.

    Compared with the lines written last time or, where no record is left, with the new ones.
    Inside the fence of the machine block are inputs, not text: they are read, never kept.
    """
    new: Sequence[str] = section.lines
    if section.name == MACHINE:
        found, new = outside_block(found), outside_block(new)
    if [line.rstrip() for line in found] == [line.rstrip() for line in new]:
        return []
    written = line_hashes(new) if hashes is None else hashes.split()
    matcher = SequenceMatcher(a=written, b=line_hashes(found), autojunk=False)
    kept: list[str] = []
    for _, _, _, begin, end in (op for op in matcher.get_opcodes() if op[0] != "equal"):
        run = found[begin:end]
        if any(line.strip() for line in run):
            kept += ["", *run] if kept else run
    return kept


def _added(page: MarkedPage, section: Section, following: Sequence[Section]) -> _Edit:
    """Return the insertion of a section before the next one on the page, else at its end.

    Text below a part belongs to that part, so a new one goes as far down as its order allows.
    """
    next_parts = (page.parts[s.name] for s in following if s.name in page.parts)
    place = next((part.begin for part in next_parts), len(page.lines))
    lines = [line + page.line_end for line in _marked(section)]
    if place < len(page.lines):
        above = page.lines[place - 1] if place else ""
        gap = [page.line_end] if above.strip() else []
        return _Edit(place, place, [*gap, *lines, page.line_end])
    end = "" if page.lines[-1].endswith("\n") else page.line_end
    return _Edit(place, place, [end, page.line_end, *lines])


def _marked(section: Section) -> list[str]:
    return [begin_marker(section.name), *section.lines, end_marker(section.name)]


def _applied(page: MarkedPage, edits: Sequence[_Edit]) -> list[str]:
    result: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        result += [*page.lines[position : edit.start], *edit.lines]
        position = edit.stop
    return [*result, *page.lines[position:]]
