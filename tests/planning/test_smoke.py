"""The smoke rule, checked against its bounds one by one and by search over step counts."""

import math
import random
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace

import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.planning.smoke import (
    Bound,
    SmokeInputs,
    SmokeRules,
    SmokeSize,
    size_smoke,
)
from hypothesis import given, settings
from hypothesis import strategies as st

RULES = SmokeRules.of(load_reference(()))
PLAIN = SmokeInputs(
    total_steps=100_000,
    run_gpu_hours=800.0,
    n_gpus=1,
    step_seconds=1.0,
    step_seconds_high=1.2,
    startup_seconds=60.0,
    startup_seconds_high=120.0,
)
"""100,000 steps of a second on eight devices; its smoke test runs on one."""


def drawn(seed: int) -> SmokeInputs:
    """Return a run between 0.01 and 10⁶ GPU-hours, its length and start-up at random."""
    source = random.Random(seed)  # noqa: S311

    def log_uniform(low: float, high: float) -> float:
        return math.exp(source.uniform(math.log(low), math.log(high)))

    gpu_hours = log_uniform(0.01, 1e6)
    devices = 2 ** source.randrange(13)
    steps = max(1, round(log_uniform(1, 3e6)))
    startup = log_uniform(5, 2000)
    step = max(1e-4, gpu_hours * 3600 / devices / steps * source.uniform(0.5, 2))
    return SmokeInputs(
        total_steps=steps,
        run_gpu_hours=gpu_hours,
        n_gpus=2 ** source.randrange(devices.bit_length()),
        step_seconds=step,
        step_seconds_high=step * source.uniform(1, 2.5),
        startup_seconds=startup,
        startup_seconds_high=startup * source.uniform(1, 3),
    )


# What a number of steps costs, written out as the guide's sentences say it.


def minutes(run: SmokeInputs, steps: int) -> float:
    return (run.startup_seconds + steps * run.step_seconds) / 60


def minutes_at_the_slow_end(run: SmokeInputs, steps: int) -> float:
    return (run.startup_seconds_high + steps * run.step_seconds_high) / 60


def percent_of_the_run(run: SmokeInputs, steps: int) -> float:
    return 100 * minutes(run, steps) / 60 * run.n_gpus / run.run_gpu_hours


def most(allowed: Callable[[int], bool]) -> int:
    """Return the largest count for which a condition holds that holds up to some count."""
    return bisect_left(range(1, 10**9), True, key=lambda steps: not allowed(steps))


def fewest(reached: Callable[[int], bool]) -> int:
    """Return the smallest count from which on a condition holds."""
    return 1 + bisect_left(range(1, 10**9), True, key=reached)


def found_by_search(run: SmokeInputs) -> tuple[int, Bound]:
    """Apply the bounds from the weakest to the strongest; the last to change the count wins."""
    steps = fewest(lambda n: n >= run.total_steps / 100)
    bound = Bound.TARGET_SHARE
    for name, reached in (
        (Bound.MIN_MINUTES, lambda n: minutes(run, n) >= 10),
        (Bound.MIN_STEPS, lambda n: n >= 100),
    ):
        wanted = fewest(reached)
        if wanted >= steps:
            steps, bound = wanted, name
    in_time = most(lambda n: minutes_at_the_slow_end(run, n) <= 30)
    cheap = most(lambda n: percent_of_the_run(run, n) <= 5)
    if in_time == 0:
        return 1, Bound.MAX_MINUTES
    if cheap == 0:
        return min(100, in_time, run.total_steps), Bound.RUN_ITSELF
    if cheap < steps:
        steps, bound = cheap, Bound.MAX_SHARE
    if in_time < steps or (in_time == steps and bound is Bound.MAX_SHARE):
        steps, bound = in_time, Bound.MAX_MINUTES
    if steps >= run.total_steps:
        return run.total_steps, Bound.RUN_ITSELF
    return steps, bound


def check_flags(run: SmokeInputs, size: SmokeSize) -> None:
    assert size.seconds == pytest.approx(60 * minutes(run, size.steps))
    assert size.gpu_hours == pytest.approx(minutes(run, size.steps) / 60 * run.n_gpus)
    assert 100 * size.share == pytest.approx(percent_of_the_run(run, size.steps))
    assert size.too_few_steps is (size.steps < 100)
    assert size.startup_dominates is (2 * run.startup_seconds > size.seconds)
    assert size.over_thirty_minutes is (minutes_at_the_slow_end(run, size.steps) > 30)


def check_precedence(run: SmokeInputs, size: SmokeSize) -> None:
    """Assert that a bound is broken only where a stronger one, or the run's length, forces it."""
    one_step_in_time = minutes_at_the_slow_end(run, 1) <= 30
    assert 1 <= size.steps <= run.total_steps
    assert size.over_thirty_minutes is not one_step_in_time
    if size.bound is not Bound.RUN_ITSELF and one_step_in_time:
        assert percent_of_the_run(run, size.steps) <= 5 * (1 + 1e-9)
    stronger = (Bound.MAX_MINUTES, Bound.MAX_SHARE, Bound.RUN_ITSELF)
    if size.bound not in stronger:
        assert size.steps >= 100
        assert minutes(run, size.steps) >= 10 * (1 - 1e-9)
        assert size.steps >= run.total_steps / 100


def check_that_the_bound_binds(run: SmokeInputs, size: SmokeSize) -> None:
    """Assert that a step more would break a named cap, and a step less miss a named floor."""
    match size.bound:
        case Bound.MAX_MINUTES:
            assert minutes_at_the_slow_end(run, size.steps + 1) > 30
        case Bound.MAX_SHARE:
            assert percent_of_the_run(run, size.steps + 1) > 5
        case Bound.MIN_STEPS:
            assert size.steps == 100
        case Bound.MIN_MINUTES:
            assert minutes(run, size.steps - 1) < 10
        case Bound.TARGET_SHARE:
            assert size.steps - 1 < run.total_steps / 100
        case Bound.RUN_ITSELF:
            alone = percent_of_the_run(run, 1) > 5
            assert alone or size.steps == run.total_steps


def test_ten_thousand_runs_are_sized_as_a_search_over_step_counts_sizes_them() -> None:
    seen = set()
    for seed in range(10_000):
        run = drawn(seed)
        size = size_smoke(run, RULES)
        assert (size.steps, size.bound) == found_by_search(run), run
        check_flags(run, size)
        check_precedence(run, size)
        check_that_the_bound_binds(run, size)
        seen.add(size.bound)
    assert seen == set(Bound)


@settings(max_examples=100, deadline=None)
@given(st.integers(10_000, 2**40), st.floats(1.01, 10))
def test_slower_steps_never_make_a_smoke_test_of_more_steps(seed: int, factor: float) -> None:
    run = drawn(seed)
    slower = replace(
        run,
        step_seconds=run.step_seconds * factor,
        step_seconds_high=run.step_seconds_high * factor,
    )
    size = size_smoke(slower, RULES)
    if size.bound is not Bound.RUN_ITSELF:
        assert size.steps <= size_smoke(run, RULES).steps


# Worked examples


def test_one_percent_of_the_steps_wins_where_nothing_else_binds() -> None:
    size = size_smoke(PLAIN, RULES)
    assert size == SmokeSize(
        steps=1000,
        bound=Bound.TARGET_SHARE,
        seconds=1060.0,
        gpu_hours=1060 / 3600,
        share=1060 / 3600 / 800,
        too_few_steps=False,
        startup_dominates=False,
        over_thirty_minutes=False,
    )


def test_a_long_run_stops_at_thirty_minutes_of_the_slow_end() -> None:
    size = size_smoke(replace(PLAIN, total_steps=10**7, run_gpu_hours=10**5), RULES)
    assert (size.steps, size.bound) == (1400, Bound.MAX_MINUTES)  # (1800 − 120) / 1.2


def test_a_small_run_stays_at_ten_minutes() -> None:
    size = size_smoke(replace(PLAIN, total_steps=20_000, run_gpu_hours=5.6), RULES)
    assert (size.steps, size.bound) == (540, Bound.MIN_MINUTES)  # 60 s + 540 s


def test_slow_steps_end_at_a_hundred() -> None:
    size = size_smoke(
        replace(PLAIN, total_steps=5000, step_seconds=10, step_seconds_high=12), RULES
    )
    assert (size.steps, size.bound) == (100, Bound.MIN_STEPS)


def test_five_percent_of_the_gpu_hours_count_the_start_up() -> None:
    """One device for 10,000 s: 5 % are 500 s, of which 60 s are start-up."""
    size = size_smoke(replace(PLAIN, total_steps=9900, run_gpu_hours=10_000 / 3600), RULES)
    assert (size.steps, size.bound, size.share) == (440, Bound.MAX_SHARE, pytest.approx(0.05))


def test_a_hundred_of_five_hundred_steps_are_never_taken_where_five_percent_can_be_kept() -> None:
    """100 of 500 steps would be a fifth of the run: the share comes before the hundred."""
    run = replace(
        PLAIN,
        total_steps=500,
        run_gpu_hours=500 * 30 / 3600,
        step_seconds=30,
        step_seconds_high=30,
    )
    size = size_smoke(run, RULES)
    assert (size.steps, size.bound, size.too_few_steps) == (23, Bound.MAX_SHARE, True)
    assert size.share <= 0.05


def test_the_first_hundred_steps_serve_where_start_up_alone_is_over_five_percent() -> None:
    run = replace(PLAIN, total_steps=500, run_gpu_hours=560 / 3600)
    size = size_smoke(run, RULES)
    assert (size.steps, size.bound) == (100, Bound.RUN_ITSELF)


def test_a_run_shorter_than_its_smoke_test_is_taken_whole() -> None:
    size = size_smoke(replace(PLAIN, total_steps=40, run_gpu_hours=1000), RULES)
    assert (size.steps, size.bound, size.too_few_steps) == (40, Bound.RUN_ITSELF, True)


def test_a_step_of_an_hour_leaves_one_step_and_says_that_it_is_too_slow() -> None:
    run = replace(PLAIN, step_seconds=3600, step_seconds_high=4000, run_gpu_hours=10**6)
    size = size_smoke(run, RULES)
    assert (size.steps, size.bound) == (1, Bound.MAX_MINUTES)
    assert (size.too_few_steps, size.startup_dominates, size.over_thirty_minutes) == (
        True,
        False,
        True,
    )


def test_start_up_of_more_than_half_is_flagged() -> None:
    size = size_smoke(replace(PLAIN, startup_seconds=1000, startup_seconds_high=1100), RULES)
    assert (size.steps, size.bound) == (583, Bound.MAX_MINUTES)  # (1800 − 1100) / 1.2
    assert size.startup_dominates is True
