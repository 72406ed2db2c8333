import pytest
from compute_budget_planner.readers.durations import elapsed_hours, slurm_hours
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("30", 0.5),
        ("1440", 24.0),
        ("30:00", 0.5),
        ("90:30", 1.5083333333333333),
        ("6:00:00", 6.0),
        ("120:00:00", 120.0),
        ("1-00", 24.0),
        ("1-12:30", 36.5),
        ("3-00:00:00", 72.0),
        ("0-00:10:00", 1 / 6),
    ],
)
def test_every_slurm_form_has_its_hours(text, hours):
    assert slurm_hours(text) == pytest.approx(hours, rel=1e-12)


@pytest.mark.parametrize("text", ["UNLIMITED", "infinite", "0", "00:00:00", "0-0"])
def test_no_limit_is_no_number(text):
    assert slurm_hours(text) is None


@pytest.mark.parametrize("text", ["{WALLTIME}", "", "2h", "1:2:3:4", "1-", "-5", "$TIME", "1.5"])
def test_placeholders_and_other_units_are_refused(text):
    with pytest.raises(ValueError, match="is no Slurm time"):
        slurm_hours(text)


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("05:30", 5.5 / 60),
        ("32:34:14", 32 + 34 / 60 + 14 / 3600),
        ("2-03:04:05", 51 + 4 / 60 + 5 / 3600),
        ("1 day, 2:03:04", 26 + 3 / 60 + 4 / 3600),
        ("4 days, 7:19:52.5", 103 + 19 / 60 + 52.5 / 3600),
    ],
)
def test_elapsed_times_of_logs_are_hours(text, hours):
    assert elapsed_hours(text) == pytest.approx(hours, rel=1e-12)


@given(st.integers(0, 999), st.integers(0, 23), st.integers(0, 59), st.integers(1, 59))
def test_days_and_clock_add_up(days, hours, minutes, seconds):
    text = f"{days}-{hours:02d}:{minutes:02d}:{seconds:02d}"
    expected = days * 24 + hours + minutes / 60 + seconds / 3600
    assert slurm_hours(text) == elapsed_hours(text) == pytest.approx(expected)


@given(st.text(max_size=20))
def test_no_text_gives_anything_but_hours_or_a_refusal(text):
    for read in (slurm_hours, elapsed_hours):
        try:
            hours = read(text)
        except ValueError:
            continue
        assert hours is None or 0 <= hours < 1e8
