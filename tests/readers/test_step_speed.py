import math

import pytest
from compute_budget_planner.readers.loss_curves import MOST_POINTS, loss_series
from compute_budget_planner.readers.step_speed import Stretch, steady_speed, stretches
from hypothesis import given
from hypothesis import strategies as st


def test_compiling_steps_and_checkpoints_do_not_move_the_speed():
    timed = [Stretch(1, 60.0), *[Stretch(1, 2.0)] * 99]
    timed[50] = Stretch(1, 30.0)
    speed = steady_speed(timed)
    assert speed is not None
    assert (speed.step_seconds, speed.low, speed.high) == (2.0, 2.0, 2.0)
    # 10 steps are warm-up; 90 are timed, one of them 28 s longer.
    assert speed.steps == 90
    assert speed.mean_seconds == pytest.approx((89 * 2.0 + 30.0) / 90)
    assert speed.settled


def test_leading_steps_slower_than_all_later_ones_are_warm_up_in_a_short_log_too():
    speed = steady_speed([Stretch(1, 159.8), Stretch(1, 141.1), Stretch(1, 137.1)])
    assert speed is not None
    assert (speed.step_seconds, speed.steps) == (137.1, 1)


def test_a_few_quick_steps_are_not_settled_but_a_minute_is():
    quick = steady_speed([Stretch(1, 1.0)] * 8)
    slow = steady_speed([Stretch(1, 100.0)] * 3)
    assert quick is not None
    assert slow is not None
    assert (quick.settled, slow.settled) == (False, True)


def test_nothing_timed_is_no_speed():
    assert steady_speed([]) is None
    assert steady_speed([Stretch(0, 1.0), Stretch(1, math.nan), Stretch(1, -3.0)]) is None
    assert steady_speed([Stretch(1, 5.0)]) is None


def test_a_clock_set_to_zero_begins_anew_and_an_evaluation_belongs_to_no_step():
    clock = [(1, 35.0), (10, 80.0), (11, 1.0), (21, 11.0), (21, 40.0), (31, 50.0)]
    assert stretches(clock) == [Stretch(9, 5.0), Stretch(10, 1.0), Stretch(10, 1.0)]


def test_readings_of_a_coarse_clock_are_joined():
    clock = [(step, float(step // 4)) for step in range(81)]
    assert stretches(clock, 9.5) == [Stretch(40, 0.25), Stretch(40, 0.25)]


@given(st.lists(st.tuples(st.integers(0, 10**6), st.floats(-1e6, 1e6)), max_size=40))
def test_no_clock_gives_a_speed_that_is_no_number(clock: list[tuple[int, float]]):
    speed = steady_speed(stretches(clock))
    if speed is not None:
        assert 0 < speed.low <= speed.step_seconds <= speed.high < math.inf
        assert speed.steps >= 1


def test_a_curve_is_ordered_and_the_later_loss_at_a_step_counts():
    (series,) = loss_series("train", [(20, 1.5), (10, 2.0), (20, 1.25)], "a.log")
    assert (series.steps, series.values) == ((10, 20), (2.0, 1.25))


def test_losses_that_are_no_numbers_make_no_curve():
    assert loss_series("train", [(1, math.nan), (2, math.inf), (-3, 1.0)], "a.log") == ()


def test_a_long_curve_is_thinned_evenly_and_keeps_both_ends():
    (series,) = loss_series("train", ((n, float(n)) for n in range(20_001)), "a.log")
    assert len(series.steps) == MOST_POINTS
    assert (series.steps[0], series.steps[-1]) == (0, 20_000)
    gaps = {b - a for a, b in zip(series.steps, series.steps[1:], strict=False)}
    assert gaps <= {4, 5}
