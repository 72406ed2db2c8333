"""Scaling laws: published optima and penalties, intervals, and where a law holds."""

import pytest
from compute_budget_planner.errors import GuideError, RequestError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.planning.scaling_law import Allocation, ScalingLaw, scaling_law
from hypothesis import given
from hypothesis import strategies as st

LAW = scaling_law(load_reference())
flops = st.floats(1e17, 1e26)


# Epoch's corrected fit, arXiv:2404.10102: the ratio at three budgets; 93 is that of the rounded
# constants of arXiv:2203.15556.
@pytest.mark.parametrize(("budget", "ratio"), [(1e19, 24.2), (1e21, 21.6), (5.9e23, 18.4)])
def test_the_corrected_constants_give_the_published_tokens_per_parameter(
    budget: float, ratio: float
) -> None:
    assert LAW.surface.optimum(budget).tokens_per_param == pytest.approx(ratio, abs=0.05)


@pytest.mark.parametrize(("budget", "params"), [(1e19, 262e6), (1e21, 2.78e9), (5.9e23, 73e9)])
def test_the_best_size_at_a_budget_is_the_published_one(budget: float, params: float) -> None:
    assert LAW.surface.optimum(budget).params == pytest.approx(params, rel=0.005)


def test_no_law_the_guide_offers_asks_for_the_ratio_of_the_rounded_constants() -> None:
    for name in load_reference().rows("scaling_laws"):
        law = scaling_law(load_reference(), name)
        assert law.surface.optimum(5.9e23).tokens_per_param < 40
        assert law.optimum(5.9e23)[1].high < 40


@pytest.mark.parametrize(
    ("budget", "by_two", "by_four"), [(1e19, 1.2, 4.7), (1e21, 0.65, 2.6), (1e23, 0.32, 1.3)]
)
def test_being_off_in_size_costs_the_published_share_of_the_loss(
    budget: float, by_two: float, by_four: float
) -> None:
    for factor, percent in ((2, by_two), (0.5, by_two), (4, by_four), (0.25, by_four)):
        assert LAW.surface.penalty_percent(budget, factor) == pytest.approx(percent, rel=0.1)


# 500 bootstrap refits of the same points: 80 % of D/N lie between these.
@pytest.mark.parametrize(
    ("budget", "low", "high"), [(1e19, 23.2, 26.1), (1e21, 17.4, 26.6), (1e23, 12.6, 29.3)]
)
def test_the_interval_of_the_ratio_is_that_of_the_bootstrap(
    budget: float, low: float, high: float
) -> None:
    ratio = LAW.optimum(budget)[1]
    assert (ratio.low, ratio.high) == pytest.approx((low, high), rel=0.06)


@given(flops, st.floats(0.1, 10))
def test_no_allocation_of_a_budget_beats_the_optimum(budget: float, factor: float) -> None:
    assert LAW.surface.penalty_percent(budget, factor) >= -1e-9
    best = LAW.surface.optimum(budget)
    assert 6 * best.params * best.tokens == pytest.approx(budget)


@given(flops, st.floats(1, 20))
def test_a_larger_k_buys_less_of_both(budget: float, k: float) -> None:
    with_k, plain = LAW.surface.optimum(budget, 6 * k), LAW.surface.optimum(budget)
    assert with_k.params <= plain.params * (1 + 1e-9)
    assert with_k.tokens <= plain.tokens * (1 + 1e-9)


@given(st.floats(1e8, 1e10), st.floats(1e9, 3e11))
def test_the_tokens_for_a_loss_give_that_loss(params: float, tokens: float) -> None:
    loss = LAW.surface.loss(params, tokens)
    assert LAW.surface.tokens_for(params, loss) == pytest.approx(tokens, rel=1e-6)


def test_a_loss_below_what_a_size_can_reach_needs_no_number_of_tokens() -> None:
    assert LAW.surface.tokens_for(1e8, 2.0) is None


@given(st.floats(57e6, 16e9), st.floats(1e9, 3e11))
def test_a_predicted_loss_spreads_at_least_as_far_as_single_runs_do(
    params: float, tokens: float
) -> None:
    loss = LAW.loss(params, tokens)
    scatter = 1.28155 * LAW.scatter_percent / 100
    assert loss.high / loss.expected >= 1 + scatter
    assert loss.expected / loss.low >= 1 + scatter
    assert loss.width < 1.15


def test_the_best_cell_has_no_penalty_and_the_others_one_with_a_range() -> None:
    best = LAW.surface.optimum(1e21)
    cells = [Allocation(best.params * f, best.tokens / f) for f in (0.5, 1, 2)]
    smaller, middle, larger = LAW.penalties_percent(cells)
    assert (middle.expected, middle.low) == (0.0, 0.0)
    for cell in (smaller, larger):
        assert 0 <= cell.low < cell.expected < cell.high
        assert cell.expected == pytest.approx(0.65, rel=0.1)


def test_a_law_covers_its_fitted_range_and_nothing_else() -> None:
    assert LAW.covers(1e9, 20e9)
    for params, tokens in ((1e6, 20e9), (70e9, 20e9), (1e9, 1e6), (1e9, 15e12)):
        assert not LAW.covers(params, tokens)


def test_an_unknown_law_is_refused_with_those_there_are() -> None:
    with pytest.raises(RequestError) as caught:
        scaling_law(load_reference(), "chinchila-corrected")
    assert str(caught.value) == (
        "law: the guide has no scaling law `chinchila-corrected`. "
        "Did you mean `chinchilla-corrected`?"
    )


def test_a_law_of_a_lab_without_refits_has_no_width_of_its_own() -> None:
    own = _with_row("| lab | 2 | 400 | 2000 | 0.35 | 0.36 | 1 | 1e6 | 1e9 | 1e7 | 1e11 | ours |")
    law: ScalingLaw = scaling_law(own, "lab")
    assert law.draws == ()
    assert law.optimum(1e19)[0].width == 1.0


def test_a_constant_of_zero_is_refused_with_its_place() -> None:
    own = _with_row("| lab | 2 | 400 | 2000 | 0 | 0.36 | 1 | 1e6 | 1e9 | 1e7 | 1e11 | ours |")
    with pytest.raises(GuideError, match="column `alpha`: a constant of a scaling law is 0"):
        scaling_law(own, "lab")


def _with_row(row: str) -> Reference:
    head = (
        "Table `scaling_laws`. Source: a test. Checked: 2026-11-30.\n\n"
        "| law | e | a | b | alpha | beta | scatter_percent | params_low | params_high "
        "| tokens_low | tokens_high | source |\n" + "|---" * 12 + "|\n"
    )
    return load_reference([("lab.md", head + row + "\n")])
