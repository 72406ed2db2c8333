"""Lines of home-made training loops: `step 100/5000 | loss 2.31 | 412 ms/step`.

A time counts only where the line says of what it is: per step (`ms/step`, `s/it`, `step_time`), or
on a line for every step. A date at the start of the lines is a clock of its own, which needs no
guess about units. What the loop calls a step is taken as an optimizer step and asked about.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.log_lines import number_in, split_lines, unadorned
from compute_budget_planner.readers.step_speed import Stretch

_NUMBER = r"([-+]?\d[\d_,]*(?:\.\d+)?(?:[eE][-+]?\d+)?|nan|inf)"
_STEP = re.compile(
    r"\b(?:global[_ ]?step|step|iter|iteration|update)\b\s*[:=#]?\s*\[?\s*(\d{1,12})\b"
    r"(?:\s*(?:/|of)\s*(\d{1,12})\b)?",
    re.IGNORECASE,
)
_LOSS = re.compile(rf"\b(?:train(?:ing)?[_ /])?loss\b\s*[:=]?\s*{_NUMBER}(?![\w%])", re.IGNORECASE)
_EVALUATED = re.compile(r"val|test", re.IGNORECASE)
_VALIDATION = re.compile(
    rf"\b(?:val|valid|validation|eval|test)[_ /]loss\b\s*[:=]?\s*{_NUMBER}(?![\w%])", re.IGNORECASE
)
_TIMED = re.compile(r"time|\bdt\b|[sc]\s?/", re.IGNORECASE)
_PER_STEP = re.compile(
    r"(\d[\d.]{0,15})\s*(ms|s|sec)\s*/\s*(?:step|it|iter|iteration|batch)\b"
    r"|\b(?:step[_ ]?time|time[_ ]per[_ ]step|iter[_ ]?time|time/(?:step|iter))\b\s*[:=]?\s*"
    r"(\d[\d.]{0,15})\s*(ms|s|sec)\b",
    re.IGNORECASE,
)
_BARE_TIME = re.compile(r"\b(?:time|dt)\b\s*[:=]?\s*(\d[\d.]{0,15})\s*(ms|s|sec)\b", re.IGNORECASE)
_STAMP = re.compile(r"\D{0,3}(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?")
_LEAST_LINES = 3
_STRETCH_LINES = 700
_WHOLE_SECONDS = 10.0
"""Readings of a clock that shows whole seconds are joined until this much has passed."""


@dataclass
class StepLines:
    """Steps with their losses and times; `line` is that of the last step."""

    total: int | None = None
    done: int = 0
    line: int = 0
    train: list[tuple[float, float]] = field(default_factory=list)
    validation: list[tuple[float, float]] = field(default_factory=list)
    timed: list[Stretch] = field(default_factory=list)
    clock: list[tuple[int, float]] = field(default_factory=list)
    unclear_times: int = 0

    @property
    def clock_seconds(self) -> float:
        """Seconds below which two readings of the clock are joined."""
        return _WHOLE_SECONDS


def step_lines(file: SourceFile) -> StepLines | None:
    """Return the steps of a home-made loop, or None when fewer than three lines tell any."""
    if "oss" not in file.text:
        return None
    found = StepLines()
    lines = 0
    for number, step, total, line in _steps(file):
        if step in _known(found):
            continue
        lines += 1
        _take(found, step, total, line, number)
    return found if lines >= _LEAST_LINES else None


def _known(found: StepLines) -> set[int]:
    return {found.done} if found.train and found.train[-1][0] == found.done else set()


def _steps(file: SourceFile) -> Iterator[tuple[int, int, int | None, str]]:
    candidates = [
        (number, line) for number, line in enumerate(split_lines(file), start=1) if "oss" in line
    ]
    for number, adorned in _kept(candidates):
        line = unadorned(adorned)
        step = _STEP.search(line)
        if step is not None and (_LOSS.search(line) or _VALIDATION.search(line)):
            yield number, int(step[1]), int(step[2]) if step[2] else None, line


def _kept(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield all lines of a short log; of a long one stretches of head, middle and tail."""
    if len(lines) <= 3 * _STRETCH_LINES:
        yield from lines
        return
    middle = (len(lines) - _STRETCH_LINES) // 2
    for start in (0, middle, len(lines) - _STRETCH_LINES):
        yield from lines[start : start + _STRETCH_LINES]


def _take(found: StepLines, step: int, total: int | None, line: str, number: int) -> None:
    validation = _VALIDATION.search(line) if _EVALUATED.search(line) else None
    if validation is not None:
        found.validation.append((step, number_in(validation[1])))
        line = f"{line[: validation.start()]} {line[validation.end() :]}"
    loss = _LOSS.search(line)
    if loss is None:
        return
    since = step - found.done if found.train else 0
    found.train.append((step, number_in(loss[1])))
    if (stamp := _STAMP.match(line)) and (moment := _moment(stamp)) is not None:
        found.clock.append((step, moment))
    if _TIMED.search(line):
        _take_time(found, since, line)
    found.done, found.line = step, number
    found.total = total or found.total


def _take_time(found: StepLines, since: int, line: str) -> None:
    if match := _PER_STEP.search(line):
        seconds = _seconds(match[1] or match[3], match[2] or match[4])
        found.timed.append(Stretch(max(since, 1), seconds))
    elif match := _BARE_TIME.search(line):
        if since == 1:
            found.timed.append(Stretch(1, _seconds(match[1], match[2])))
        elif since > 1:
            found.unclear_times += 1


def _seconds(text: str, unit: str) -> float:
    return number_in(text) * (1e-3 if unit.lower() == "ms" else 1.0)


def _moment(stamp: re.Match[str]) -> float | None:
    try:
        local = datetime.fromisoformat(f"{stamp[1]}T{stamp[2]}").replace(tzinfo=UTC)
    except ValueError:
        return None
    return local.timestamp()
