"""Measured losses: minima, exponents, honest intervals, and minima that are none."""

import math
import random

import pytest
from compute_budget_planner.planning.law_fit import LawFit, MeasuredPoint, fit_law
from compute_budget_planner.planning.scaling_law import Surface
from hypothesis import given, settings
from hypothesis import strategies as st

SURFACE = Surface(e=1.8172, a=482.01, b=2085.43, alpha=0.3478, beta=0.3658)
PARAMS_EXPONENT = 0.3658 / (0.3478 + 0.3658)
BUDGETS = (1e19, 4e19, 1.6e20, 6.4e20)
SIZES = (0.4, 0.65, 1.0, 1.6, 2.5)


def points(
    noise: float = 0.0,
    seed: int = 0,
    sizes: tuple[float, ...] = SIZES,
    budgets: tuple[float, ...] = BUDGETS,
    seeds: int = 1,
) -> list[MeasuredPoint]:
    """Return losses of the surface around its own optima, with log-normal noise."""
    source = random.Random(seed)  # noqa: S311  statistics, no secret
    found = []
    for budget in budgets:
        middle = SURFACE.optimum(budget).params
        for size in sizes:
            params, tokens = middle * size, budget / (6 * middle * size)
            for run in range(seeds):
                loss = SURFACE.loss(params, tokens) * math.exp(source.gauss(0, noise))
                found.append(MeasuredPoint(params, tokens, loss, run))
    return found


def fitted(**options: object) -> LawFit:
    return fit_law(points(**options), 10)  # type: ignore[arg-type]


def test_without_noise_the_exponents_are_those_of_the_surface() -> None:
    fit = fitted()
    assert fit.params_exponent is not None
    assert fit.tokens_exponent is not None
    assert fit.params_exponent.expected == pytest.approx(PARAMS_EXPONENT, abs=0.001)
    assert fit.tokens_exponent.expected == pytest.approx(1 - PARAMS_EXPONENT, abs=0.001)
    for minimum, budget in zip(fit.minima, BUDGETS, strict=True):
        assert (minimum.status, minimum.sizes, minimum.seeds) == ("interior", 5, 1)
        assert 6 * minimum.nd_product == pytest.approx(budget)
        assert minimum.params is not None
        # Parabolas are a little biased where the two sides of the minimum differ.
        assert minimum.params.expected == pytest.approx(SURFACE.optimum(budget).params, rel=0.02)


def test_the_eighty_percent_interval_covers_the_truth_in_eighty_percent_of_500_draws() -> None:
    hits = tokens_hits = 0
    for seed in range(500):
        fit = fitted(noise=0.004, seed=seed)
        a, b = fit.params_exponent, fit.tokens_exponent
        assert a is not None and a.low is not None and a.high is not None
        assert b is not None and b.low is not None and b.high is not None
        hits += a.low <= PARAMS_EXPONENT <= a.high
        tokens_hits += b.low <= 1 - PARAMS_EXPONENT <= b.high
    assert 375 <= hits <= 425
    assert tokens_hits == hits


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.002, 0.01]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_lowest_loss_in_an_outermost_cell_is_always_flagged(
    seed: int, noise: float, upwards: bool
) -> None:
    sizes = (0.1, 0.16, 0.25, 0.4, 0.55) if upwards else (1.9, 2.8, 4.0, 6.0, 9.0)
    for minimum in fitted(noise=noise, seed=seed, sizes=sizes).minima:
        if minimum.lowest_params in [
            pytest.approx(SURFACE.optimum(6 * minimum.nd_product).params * size, rel=0.01)
            for size in (sizes[0], sizes[-1])
        ]:
            assert minimum.status != "interior"
            assert minimum.params is None


def test_sizes_on_one_side_of_the_optimum_give_edges_and_no_exponent() -> None:
    fit = fitted(sizes=(0.1, 0.2, 0.4, 0.6))
    assert [m.status for m in fit.minima] == ["edge"] * 4
    assert (fit.params_exponent, fit.tokens_exponent) == (None, None)


def test_losses_that_do_not_curve_upwards_have_no_minimum() -> None:
    hill = [MeasuredPoint(n, 1e18 / n, loss, 0) for n, loss in ((1e8, 3), (2e8, 3.2), (4e8, 3))]
    (minimum,) = fit_law(hill, 10).minima
    assert (minimum.status, minimum.params) == ("no minimum", None)


def test_two_sizes_are_too_few_however_many_seeds() -> None:
    (minimum,) = fitted(sizes=(0.5, 2.0), budgets=(1e20,), seeds=5).minima
    assert (minimum.status, minimum.sizes, minimum.seeds) == ("too few", 2, 5)


def test_three_sizes_and_one_seed_give_a_minimum_without_interval() -> None:
    fit = fitted(sizes=(0.5, 1.0, 2.0), budgets=(1e19, 1e20))
    assert fit.noise_percent is None
    assert fit.params_exponent is not None
    assert (fit.params_exponent.low, fit.params_exponent.high) == (None, None)
    assert all(m.params is not None and m.params.low is None for m in fit.minima)


def test_a_second_seed_shows_the_noise() -> None:
    fit = fitted(noise=0.003, seed=3, sizes=(0.5, 1.0, 2.0), budgets=(1e19, 1e20, 1e21), seeds=2)
    assert [m.seeds for m in fit.minima] == [2, 2, 2]
    assert fit.noise_percent is not None
    assert 0.1 < fit.noise_percent < 0.6
    assert fit.params_exponent is not None
    assert fit.params_exponent.low is not None


def test_the_same_losses_give_the_same_fit() -> None:
    assert fitted(noise=0.004, seed=7) == fitted(noise=0.004, seed=7)


def test_the_order_of_the_losses_does_not_matter() -> None:
    given_points = points(noise=0.004, seed=7)
    forwards, backwards = fit_law(given_points, 10), fit_law(given_points[::-1], 10)
    for one, other in zip(forwards.minima, backwards.minima, strict=True):
        assert one.status == other.status
        assert one.params is not None
        assert other.params is not None
        assert one.params.expected == pytest.approx(other.params.expected)


@given(st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_an_interval_holds_its_estimate(seed: int) -> None:
    exponent = fitted(noise=0.01, seed=seed).params_exponent
    if exponent is not None and exponent.low is not None and exponent.high is not None:
        assert exponent.low <= exponent.expected <= exponent.high


def test_sizes_that_agree_to_three_digits_are_one_size() -> None:
    near = [MeasuredPoint(1e8 * (1 + i * 1e-12), 1e10, 3.0 + i / 10, i) for i in range(4)]
    (minimum,) = fit_law(near, 10).minima
    assert (minimum.status, minimum.sizes, minimum.seeds) == ("too few", 1, 4)
