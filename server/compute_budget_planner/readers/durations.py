"""Durations as schedulers and logs write them, in hours."""

import re

_SLURM = re.compile(
    r"(?:(?P<days>\d{1,6})-)?(?P<first>\d{1,9})(?::(?P<second>\d{1,9}))?(?::(?P<third>\d{1,9}))?"
)
_ELAPSED = re.compile(
    r"(?:(?P<days>\d{1,6})(?:-|\s+days?,?\s*))?"
    r"(?:(?P<hours>\d{1,6}):)?(?P<minutes>\d{1,6}):(?P<seconds>\d{1,6}(?:\.\d{1,9})?)"
)
SLURM_FORMS = "Write MM, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS or UNLIMITED."
_NO_LIMIT = {"UNLIMITED", "INFINITE", "INFINITY"}


def slurm_hours(text: str) -> float | None:
    """Return a Slurm time limit in hours; None for UNLIMITED, INFINITE and 0.

    Forms (`man sbatch`, --time): minutes, minutes:seconds, hours:minutes:seconds, days-hours,
    days-hours:minutes, days-hours:minutes:seconds.

    Raises:
        ValueError: the text is none of these forms.
    """
    word = text.strip().upper()
    if word in _NO_LIMIT:
        return None
    match = _SLURM.fullmatch(word)
    if match is None:
        message = f"{text.strip()[:60]!r} is no Slurm time"
        raise ValueError(message)
    parts = [int(part) for part in match.group("first", "second", "third") if part is not None]
    if match["days"] is not None:
        hours, minutes, seconds = [*parts, 0, 0][:3]
        total = int(match["days"]) * 24 + hours + minutes / 60 + seconds / 3600
    elif len(parts) == 3:
        total = parts[0] + parts[1] / 60 + parts[2] / 3600
    else:
        minutes, seconds = [*parts, 0][:2]
        total = minutes / 60 + seconds / 3600
    return total if total > 0 else None


def elapsed_hours(text: str) -> float:
    """Return the elapsed time of a log in hours.

    Forms: `[D-]HH:MM:SS` and `MM:SS` (sacct, progress bars), `1 day, 2:03:04` (Python's
    timedelta); seconds may have a fraction.

    Raises:
        ValueError: the text is none of these forms.
    """
    match = _ELAPSED.fullmatch(text.strip())
    if match is None:
        message = f"{text.strip()[:60]!r} is no elapsed time"
        raise ValueError(message)
    days, hours = int(match["days"] or 0), int(match["hours"] or 0)
    return days * 24 + hours + int(match["minutes"]) / 60 + float(match["seconds"]) / 3600
