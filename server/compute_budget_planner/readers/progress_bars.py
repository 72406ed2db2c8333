"""Progress bars of tqdm in a log: how far, in what time.

The rate a bar prints is a moving average and flips between `it/s` and `s/it`; the time that has
passed and the iterations done are exact, so only these are used. Source of the form: the
documentation of `tqdm` (`bar_format`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from compute_budget_planner.readers.durations import elapsed_hours

_BAR = re.compile(
    r"\d{1,3}%\|[^|]{0,400}\|\s*"
    r"(?P<done>\d{1,15})/(?P<total>\d{1,15})\s*"
    r"\[(?P<elapsed>[^<\]]{1,40})<(?P<remaining>[^,\]]{1,30}(?:, \d+:\d+:\d+)?)"
    r"(?:,\s*(?P<rate>[^\]]{0,200}))?\]?"
)
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_ASIDE = re.compile(
    r"load|shard|download|map\b|filter|tokeni[sz]|generat|fetch|evaluat|\beval|valid|\bval\b|test"
    r"|predict|infer|resolv|group|saving|convert|pack|sanity|warm|cach|extract|preprocess|copy",
    re.I,
)
_MOST_STATES = 8_000
_LAST_STATES = 500
_LEAST_SECONDS = 5
_LEAST_STEPS = 2
_JUMP = 3
"""A first state this many times faster than the rest was skipped to, not trained."""


@dataclass(frozen=True)
class BarLine:
    """One state of one bar; `line` counts from 1, `seconds` since the bar began."""

    description: str
    done: int
    total: int
    seconds: float
    line: int


@dataclass(frozen=True)
class MainBar:
    """The bar of the training loop, over all its rounds when it begins anew each epoch.

    `iterations` took `seconds`; a resumed run jumps ahead first, which is not counted. `done` of
    `total` is where the last round stands.
    """

    description: str
    iterations: int
    seconds: float
    done: int
    total: int
    rounds: int
    line: int

    @property
    def complete(self) -> bool:
        """Whether the last round reached its end."""
        return self.done == self.total

    @property
    def seconds_per_iteration(self) -> float | None:
        """Mean seconds per iteration; None while too little has passed to tell."""
        if self.iterations < _LEAST_STEPS or self.seconds < _LEAST_SECONDS:
            return None
        return self.seconds / self.iterations


def bar_lines(lines: Sequence[str]) -> list[BarLine]:
    """Return the states of every bar; a line may hold several, parted by carriage returns.

    Of very many states some are passed over evenly, never the last ones.
    """
    parts = [
        (number, part)
        for number, line in enumerate(lines, start=1)
        if "%|" in line
        for part in _ESCAPE.sub("", line).split("\r")
        if "%|" in part
    ]
    if len(parts) > _MOST_STATES:
        every = len(parts) // _MOST_STATES + 1
        parts = [*parts[:-_LAST_STATES:every], *parts[-_LAST_STATES:]]
    return [state for number, part in parts for state in _states(part, number)]


def _states(text: str, number: int) -> list[BarLine]:
    found = []
    behind = 0
    for match in _BAR.finditer(text):
        description = text[behind : match.start()][-200:].strip(" :")
        behind = match.end()
        try:
            seconds = elapsed_hours(match["elapsed"]) * 3600
        except ValueError:
            continue
        found.append(BarLine(description, int(match["done"]), int(match["total"]), seconds, number))
    return found


def main_bar(states: list[BarLine]) -> MainBar | None:
    """Return the training loop among the bars, or None.

    Loading, mapping and evaluation bars are told by their description, nested ones by their
    shorter time. Bars of one total belong together: the copies that other ranks print, and the
    rounds of a bar that restarts.
    """
    groups: dict[int, list[BarLine]] = {}
    for state in states:
        if not _ASIDE.search(state.description) and 0 < state.done <= state.total:
            groups.setdefault(state.total, []).append(state)
    bars = [bar for group in groups.values() if (bar := _joined(group)) is not None]
    return max(bars, key=lambda bar: bar.seconds, default=None)


def _joined(group: list[BarLine]) -> MainBar | None:
    """Join the states of one total into rounds: first and furthest state of each."""
    rounds: list[tuple[BarLine, BarLine]] = []
    for state in group:
        if not rounds or _restarted(rounds[-1][1], state):
            rounds.append((state, state))
        elif (state.done, state.seconds) > (rounds[-1][1].done, rounds[-1][1].seconds):
            rounds[-1] = (rounds[-1][0], state)
    rounds = [(first, last) for first, last in rounds if last.done >= _LEAST_STEPS]
    if not rounds:
        return None
    spans = [_span(first, last) for first, last in rounds]
    last = rounds[-1][1]
    return MainBar(
        description=last.description,
        iterations=sum(iterations for iterations, _ in spans),
        seconds=sum(seconds for _, seconds in spans),
        done=last.done,
        total=last.total,
        rounds=len(rounds),
        line=last.line,
    )


def _restarted(furthest: BarLine, state: BarLine) -> bool:
    """Tell a new round from a rank that lags: both count and time fall below half."""
    return state.done < furthest.done / 2 and state.seconds <= furthest.seconds / 2


def _span(first: BarLine, last: BarLine) -> tuple[int, float]:
    """Return the iterations of a round and their seconds, without a resumed run's jump."""
    iterations, seconds = last.done - first.done, last.seconds - first.seconds
    jumped = first.done * seconds > _JUMP * first.seconds * iterations
    if first.done >= _LEAST_STEPS and iterations > 0 and jumped:
        return iterations, seconds
    return last.done, last.seconds
