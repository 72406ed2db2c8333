"""Serving: the deployment optimum, GPU-seconds per token, search at test time."""

import pytest
from compute_budget_planner.estimation.flops import flops_per_token_forward
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.planning.inference_cost import (
    deployment_optimum,
    samples_at_equal_cost,
    serving_rate,
)
from compute_budget_planner.planning.scaling_law import Allocation, Surface, scaling_law
from compute_budget_planner.workload.typical_model import typical_architecture
from hypothesis import given
from hypothesis import strategies as st

REFERENCE = load_reference()
SURFACE = scaling_law(REFERENCE).surface
SARDANA = Surface(e=1.69, a=406.4, b=410.7, alpha=0.336, beta=0.283)
"""The constants arXiv:2401.00448 works with; only its own example is computed with them."""


def test_the_example_of_the_paper_comes_out() -> None:
    # A 13B model for 2e12 served tokens: 7B on 2.1 times the data, 1.7e22 FLOPs (17 %) less.
    budget = 4.4966e22
    optimum = SARDANA.optimum(budget)
    assert optimum.params == pytest.approx(13e9, rel=0.001)
    life = deployment_optimum(SARDANA, optimum, 2e12)
    assert life.best.params == pytest.approx(7e9, rel=0.02)
    assert life.best.tokens / optimum.tokens == pytest.approx(2.1, rel=0.05)
    assert life.saving_percent == pytest.approx(17, abs=0.6)
    spent = life.training_flops + life.serving_flops
    assert budget + 2 * 13e9 * 2e12 - spent == pytest.approx(1.7e22, rel=0.02)


@given(st.floats(1e19, 1e24), st.floats(1e9, 1e15))
def test_serving_makes_the_best_model_smaller_and_trained_longer_at_the_same_loss(
    budget: float, served: float
) -> None:
    optimum = SURFACE.optimum(budget)
    life = deployment_optimum(SURFACE, optimum, served)
    assert life.best.params <= optimum.params * (1 + 1e-9)
    assert life.best.tokens >= optimum.tokens * (1 - 1e-9)
    assert life.saving_percent >= -1e-6
    assert SURFACE.loss(life.best.params, life.best.tokens) == pytest.approx(
        SURFACE.loss(optimum.params, optimum.tokens)
    )


@given(st.floats(1e9, 1e14))
def test_more_serving_never_makes_it_larger(served: float) -> None:
    optimum = SURFACE.optimum(1e21)
    less = deployment_optimum(SURFACE, optimum, served).best.params
    assert deployment_optimum(SURFACE, optimum, 10 * served).best.params <= less * (1 + 1e-6)


def test_nothing_served_leaves_the_training_optimum() -> None:
    optimum = SURFACE.optimum(1e21)
    life = deployment_optimum(SURFACE, optimum, 0.0)
    assert life.best.params == pytest.approx(optimum.params, rel=1e-3)
    assert (life.serving_flops, life.saving_percent) == (0.0, pytest.approx(0, abs=1e-4))


def test_gpu_seconds_of_a_token_follow_from_the_dense_peak_and_the_share_of_it() -> None:
    (h100,) = REFERENCE.find_accelerators("H100-SXM-80GB")
    rate = serving_rate(989e12, h100, "bf16", REFERENCE)
    read = REFERENCE.quantity("serving_read_percent")
    assert rate.read.low == pytest.approx(100 / read.high, rel=0.001)
    assert rate.read.high == pytest.approx(100 / read.low, rel=0.001)
    assert rate.written.expected > rate.read.expected
    hours = rate.gpu_hours(3600.0, 0.0)
    assert (hours.low, hours.high) == (rate.read.low, rate.read.high)


def test_a_small_model_may_search_as_often_as_the_large_one_costs_more() -> None:
    small, large = (
        flops_per_token_forward(typical_architecture(n), 2048).total
        for n in (125_000_000, 1_000_000_000)
    )
    assert samples_at_equal_cost(small, large) == pytest.approx(large / small)
    assert 5 < samples_at_equal_cost(small, large) < 12


def test_an_allocation_says_its_tokens_per_parameter() -> None:
    assert Allocation(1e9, 20e9).tokens_per_param == 20
