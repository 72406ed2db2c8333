import pytest
from compute_budget_planner.readers.contract import Basis
from compute_budget_planner.readers.determined import READER
from file_facts import of_basis, problem_texts, reading_of, values

SINGLE = """\
name: byol
entrypoint: model_def:Trial
records_per_epoch: 45000
resources: {slots_per_trial: 2}
min_validation_period: {epochs: 2}
data: {dataset_name: cifar10, num_workers: 8}
hyperparameters: {global_batch_size: 256, learning_rate: {type: const, val: 0.2}}
searcher: {name: single, max_length: {epochs: 100}}
"""


def read(text):
    return reading_of(READER, "const.yaml", text)


def test_the_batch_is_global_and_a_constant_is_a_value():
    assert values(read(SINGLE).facts) == {
        "n_gpus": 2,
        "dataset": "cifar10",
        "dataset_examples": 45000,
        "global_batch_size": 256,
        "learning_rate": 0.2,
        "epochs": 100.0,
    }


@pytest.mark.parametrize(
    ("length", "fact"),
    [("batches: 900", ("max_steps", 900)), ("records: 90000", ("epochs", 2.0))],
)
def test_a_length_is_in_epochs_batches_or_records(length, fact):
    found = values(read(SINGLE.replace("epochs: 100", length)).facts)
    assert found[fact[0]] == fact[1]


def test_a_period_of_validation_is_no_length():
    text = SINGLE.replace(", max_length: {epochs: 100}", "")
    assert "epochs" not in values(read(text).facts)


def test_trials_that_stop_early_are_an_upper_bound_and_searched_values_stay_open():
    text = (
        "entrypoint: a:B\nhyperparameters:\n  "
        "global_batch_size: {type: int, minval: 16, maxval: 64}\n"
        "searcher: {name: adaptive_asha, max_length: {epochs: 32}, max_trials: 16}\n"
    )
    found = read(text)
    assert of_basis(found.facts, Basis.CONFIGURED) == {"epochs": 32.0, "tuning_trials": 16}
    assert of_basis(found.facts, Basis.FRAMEWORK_DEFAULT) == {"n_gpus": 1}
    assert found.n_runs == 1
    assert problem_texts(found)[:2] == [
        "const.yaml:3: `global_batch_size` is searched over: each trial has a value of its own.",
        "const.yaml:4: `adaptive_asha` stops most trials early: 16 full trials are the most.",
    ]


def test_a_command_as_entrypoint_is_read():
    text = SINGLE.replace(
        "model_def:Trial",
        "python3 -m determined.launch.torch_distributed python3 train.py --max_steps 5",
    )
    assert values(read(text).facts)["max_steps"] == 5
