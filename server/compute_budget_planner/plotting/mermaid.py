"""A picture as Mermaid text: what is shown where no plotting library is.

Mermaid's `xychart-beta` has one axis of numbers and draws values at equal distances, so lines are
resampled, and only those that reach about as far as the first are shown; intervals, markers and
the other lines are left to the drawing.
"""

import math

from compute_budget_planner.results.picture import Line, Picture

_PLACES = 25
_DIGITS = 4
_SHORT_OF = 0.1
_NOT_IN_TITLES = str.maketrans({'"': "'", "\n": " ", "`": "'", ";": ",", "#": " "})


def mermaid_of(picture: Picture) -> str:
    """Return an xychart of a picture, without fits; empty when it has no line of two points."""
    lines = [line for line in picture.lines if line.style != "fit" and len(line.x) > 1]
    if not lines:
        return ""
    first, last = lines[0].x[0], lines[0].x[-1]
    room = _SHORT_OF * (last - first)
    lines = [line for line in lines if line.x[0] <= first + room and line.x[-1] >= last - room]
    places = _places(first, last, log=picture.log_x)
    rows = [[_at(line, place) for place in places] for line in lines]
    low, high = min(map(min, rows)), max(map(max, rows))
    above = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    names = ", ".join(line.label for line in lines)
    scale = ", log scale" if picture.log_x else ""
    left, right = (math.log10(p) if picture.log_x else p for p in (first, last))
    label = f"log10 of {picture.x_label}" if picture.log_x else picture.x_label
    span = f"{_number(low - above)} --> {_number(high + above)}"
    return "\n".join(
        [
            "xychart-beta",
            f'    title "{_plain(picture.title)}{scale}, lines in order: {_plain(names)}"',
            f'    x-axis "{_plain(label)}" {_number(left)} --> {_number(right)}',
            f'    y-axis "{_plain(picture.y_label)}" {span}',
            *(f"    line [{', '.join(map(_number, row))}]" for row in rows),
        ]
    )


def _places(first: float, last: float, *, log: bool) -> list[float]:
    shares = [i / (_PLACES - 1) for i in range(_PLACES)]
    if log and first > 0:
        return [first * (last / first) ** share for share in shares]
    return [first + share * (last - first) for share in shares]


def _at(line: Line, place: float) -> float:
    if place <= line.x[0]:
        return line.y[0]
    for i in range(1, len(line.x)):
        if place <= line.x[i]:
            share = (place - line.x[i - 1]) / (line.x[i] - line.x[i - 1])
            return line.y[i - 1] + share * (line.y[i] - line.y[i - 1])
    return line.y[-1]


def _number(value: float) -> str:
    return f"{float(f'{value:.{_DIGITS}g}'):.12f}".rstrip("0").rstrip(".")


def _plain(text: str) -> str:
    return text.translate(_NOT_IN_TITLES)[:200]
