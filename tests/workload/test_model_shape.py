"""From facts to a shape: essentials are demanded, defaults are those of the family."""

import pytest
from compute_budget_planner.errors import FactError
from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.workload.architecture import Architecture, Experts, SampleModel
from compute_budget_planner.workload.model_shape import missing_shape, model_from
from compute_budget_planner.workload.typical_model import typical_architecture
from hypothesis import given
from hypothesis import strategies as st

SMALL = {"n_layers": 12, "d_model": 768, "n_heads": 12, "vocab_size": 50257}


def shape(**values) -> Architecture:
    model = model_from(values)
    assert isinstance(model, Architecture)
    return model


def test_a_decoder_without_further_words_has_ungated_layers_four_times_as_wide_inside():
    assert shape(**SMALL) == Architecture(
        family="decoder",
        n_layers=12,
        d_model=768,
        n_heads=12,
        n_kv_heads=12,
        head_dim=64,
        d_ff=3072,
        glu=False,
        vocab_size=50257,
        tied_embeddings=False,
        causal=True,
    )


def test_a_llama_without_d_ff_gets_the_width_of_the_llama_paper():
    assert (
        shape(model_family="llama", n_layers=32, d_model=4096, n_heads=32, vocab_size=1).d_ff
        == 11008
    )
    assert (
        shape(model_family="llama", n_layers=40, d_model=5120, n_heads=40, vocab_size=1).d_ff
        == 13824
    )


@pytest.mark.parametrize(
    ("facts", "gated"),
    [
        ({"d_ff": 3072}, False),
        ({"d_ff": 2048}, True),
        ({"d_ff": 3072, "n_kv_heads": 4}, True),
        ({"d_ff": 2048, "glu": False}, False),
    ],
)
def test_a_plain_decoder_is_gated_when_its_widths_say_so_and_nobody_denies_it(facts, gated):
    assert shape(**SMALL, **facts).glu is gated


def test_what_is_given_wins_over_the_family():
    model = shape(**SMALL, model_family="gpt2", tied_embeddings=False, max_positions=2048)
    assert (model.tied_embeddings, model.max_positions, model.qkv_bias) == (False, 2048, True)


def test_multi_query_families_have_one_key_value_head_unless_said():
    assert shape(**SMALL, model_family="falcon").n_kv_heads == 1
    assert shape(**SMALL, model_family="falcon", n_kv_heads=12).n_kv_heads == 12


def test_all_missing_essentials_are_named_at_once():
    assert missing_shape({"model_family": "llama", "d_model": 64}) == (
        "n_layers",
        "n_heads",
        "vocab_size",
    )
    with pytest.raises(FactError) as caught:
        model_from({"model_family": "llama", "d_model": 64})
    assert caught.value.what == (
        "the model's shape is incomplete: `n_layers`, `n_heads`, `vocab_size`"
    )


def test_an_image_model_needs_patches_instead_of_a_vocabulary():
    facts = {"model_family": "vit", "n_layers": 12, "d_model": 768, "n_heads": 12}
    assert missing_shape(facts) == ("patch_size", "image_size")


@pytest.mark.parametrize("family", ["mixtral", "qwen3_moe", "gpt_oss", "olmoe", "dbrx"])
def test_a_mixture_of_experts_is_never_taken_for_a_dense_model(family):
    missing = missing_shape({**SMALL, "model_family": family})
    assert missing == ("n_experts", "experts_per_token", "d_ff")


def test_latent_attention_needs_all_its_widths():
    experts = {"n_experts": 64, "experts_per_token": 6, "moe_d_ff": 1408}
    facts = {**SMALL, **experts, "model_family": "deepseek_v2", "kv_lora_rank": 512}
    assert missing_shape(facts) == ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")


def test_experts_are_as_wide_as_d_ff_unless_their_own_width_is_given():
    routed = {**SMALL, "model_family": "mixtral", "n_experts": 8, "experts_per_token": 2}
    assert shape(**routed, d_ff=14336).experts == Experts(8, 2, 14336, 0, False, 0, 1)
    assert shape(**routed, moe_d_ff=768).d_ff == 768


def test_a_model_known_by_its_cost_needs_no_shape():
    facts = {
        "params_total": 25_557_032,
        "flops_per_sample_forward": 8.22e9,
        "activations_per_sample": 11.11e6,
        "image_size": 224,
    }
    assert model_from(facts) == SampleModel("sample", 25_557_032, 8.22e9, 11.11e6, 224)
    assert missing_shape({"flops_per_sample_forward": 8.22e9}) == ("params_total",)


def test_an_encoder_that_predicts_no_tokens_has_a_classifier_behind_a_pooler():
    # distilbert-base-uncased-finetuned-sst-2-english on huggingface.co: 66,955,010 parameters.
    facts = {"model_family": "distilbert", "n_layers": 6, "d_model": 768, "n_heads": 12}
    model = shape(**facts, vocab_size=30522, objective="classification")
    assert (model.num_classes, model.pooler) == (2, True)
    assert count_parameters(model).total == 66_955_010


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        ({"n_heads": 10}, "`d_model` 768 is not a multiple of `n_heads` 10"),
        ({"n_kv_heads": 5}, "`n_heads` 12 is not a multiple of `n_kv_heads` 5"),
        ({"n_layers": 10**12}, "`n_layers` is 1000000000000; at most 10000 are accepted"),
        (
            {"n_experts": 4, "experts_per_token": 8, "moe_d_ff": 64},
            "`experts_per_token` exceeds `n_experts`",
        ),
        (
            {"model_family": "perceiver"},
            "`model_family` is 'perceiver', whose layers are not known here",
        ),
    ],
)
def test_contradictions_are_refused_with_both_values(facts, fault):
    with pytest.raises(FactError) as caught:
        model_from({**SMALL, **facts})
    assert caught.value.what == fault


@given(st.integers(5_000_000, 10**12))
def test_a_typical_model_has_the_wished_size_within_five_percent(params_total):
    total = count_parameters(typical_architecture(params_total)).total
    assert abs(total - params_total) <= 0.05 * params_total


@given(st.integers(5_000_000, 10**12), st.integers(5_000_000, 10**12))
def test_a_larger_wish_never_gives_a_smaller_model(one, other):
    small, large = sorted((one, other))
    count = [count_parameters(typical_architecture(wish)).total for wish in (small, large)]
    assert count[0] <= count[1]


def test_a_size_that_the_vocabulary_alone_exceeds_is_refused():
    with pytest.raises(FactError, match="no usual language model has 1000000 parameters"):
        typical_architecture(1_000_000, vocab_size=128_256)
