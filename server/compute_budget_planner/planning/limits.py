"""The time limit of a job: does the run fit, and how many jobs in a row if not."""

import math
from dataclasses import dataclass

from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.numbers import brief


@dataclass(frozen=True)
class LimitFit:
    """Whether a run fits one job; `segments` jobs in a row cover its high end."""

    time_limit_hours: float | None
    fits: str
    segments: int | None
    usable_hours: float | None
    reason: str


def fit_limit(
    wall_clock: Range,
    startup_hours: float,
    time_limit_hours: float | None,
    reference: Reference,
    *,
    unlimited: bool = False,
) -> LimitFit:
    """Compare a run's wall-clock with the longest job the scheduler allows.

    Usable time counts from the start of the allocation: limit − set-up − save margin. `unlimited`
    says that no scheduler is between the user and the machine.
    """
    if time_limit_hours is None and unlimited:
        return LimitFit(None, "yes", 1, None, "no scheduler ends a local job")
    if time_limit_hours is None:
        return LimitFit(None, "unknown", None, None, "no time limit is known")
    margin = reference.value("limit_save_margin_minutes") / 60
    setup = max(startup_hours, reference.value("segment_setup_minutes") / 60)
    usable = time_limit_hours - setup - margin
    if usable <= 0:
        return LimitFit(
            time_limit_hours,
            "no",
            None,
            None,
            f"start-up and the save margin alone need {brief(setup + margin)} h",
        )
    training = [max(0.0, end - startup_hours) for end in (wall_clock.expected, wall_clock.high)]
    segments = max(1, math.ceil(training[1] / usable - 1e-9))
    if segments == 1:
        fits, reason = "yes", "the high end fits one job with the save margin"
    elif training[0] <= usable:
        fits = "uncertain"
        reason = "the expected time fits one job, the high end does not: resume from checkpoints"
    else:
        fits = "no"
        reason = f"the run needs a chain of jobs that resume; {segments} cover the high end"
    return LimitFit(time_limit_hours, fits, segments, usable, reason)


def walltime_hours(
    wall_clock: Range, time_limit_hours: float | None, reference: Reference
) -> float:
    """Return the walltime to request: rounded up, margin included, within the limit."""
    margin = 1 + reference.value("walltime_margin_percent") / 100
    wanted = max(wall_clock.high, wall_clock.expected * margin)
    step = reference.value("walltime_round_minutes") / 60
    hours = math.ceil(wanted / step - 1e-9) * step
    return hours if time_limit_hours is None else min(hours, time_limit_hours)


def clock(hours: float) -> str:
    """Return hours as HH:MM:SS, rounded down: a limit is never exceeded, not by half a second."""
    seconds = math.floor(hours * 3600 + 1e-6)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
