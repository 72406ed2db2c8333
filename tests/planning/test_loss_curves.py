"""Loss curves made readable: noise, slopes, spikes, restarts, levels."""

import math
import random

import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.planning.curve_reading import Thresholds, interpolated, read_curve
from compute_budget_planner.planning.equal_compute import compare
from compute_budget_planner.planning.loss_curves import (
    Curve,
    binned,
    noise_of,
    restarts_of,
    scale_of,
    slope_of,
    spikes_of,
    theil_sen,
    without_spikes,
)
from hypothesis import example, given
from hypothesis import strategies as st

LIMITS = Thresholds.of(load_reference())


def curve(values: list[float], width: float = 10.0) -> Curve:
    return Curve(tuple(width * (i + 1) for i in range(len(values))), tuple(values))


def test_a_line_has_no_noise_and_scatter_has_its_own() -> None:
    draw = random.Random(1)  # noqa: S311
    assert noise_of([3 - 0.01 * i for i in range(50)]) == pytest.approx(0, abs=1e-12)
    scattered = [3 - 0.01 * i + draw.gauss(0, 0.2) for i in range(2000)]
    assert noise_of(scattered) == pytest.approx(0.2, rel=0.1)


def test_an_outlier_does_not_move_the_slope() -> None:
    x = [float(i) for i in range(20)]
    straight = [2 - 0.5 * value for value in x]
    assert theil_sen(x, straight) == pytest.approx((-0.5, -0.5, -0.5))
    straight[13] = 90
    assert theil_sen(x, straight)[1] == pytest.approx(-0.5)


def test_the_interval_of_sen_covers_the_true_slope_in_nine_of_ten_draws() -> None:
    draw = random.Random(3)  # noqa: S311
    x = [float(i) for i in range(16)]
    inside = 0
    for _ in range(500):
        low, _, high = theil_sen(x, [0.3 * value + draw.gauss(0, 1) for value in x])
        inside += low <= 0.3 <= high
    assert 440 <= inside <= 475


def test_a_slope_is_per_doubling_of_the_steps() -> None:
    falling = Curve(
        tuple(float(s) for s in range(100, 1000, 10)),
        tuple(5 - 0.7 * math.log2(s) for s in range(100, 1000, 10)),
    )
    slope = slope_of(falling)
    assert slope is not None
    assert (slope.low, slope.expected, slope.high) == pytest.approx((-0.7, -0.7, -0.7))
    assert slope_of(Curve((0.0, 1.0, 2.0), (1.0, 1.0, 1.0))) is None


def test_single_spikes_are_found_and_taken_out() -> None:
    values = [2 + 2 * math.exp(-i / 30) for i in range(200)]
    values[80] += 2
    values[81] += 1
    values[150] += 3
    found = spikes_of(curve(values), 0.5)
    assert [spike.step for spike in found] == [810, 1510]
    left = without_spikes(curve(values), found, 0.5)
    assert len(left.values) == 197
    assert max(left.values[70:]) < 2.3


def test_a_jump_that_falls_back_is_a_restart_and_no_spike() -> None:
    values = [2 + 0.5 * (1 - (i % 60) / 60) for i in range(180)]
    assert spikes_of(curve(values), 0.3) == ()
    assert restarts_of(curve(values), 0.1) == (600, 1200)


def test_a_jump_that_stays_is_no_restart() -> None:
    values = [2.0] * 60 + [4.0] * 60
    assert restarts_of(curve(values), 0.1) == ()


def test_noise_alone_makes_no_restart_and_no_spike() -> None:
    for seed in range(50):
        draw = random.Random(seed)  # noqa: S311
        reading = read_curve(curve([2 + draw.gauss(0, 0.05) for _ in range(300)]), LIMITS)
        assert (reading.restarts, reading.spikes) == ((), ())


def test_losses_near_zero_are_measured_by_the_whole_drop() -> None:
    assert scale_of(curve([2.3] * 5 + [1.0] * 10 + [0.001] * 5), 10) == pytest.approx(0.2299)
    assert scale_of(curve([10.0] * 5 + [3.0] * 5), 10) == pytest.approx(3.0)
    assert scale_of(curve([0.0] * 9), 10) == 1.0


def test_only_the_ends_of_cycles_are_compared() -> None:
    values = [2 + 1.5 * (1 - (i % 100) / 100) for i in range(300)]
    reading = read_curve(curve(values), LIMITS)
    assert reading.restarts == (1000, 2000)
    assert reading.fall is not None
    assert reading.fall.expected == pytest.approx(0, abs=0.2)


def test_one_point_is_read_without_a_slope() -> None:
    reading = read_curve(Curve((100.0,), (3.0,)), LIMITS)
    assert (reading.points, reading.level, reading.fall, reading.rises) == (1, 3.0, None, False)


@given(
    st.lists(st.floats(-50, 50), min_size=1, max_size=120),
    st.floats(0.1, 1e6),
    st.booleans(),
    st.one_of(st.none(), st.lists(st.integers(1, 150), max_size=4, unique=True)),
)
@example([0.0, -1.0, 5e-324], 1.0, False, None)
def test_every_finite_curve_is_read_into_finite_numbers(
    values: list[float], width: float, from_zero: bool, restarts: list[int] | None
) -> None:
    offset = 0 if from_zero else 1
    raw = Curve(tuple(width * (i + offset) for i in range(len(values))), tuple(values))
    jumps = None if restarts is None else tuple(width * i for i in sorted(restarts))
    reading = read_curve(raw, LIMITS, jumps)
    numbers = [reading.level, reading.noise, reading.scale, reading.lowest, reading.rise_percent]
    if reading.fall is not None:
        numbers += [reading.fall.low, reading.fall.expected, reading.fall.high]
        assert reading.fall.low <= reading.fall.expected <= reading.fall.high
    assert all(map(math.isfinite, numbers))
    assert reading.scale > 0


@given(st.lists(st.floats(0.1, 10), min_size=3, max_size=200), st.integers(2, 40))
def test_bins_keep_the_order_of_steps_and_the_reach_of_losses(
    values: list[float], bins: int
) -> None:
    parts = binned(curve(values), bins)
    assert list(parts.steps) == sorted(parts.steps)
    assert min(values) <= min(parts.values) <= max(parts.values) <= max(values)
    assert len(parts.steps) <= max(bins, len(values) if len(values) <= bins else bins)


def test_between_points_a_loss_lies_on_a_line_and_beyond_them_at_the_nearest() -> None:
    points = Curve((10.0, 20.0), (4.0, 2.0))
    assert [interpolated(points, step) for step in (0, 10, 15, 20, 99)] == [4, 4, 3, 2, 2]


def test_equal_steps_flatter_the_larger_model() -> None:
    # Twice the FLOPs per step: at step 1000 the large one has spent twice as much.
    small = Curve((0.0, 1000.0, 2000.0), (5.0, 3.0, 2.5))
    large = Curve((0.0, 1000.0), (5.0, 2.6))
    comparison = compare({"small": small, "large": large}, {"small": 1e12, "large": 2e12})
    assert comparison is not None
    assert (comparison.flops, comparison.steps) == (2e15, 1000)
    assert [(s.run, s.loss, s.loss_at_equal_steps) for s in comparison.standings] == [
        ("small", 2.5, 3.0),
        ("large", 2.6, 2.6),
    ]
    assert comparison.order_differs
    assert compare({"small": small, "large": large}, {"small": 1e12}) is None
