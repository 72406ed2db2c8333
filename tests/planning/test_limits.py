"""Time limits: what fits, how many jobs in a row, and the walltime to ask for."""

import pytest
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.planning.limits import LimitFit, clock, fit_limit, walltime_hours
from hypothesis import given
from hypothesis import strategies as st
from planned_run import guide

SAVE_MARGIN_HOURS = guide().value("limit_save_margin_minutes") / 60
WALL_CLOCKS = st.lists(st.floats(0.001, 5000), min_size=3, max_size=3).map(
    lambda ends: Range(*sorted(ends))
)


def test_without_a_limit_nothing_is_said_about_it() -> None:
    assert fit_limit(Range(1, 2, 3), 0.1, None, guide()) == LimitFit(
        None, "unknown", None, None, "no time limit is known"
    )


def test_a_run_fits_when_its_high_end_leaves_the_save_margin() -> None:
    found = fit_limit(Range(5, 6, 8), 0.2, 24, guide())
    assert (found.fits, found.segments) == ("yes", 1)


def test_a_twelve_hour_limit_cuts_a_longer_run_into_jobs_that_resume() -> None:
    """As in huggingface/accelerate issue 3400, where the job was killed."""
    found = fit_limit(Range(28, 30, 33), 0.1, 12, guide())
    assert (found.fits, found.segments) == ("no", 3)
    assert "resume" in found.reason


def test_the_limit_counts_from_the_start_of_the_allocation() -> None:
    """NVIDIA-NeMo/RL issue 3596: of four hours half an hour is set-up, and the save must fit."""
    found = fit_limit(Range(3.2, 3.4, 3.9), 0.5, 4, guide())
    assert found.usable_hours == pytest.approx(4 - 0.5 - SAVE_MARGIN_HOURS)
    assert found.fits == "uncertain"
    assert found.segments == 2


def test_seventeen_seconds_over_the_limit_are_over_it() -> None:
    """Biocore/qiime issue 1048: killed at 259,217 s of a limit of 259,200 s."""
    over = 259_217 / 3600
    assert fit_limit(Range(over, over, over), 0.01, 72, guide()).fits == "no"
    assert fit_limit(Range(60, 65, over), 0.01, 72, guide()).fits == "uncertain"


def test_a_limit_shorter_than_start_up_and_saving_holds_no_run() -> None:
    found = fit_limit(Range(1, 2, 3), 0.5, 0.4, guide())
    assert (found.fits, found.segments, found.usable_hours) == ("no", None, None)
    assert "start-up and the save margin alone" in found.reason


@given(WALL_CLOCKS, st.floats(0, 0.5), st.floats(1, 200))
def test_the_jobs_of_a_chain_cover_the_high_end_and_one_less_does_not(
    wall_clock: Range, startup: float, limit: float
) -> None:
    found = fit_limit(wall_clock, startup, limit, guide())
    assert found.segments is not None
    assert found.usable_hours is not None
    training = max(0.0, wall_clock.high - startup)
    assert found.segments * found.usable_hours >= training * (1 - 1e-6)
    assert found.segments == 1 or (found.segments - 1) * found.usable_hours < training
    assert (found.fits == "yes") is (found.segments == 1)
    assert found.usable_hours + startup + SAVE_MARGIN_HOURS <= limit + 1e-9


@given(WALL_CLOCKS, st.one_of(st.none(), st.floats(0.3, 200)))
def test_walltime_is_never_over_the_limit_and_else_covers_the_high_end(
    wall_clock: Range, limit: float | None
) -> None:
    hours = walltime_hours(wall_clock, limit, guide())
    if limit is not None and hours == limit:
        return
    assert hours >= wall_clock.high * (1 - 1e-6)
    assert hours >= wall_clock.expected * 1.25 * (1 - 1e-6)
    assert (hours * 4) % 1 == 0
    assert limit is None or hours < limit


@pytest.mark.parametrize(
    ("wall_clock", "limit", "walltime"),
    [
        (Range(0.01, 0.02, 0.03), None, "00:15:00"),
        (Range(1, 2, 2.1), None, "02:30:00"),
        (Range(1, 2, 3.1), 24.0, "03:15:00"),
        (Range(64.7, 71.6, 82.5), 24.0, "24:00:00"),
        (Range(90, 100, 130), None, "130:00:00"),
    ],
)
def test_walltime_is_rounded_up_to_a_quarter_hour(
    wall_clock: Range, limit: float | None, walltime: str
) -> None:
    assert clock(walltime_hours(wall_clock, limit, guide())) == walltime


@given(st.floats(0.001, 1000))
def test_the_clock_never_shows_more_than_the_limit(limit: float) -> None:
    hours, minutes, seconds = map(int, clock(limit).split(":"))
    assert hours * 3600 + minutes * 60 + seconds <= limit * 3600 + 1e-5
