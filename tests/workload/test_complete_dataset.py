"""A data set's name is enough for its size, unless somebody gives one."""

from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.workload.facts import Basis, Fact, FactValue, Layer
from compute_budget_planner.workload.known_datasets import complete_dataset
from compute_budget_planner.workload.ledger import Ledger


def completed(**given: FactValue) -> dict[str, tuple[FactValue, Basis]]:
    facts = {n: Fact(n, v, Basis.STATED, "", Layer.ARGUMENT) for n, v in given.items()}
    ledger = Ledger(facts)
    complete_dataset(ledger, load_reference())
    return {name: (fact.value, fact.basis) for name, fact in ledger.facts.items()}


def test_a_known_name_gives_examples_and_tokens_from_the_reference() -> None:
    assert completed(dataset="openwebtext") == {
        "dataset": ("openwebtext", Basis.STATED),
        "dataset_examples": (8_013_769, Basis.REFERENCE),
        "dataset_tokens": (9_035_582_198, Basis.REFERENCE),
    }


def test_a_size_somebody_gives_keeps_both_sizes_of_the_reference_out() -> None:
    assert completed(dataset="openwebtext", dataset_examples=1000) == {
        "dataset": ("openwebtext", Basis.STATED),
        "dataset_examples": (1000, Basis.STATED),
    }


def test_several_data_sets_or_an_unknown_one_give_nothing() -> None:
    assert completed(dataset="alpaca + dolly").keys() == {"dataset"}
    assert completed(dataset="ours").keys() == {"dataset"}
    assert completed() == {}
