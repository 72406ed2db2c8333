"""Sweeps: how many runs, what they share, and when nobody can tell."""

import pytest
from compute_budget_planner.readers import sweep_grid, wandb_sweep
from file_facts import problem_texts, reading_of, values


@pytest.mark.parametrize(
    ("extra", "n_runs"),
    [
        ("", 6),
        ("  d: {value: 3}\n", 6),
        ("  d: {values: [1]}\n", 6),
        ("  d: {values: [1, 2]}\n", 12),
    ],
)
def test_a_grid_is_the_product_of_its_lists(extra: str, n_runs: int) -> None:
    text = (
        f"method: grid\nparameters:\n  lr: {{values: [1, 2, 3]}}\n  b: {{values: [1, 2]}}\n{extra}"
    )
    assert reading_of(wandb_sweep.READER, "sweep.yaml", text).n_runs == n_runs


def test_a_bayesian_sweep_has_no_count_and_early_termination_makes_it_an_upper_bound() -> None:
    text = (
        "method: bayes\nearly_terminate: {type: hyperband}\nparameters:\n"
        "  gradient_accumulation_steps: {values: [1, 2]}\n  epochs: {value: 3}\n"
    )
    reading = reading_of(wandb_sweep.READER, "sweep.yaml", text)
    assert (reading.n_runs, values(reading.facts)) == (1, {"epochs": 3.0})
    asked = problem_texts(reading)
    assert "how many does `wandb agent --count` start" in asked[0]
    assert "an upper bound" in asked[1]
    assert "differ in `gradient_accumulation_steps`" in asked[2]


def test_a_run_cap_counts_a_random_sweep() -> None:
    text = "method: random\nrun_cap: 40\nparameters:\n  lr: {min: 0, max: 1}\n"
    reading = reading_of(wandb_sweep.READER, "sweep.yaml", text)
    assert reading.n_runs == 40
    assert not any("--count" in text for text in problem_texts(reading))


def test_the_active_sweep_alone_is_counted_with_its_own_seeds() -> None:
    text = (
        "base_config: configs/train.yaml\n"
        "sweep:\n  learning_rate: [1, 2, 3]\n  lora_r: [4, 8, 16]\n  num_train_epochs: [1, 3, 5]\n"
        "seeds: [1, 2, 3, 4, 5, 6]\n"
        "quick_sweep:\n  learning_rate: [2]\n  num_train_epochs: [1, 3]\n  seeds: [1, 2, 3]\n"
        "active_sweep: quick_sweep\n"
    )
    reading = reading_of(sweep_grid.READER, "sweep.yaml", text)
    assert (reading.n_runs, reading.facts) == (6, ())
    assert [r.path for r in reading.references] == ["configs/train.yaml"]
    whole = text.replace("active_sweep: quick_sweep", "active_sweep: sweep")
    assert reading_of(sweep_grid.READER, "sweep.yaml", whole).n_runs == 3 * 3 * 3 * 6


def test_a_search_space_does_not_say_how_many_trials_are_run() -> None:
    text = (
        "batch_size: {type: categorical, values: [1, 2]}\n"
        "grad_acc_steps: {type: int, min: 16, max: 32}\n"
        "decoder_loss_weight: {type: fixed, value: 0.5}\n"
    )
    reading = reading_of(sweep_grid.READER, "sweep.yaml", text)
    assert (reading.n_runs, reading.facts) == (1, ())
    assert problem_texts(reading) == [
        (
            "sweep.yaml:1: the runs differ in `batch_size`, `grad_acc_steps`, and may differ in"
            " cost. State the values of the run to be estimated, or cost the runs as variants."
        ),
        "sweep.yaml:1: a search space does not say how many trials are run; give `tuning_trials`.",
    ]
