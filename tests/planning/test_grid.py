"""Cells of a grid: sizes, real shapes, true FLOPs and what to run first."""

from dataclasses import replace

import pytest
from compute_budget_planner.errors import RequestError
from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.planning.grid import (
    Wish,
    budget_wishes,
    failure_of,
    first_cells,
    flops_per_token,
    ratios,
    relative_wishes,
    sized,
)
from compute_budget_planner.planning.grid_shapes import shape_facts, shape_near
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.known_models import catalogue_facts
from compute_budget_planner.workload.model_shape import model_from
from compute_budget_planner.workload.run import TrainingRun
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_run import planned_run

REFERENCE = load_reference()


def known(name: str) -> Architecture:
    model = REFERENCE.find_model(name)
    assert model is not None
    found = model_from({f.name: f.value for f in catalogue_facts(model, REFERENCE)})
    assert isinstance(found, Architecture)
    return found


def run_of(**facts: object) -> TrainingRun:
    given_facts = {
        "model": "gpt2",
        "gpu": "A100-SXM-80GB",
        **facts,
    }
    return planned_run(**given_facts)


def test_three_cells_are_a_half_the_whole_and_twice() -> None:
    assert ratios(3, 2) == [0.5, 1, 2]
    wishes = budget_wishes(1, 1e20, 1e9, ratios(3, 2))
    assert [(w.name, w.params, w.role) for w in wishes] == [
        ("b1-n0.5", 0.5e9, "smaller"),
        ("b1-n1", 1e9, "middle"),
        ("b1-n2", 2e9, "larger"),
    ]


def test_relative_units_of_equal_product_have_equal_6nd() -> None:
    wishes = relative_wishes([(1, 16), (2, 8), (4, 4)], 1e8, 1e9, 6)
    assert [(w.name, w.params, w.tokens, w.budget_flops, w.role) for w in wishes] == [
        ("n1-d16", 1e8, 16e9, 9.6e18, "smaller"),
        ("n2-d8", 2e8, 8e9, 9.6e18, "middle"),
        ("n4-d4", 4e8, 4e9, 9.6e18, "larger"),
    ]


@pytest.mark.parametrize(
    "name",
    ["gpt2", "Llama-2-7B", "Llama-3-8B", "Gemma-2B", "Qwen2.5-7B", "Mixtral-8x7B", "DeepSeek-V3"],
)
@pytest.mark.parametrize("factor", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_a_shape_of_the_family_comes_near_the_wanted_size(name: str, factor: float) -> None:
    arch = known(name)
    wanted = factor * count_parameters(arch).total
    found = shape_near(arch, wanted)
    # A vocabulary of a quarter million rows leaves a quarter of Gemma-2B little to choose from.
    assert count_parameters(found).total == pytest.approx(wanted, rel=0.06)
    for kept in ("family", "glu", "vocab_size", "tied_embeddings", "causal", "sliding_window"):
        assert getattr(found, kept) == getattr(arch, kept)
    assert found.n_heads % found.n_kv_heads == 0
    assert found.d_model % 16 == 0
    aspect = found.d_model / found.n_layers / (arch.d_model / arch.n_layers)
    assert 0.6 < aspect < 1.7


def test_the_own_size_gives_the_model_itself() -> None:
    arch = known("Llama-3-8B")
    assert shape_near(arch, count_parameters(arch).total) is arch


@given(st.floats(2e8, 1e12), st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4]))
@settings(max_examples=30, deadline=None)
def test_heads_and_layers_are_multiples_that_parallelism_can_share(
    params: float, tp: int, pp: int
) -> None:
    found = shape_near(known("Llama-2-7B"), params, tp, pp)
    assert found.n_heads % tp == 0
    assert found.n_layers % pp == 0


def test_a_family_whose_embeddings_are_larger_than_the_wish_is_refused() -> None:
    with pytest.raises(
        RequestError, match="no model of the family `gemma` is as small as 1,000,000"
    ):
        shape_near(known("Gemma-2B"), 1e6)


def test_a_size_beyond_all_models_is_refused_at_once() -> None:
    with pytest.raises(RequestError, match="a cell would have 1e20 parameters"):
        shape_near(known("gpt2"), 1e20)
    assert count_parameters(shape_near(known("gpt2"), 9e13)).total == pytest.approx(9e13, rel=0.06)


def test_the_facts_of_a_shape_build_it_again() -> None:
    arch = known("Mixtral-8x7B")
    half = shape_near(arch, 2e10)
    base = {
        f.name: f.value for f in catalogue_facts(REFERENCE.find_model("Mixtral-8x7B"), REFERENCE)
    }  # type: ignore[arg-type]
    assert model_from({**base, **shape_facts(half)}) == half


def test_a_cell_spends_its_budget_in_true_flops_to_within_half_a_step() -> None:
    run = run_of()
    cell = sized(Wish("a", 1e19, 250e6, "larger"), run, None)
    step = flops_per_token(cell.arch, run) * 512 * 1024
    assert abs(cell.training_flops - 1e19) <= step / 2
    assert cell.tokens == cell.optimizer_steps * 512 * 1024


def test_equal_6nd_is_not_equal_compute() -> None:
    run = run_of(seq_len=8192, micro_batch_size=2)
    cells = [
        sized(Wish(name, 1e20, params, "middle"), run, 6.0)
        for name, params in (("small", 30e6), ("large", 2e9))
    ]
    small, large = (cell.budget_deviation_percent for cell in cells)
    assert small > 20
    assert abs(large) < small / 2


def test_checkpointing_is_paid_for_and_learns_nothing() -> None:
    plain, again = (
        sized(Wish("a", 1e19, 124e6, "middle"), run_of(activation_checkpointing=mode), None)
        for mode in ("none", "full")
    )
    # Three passes against four, but the head is not computed again.
    assert 0.75 < again.tokens / plain.tokens < 0.82


def test_parameters_without_embeddings_leave_tables_and_head_out() -> None:
    cell = sized(Wish("a", 1e19, 124_439_808, "middle"), run_of(), None)
    # GPT-2: 50,257 × 768 tokens, 1,024 × 768 positions, the head tied.
    assert cell.params_total == 124_439_808
    assert cell.params_without_embeddings == 124_439_808 - 50_257 * 768 - 1024 * 768


def test_a_cell_that_repeats_its_data_often_fails_by_data_whatever_its_size() -> None:
    run = run_of()
    roles = ("smaller", "middle", "larger", "higher-budget")
    cells = [sized(Wish(role, 1e19, 124e6, role), run, None) for role in roles]
    failures = [failure_of(cell, 1.0, REFERENCE).required("failure") for cell in cells]
    assert failures == ["capacity", "indistinct", "under-training", "trend"]
    assert {failure_of(c, 9.0, REFERENCE).required("failure") for c in cells} == {"data"}
    assert failure_of(cells[0], None, REFERENCE).required("failure") == "capacity"


def test_the_middle_of_the_lowest_budget_is_run_first_and_what_does_not_fit_never() -> None:
    run = run_of()
    wishes = [
        *budget_wishes(1, 1e19, 124e6, ratios(5, 2)),
        *budget_wishes(2, 4e19, 250e6, ratios(3, 2)),
    ]
    cells = [sized(wish, run, None) for wish in wishes]
    assert first_cells(cells, [], 3) == ["b1-n1", "b1-n0.5", "b1-n2"]
    assert first_cells(cells, ["b1-n2"], 3) == ["b1-n1", "b1-n0.5", "b1-n0.25"]
    own = [replace(cells[0], wish=replace(cells[0].wish, role="larger"))]
    assert first_cells(own, [], 3) == ["b1-n0.25"]
