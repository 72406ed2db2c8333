"""One value per fact: who wins, who is overruled, and what is withdrawn."""

from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.merge import Conflict, merge, same
from given_facts import fact
from hypothesis import given
from hypothesis import strategies as st

ANY_FACT = st.builds(
    Fact,
    st.sampled_from(["n_gpus", "epochs", "seq_len"]),
    st.integers(1, 4),
    st.sampled_from(list(Basis)),
    st.sampled_from(["a.yaml:1", "b.sh:2"]),
    st.sampled_from(list(Layer)),
)


def test_precedence_is_argument_command_line_environment_config_and_so_on() -> None:
    ladder = [fact("n_gpus", 1 + layer, layer, f"place {layer.name}") for layer in Layer]
    for position, best in enumerate(ladder):
        winners, _ = merge(reversed(ladder[position:]))
        assert winners == {"n_gpus": best}


def test_a_stated_value_that_disagrees_with_a_file_wins_and_is_listed() -> None:
    stated = fact("n_gpus", 8)
    configured = fact("n_gpus", 4, Layer.CONFIG, "configs/base.yaml:7")
    winners, conflicts = merge([configured, stated])
    assert winners == {"n_gpus": stated}
    assert conflicts == (Conflict(used=stated, overruled=configured),)


def test_places_that_agree_are_no_conflict() -> None:
    facts = [
        fact("learning_rate", 3e-4),
        fact("learning_rate", 0.0003, Layer.CONFIG, "c.yaml:1"),
        fact("gpu", "A100-SXM-80GB"),
        fact("gpu", "a100-sxm-80gb", Layer.CONFIG, "c.yaml:2"),
    ]
    assert merge(facts)[1] == ()


def test_a_default_nobody_chose_is_overruled_in_silence() -> None:
    default = fact("epochs", 3, Layer.FRAMEWORK_DEFAULT, "transformers", Basis.FRAMEWORK_DEFAULT)
    winners, conflicts = merge([default, fact("epochs", 1)])
    assert winners["epochs"].value == 1.0
    assert conflicts == ()


def test_within_a_layer_the_first_wins_and_the_other_is_listed() -> None:
    first = fact("seq_len", 2048, Layer.CONFIG, "a.yaml:1")
    second = fact("seq_len", 4096, Layer.CONFIG, "b.yaml:1")
    assert merge([first, second]) == ({"seq_len": first}, (Conflict(first, second),))


def test_null_withdraws_the_value_of_files_and_keeps_an_argument() -> None:
    configured = fact("grad_accum_steps", 8, Layer.CONFIG, "c.yaml:1")
    on_the_line = fact("grad_accum_steps", 4, Layer.COMMAND_LINE, "job.sh:9")
    assert merge([configured, on_the_line], ["grad_accum_steps"]) == ({}, ())
    stated = fact("grad_accum_steps", 2)
    assert merge([configured, stated], ["grad_accum_steps"]) == ({"grad_accum_steps": stated}, ())


def test_texts_and_numbers_agree_within_case_and_rounding() -> None:
    assert same("FSDP", "fsdp")
    assert same(1_000_000, 1_000_000.5)
    assert not same(1_000_000, 1_000_002)
    assert not same("8", 9)


@given(st.lists(ANY_FACT, max_size=12))
def test_a_winner_is_never_of_a_weaker_layer_than_what_it_overrules(facts: list[Fact]) -> None:
    winners, conflicts = merge(facts)
    assert set(winners) == {f.name for f in facts}
    for found in facts:
        assert winners[found.name].layer <= found.layer
    for conflict in conflicts:
        assert conflict.used == winners[conflict.overruled.name]
        assert conflict.used.value != conflict.overruled.value


@given(st.lists(ANY_FACT, max_size=8))
def test_merging_the_winners_again_changes_nothing(facts: list[Fact]) -> None:
    winners, _ = merge(facts)
    assert merge(winners.values()) == (winners, ())
