"""Keep a result within the size clients pass on, and say what was left out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import to_json

MAX_CHARACTERS = 40_000
"""Clients show larger results in part only, or move them to a file."""

_KEPT_WHOLE = ("next", "questions", "summary")
_SHORT_LIST = 8
_LONG_TEXT = 2_000
_NAMED = 6
_Result = TypeVar("_Result", bound=BaseModel)


@dataclass(frozen=True)
class _Part:
    """A list, mapping or long text inside a result: its place, and its size in JSON."""

    path: str
    owner: BaseModel
    field: str
    size: int

    @property
    def value(self) -> Any:
        return getattr(self.owner, self.field)

    def halve(self) -> None:
        """Keep the first half."""
        half = (len(self.value) + 1) // 2
        if isinstance(self.value, dict):
            kept: object = dict(list(self.value.items())[:half])
        else:
            kept = self.value[:half]
        setattr(self.owner, self.field, kept)


def shortened(result: _Result, limit: int = MAX_CHARACTERS) -> _Result:
    """Return the result with lists and long texts halved until its JSON has `limit` bytes.

    The largest goes first, and a short list is cut only when nothing long is left. The summary
    then says how many of what are shown. The result given stays as it is.
    """
    if len(to_json(result)) <= limit:
        return result
    short = result.model_copy(deep=True)
    counts: dict[str, int] = {}
    least = _SHORT_LIST
    while len(to_json(short)) > limit and least:
        candidates = [part for part in _parts(short, "") if len(part.value) > least]
        if not candidates:
            least //= 2
            continue
        largest = max(candidates, key=lambda part: part.size)
        counts.setdefault(largest.path, len(largest.value))
        largest.halve()
    cut = [
        f"{part.path} {len(part.value):,} of {counts[part.path]:,}"
        + (" characters" if isinstance(part.value, str) else "")
        for part in _parts(short, "", shortest_text=0)
        if part.path in counts
    ]
    more = f" and {len(cut) - _NAMED} more parts" if len(cut) > _NAMED else ""
    note = (
        f"Shortened, shown are: {', '.join(cut[:_NAMED])}{more}. Naming fewer files or one run "
        "shows the rest."
    )
    return short.model_copy(update={"summary": f"{getattr(short, 'summary', '')} {note}".strip()})


def _parts(model: BaseModel, path: str, shortest_text: int = _LONG_TEXT) -> Iterator[_Part]:
    """Yield every part that may be cut, those inside others included."""
    for field, value in model:
        if field in _KEPT_WHOLE:
            continue
        place = f"{path}{field}"
        if isinstance(value, list | dict) or (
            isinstance(value, str) and len(value) > shortest_text
        ):
            yield _Part(place, model, field, len(to_json(value)))
        inside: list[tuple[str, object]] = [(place, value)]
        if isinstance(value, list | dict):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            inside = [(f"{place}[{key}]", item) for key, item in items]
        for inner_place, inner in inside:
            if isinstance(inner, BaseModel):
                yield from _parts(inner, f"{inner_place}.", shortest_text)
