"""The frame of a job's log: what stands around the output of the training command.

    Job ID: 4711
    GPUs: 4
    Start: Mon Dec  1 10:00:00 UTC 2025
    ...
    End: Mon Dec  1 12:30:00 UTC 2025
    Exit: 0

`End:` is written only when the command succeeded. A start without an end is a run that failed,
was killed or still goes on: its duration is not known.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_FIELD = re.compile(
    r"\s*(?P<key>Job ID|Job name|Job|Node|GPUs|Start|End|Exit)\s*:\s*(?P<value>.*\S)"
)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?\s*(\S*)")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d{2}):(\d{2})(?:\s+([AP]M))?(?:\s+([A-Z]{2,5}|[+-]\d{2,4}))?\b")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]*\b", re.I)
_DAY = re.compile(r"\b(\d{1,2})\b")
_YEAR = re.compile(r"\b(\d{4})\b")
_ZONE_HOURS = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "BST": 1, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2,
    "EEST": 3, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8,
    "PDT": -7, "AEST": 10, "AEDT": 11,
}  # fmt: skip
"""Hours east of Greenwich; only used when the clock was changed between start and end."""


@dataclass(frozen=True)
class Moment:
    """A date as printed: local time and zone name."""

    local: datetime
    zone: str


@dataclass(frozen=True)
class Banner:
    """The last run a log frames. Lines count from 1; `exit_code` is None when not written."""

    job_name: str
    gpus_on_node: int | None
    gpus_line: int
    several_nodes: bool
    start: Moment | None
    start_line: int
    end: Moment | None
    end_line: int
    exit_code: int | None

    @property
    def succeeded(self) -> bool:
        """Whether the command came to its end without an error."""
        return self.end is not None and not self.exit_code

    @property
    def duration_hours(self) -> float | None:
        """Hours from start to end of a run that succeeded, across a change of the clock."""
        if self.start is None or self.end is None or not self.succeeded:
            return None
        duration = self.end.local - self.start.local
        if self.start.zone != self.end.zone:
            zones = (_ZONE_HOURS.get(self.start.zone), _ZONE_HOURS.get(self.end.zone))
            if zones[0] is None or zones[1] is None:
                return None
            duration -= timedelta(hours=zones[1] - zones[0])
        hours = duration.total_seconds() / 3600
        return hours if hours > 0 else None


def find_banner(lines: Sequence[str]) -> Banner | None:
    """Return the frame of the last run in a log, or None when there is no `Start:` with a date.

    A log to which several runs were appended has several frames.
    """
    fields: dict[str, tuple[str, int]] = {}
    started = False
    for number, line in enumerate(lines, start=1):
        match = _FIELD.match(line[:300])
        if match is None:
            continue
        key = match["key"]
        if key == "Start" and moment(match["value"]) is not None:
            if started:
                fields.pop("End", None)
                fields.pop("Exit", None)
            started = True
        elif key in ("Start", "End") and moment(match["value"]) is None:
            continue
        fields[key] = (match["value"], number)
    return _banner(fields) if started else None


def _banner(fields: dict[str, tuple[str, int]]) -> Banner:
    nothing = ("", 0)
    start, end = fields.get("Start", nothing), fields.get("End", nothing)
    gpus, node = fields.get("GPUs", nothing), fields.get("Node", nothing)
    status = fields.get("Exit", nothing)[0]
    name = fields.get("Job name", fields.get("Job", nothing))[0]
    return Banner(
        job_name=name[:100],
        gpus_on_node=int(gpus[0]) if re.fullmatch(r"[1-9]\d{0,4}", gpus[0]) else None,
        gpus_line=gpus[1],
        several_nodes=bool(re.search(r"[\[,]", node[0])),
        start=moment(start[0]),
        start_line=start[1],
        end=moment(end[0]),
        end_line=end[1],
        exit_code=int(status) if re.fullmatch(r"\d{1,3}", status) else None,
    )


def moment(text: str) -> Moment | None:
    """Return the date that `date` printed, in its default form or as ISO 8601."""
    try:
        if iso := _ISO.search(text):
            date = (int(iso[1]), int(iso[2]), int(iso[3]))
            return Moment(_local(date, (int(iso[4]), int(iso[5]), int(iso[6]))), iso[7])
        month, clock = _MONTH.search(text), _CLOCK.search(text)
        if month is None or clock is None:
            return None
        rest = text[: clock.start()] + " " + text[clock.end() :]
        year = _YEAR.search(rest)
        day = _DAY.search(_YEAR.sub(" ", rest))
        if year is None or day is None:
            return None
        hour = int(clock[1])
        if clock[4]:
            hour = hour % 12 + (12 if clock[4] == "PM" else 0)
        date = (int(year[1]), _MONTHS.index(month[1].lower()) + 1, int(day[1]))
        local = _local(date, (hour, int(clock[2]), int(clock[3])))
        return Moment(local, clock[5] or "")
    except ValueError:
        return None


def _local(date: tuple[int, int, int], clock: tuple[int, int, int]) -> datetime:
    # `date` prints second 60 in a leap second, which datetime does not know.
    return datetime(*date, *clock[:2], min(clock[2], 59), tzinfo=UTC)
