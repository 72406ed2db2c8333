import pytest
from compute_budget_planner.readers.batch_scope import settled_batch, split_problems
from compute_budget_planner.readers.contract import Basis, Fact, Layer
from file_facts import values
from hypothesis import given
from hypothesis import strategies as st


def facts(assumed=False, **given_values):
    return [
        Fact(
            name,
            value,
            Basis.ASSUMED if assumed and name == "micro_batch_size" else Basis.CONFIGURED,
            "a.sh:1",
            Layer.ASSUMPTION if assumed and name == "micro_batch_size" else Layer.CONFIG,
        )
        for name, value in given_values.items()
    ]


def test_megatrons_accumulation_follows_from_both_batches_and_the_ranks_left_for_data():
    # BLOOM, arXiv:2211.05100: 2048 sequences over 8 replicas of 48 GPUs with micro batches of 2.
    found = settled_batch(
        facts(n_gpus=384, tp=4, pp=12, micro_batch_size=2, global_batch_size=2048)
    )
    assert values(tuple(found))["grad_accum_steps"] == 128


@pytest.mark.parametrize(
    ("batch", "n_gpus", "settled"), [(64, 1, True), (2, 8, True), (64, 8, False)]
)
def test_a_bare_batch_is_settled_where_the_devices_leave_no_choice(batch, n_gpus, settled):
    found = settled_batch(facts(assumed=True, n_gpus=n_gpus, micro_batch_size=batch))
    batch_fact = next(fact for fact in found if fact.name == "micro_batch_size")
    assert (batch_fact.basis is Basis.CONFIGURED) is settled


def test_devices_that_cannot_hold_the_split_model_are_questioned():
    problems = list(split_problems(facts(n_gpus=8, tp=8, pp=16)))
    assert [(p.source, p.text) for p in problems] == [
        (
            "a.sh:1",
            (
                "tensor, pipeline and context parallelism need a multiple of 128 GPUs; the file "
                "names 8, perhaps a placeholder. Give `n_gpus`."
            ),
        )
    ]
    assert list(split_problems(facts(n_gpus=256, tp=8, pp=16))) == []


_COUNT = st.integers(1, 64)


@given(_COUNT, _COUNT, _COUNT)
def test_an_accumulation_is_derived_from_the_global_batch_it_makes(n_gpus, micro, accumulation):
    whole = n_gpus * micro * accumulation
    found = values(
        tuple(settled_batch(facts(n_gpus=n_gpus, micro_batch_size=micro, global_batch_size=whole)))
    )
    assert found["grad_accum_steps"] == accumulation
