"""Repeated data: what epochs are worth, and what is recorded about them."""

import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.planning.repetition import DataUse, data_use, effective_tokens
from hypothesis import given
from hypothesis import strategies as st

REFERENCE = load_reference()
DECAY = REFERENCE.value("repetition_decay")
tokens = st.floats(1e6, 1e14)


# Muennighoff et al. 2023, arXiv:2305.16264: constants of its law, epochs of its figures.
@pytest.mark.parametrize(("epochs", "worth"), [(1, 1.0), (4, 3.73), (16, 10.6), (40, 15.2)])
def test_epochs_are_worth_the_published_number_of_fresh_passes(epochs: int, worth: float) -> None:
    unique = 1e9
    assert effective_tokens(epochs * unique, unique, DECAY) / unique == pytest.approx(
        worth, abs=0.05
    )


@given(tokens, tokens)
def test_repeats_are_worth_at_most_as_much_as_fresh_data(total: float, unique: float) -> None:
    worth = effective_tokens(total, unique, DECAY)
    assert min(total, unique) * (1 - 1e-9) <= worth <= total * (1 + 1e-9)
    assert worth <= unique * (1 + DECAY)


@given(tokens, st.floats(1, 100), st.floats(1.01, 10))
def test_more_training_never_lowers_what_the_data_is_worth(
    unique: float, epochs: float, more: float
) -> None:
    less = effective_tokens(unique * epochs, unique, DECAY)
    assert effective_tokens(unique * epochs * more, unique, DECAY) >= less


def test_four_epochs_of_a_generator_that_makes_more_are_recorded() -> None:
    use = data_use(8e9, 2e9, REFERENCE, generator_tokens=10e9)
    assert use == DataUse(
        tokens=8e9,
        seen_tokens=2e9,
        epochs=4.0,
        repeated_percent=75.0,
        effective_tokens=pytest.approx(7.46e9, rel=0.005),
        coverage_percent=20.0,
    )


def test_less_than_one_epoch_repeats_nothing() -> None:
    use = data_use(1e9, 4e9, REFERENCE)
    assert use == DataUse(1e9, 1e9, 0.25, 0.0, 1e9, None)
