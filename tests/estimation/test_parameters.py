"""Counts equal the totals that the checkpoints on huggingface.co or their papers state."""

from pathlib import Path

import pytest
from compute_budget_planner.estimation.matmuls import layer_groups
from compute_budget_planner.estimation.parameters import (
    ParameterCount,
    count_parameters,
    lora_parameters,
)
from compute_budget_planner.guide.reference import Reference, build_reference
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.known_models import catalogue_facts
from compute_budget_planner.workload.model_shape import model_from
from hypothesis import given
from hypothesis import strategies as st

PAGE = Path(__file__).parents[2] / "references" / "model-catalogue.md"

PUBLISHED = {
    "gpt2": 124_439_808,
    "gpt2-medium": 354_823_168,
    "gpt2-large": 774_030_080,
    "gpt2-xl": 1_557_611_200,
    "distilgpt2": 81_912_576,
    "gpt-neo-125m": 125_198_592,
    "gpt-j-6b": 6_050_882_784,
    "gpt-neox-20b": 20_554_567_680,
    "pythia-70m": 70_426_624,
    "pythia-160m": 162_322_944,
    "pythia-410m": 405_334_016,
    "pythia-1b": 1_011_781_632,
    "pythia-1.4b": 1_414_647_808,
    "pythia-2.8b": 2_775_208_960,
    "pythia-6.9b": 6_857_302_016,
    "pythia-12b": 11_846_072_320,
    "opt-125m": 125_239_296,
    "opt-1.3b": 1_315_758_080,
    "bloom-560m": 559_214_592,
    "bloom-176b": 176_247_271_424,
    "falcon-7b": 6_921_720_704,
    "mpt-7b": 6_649_286_656,
    "starcoder2-3b": 3_030_371_328,
    "llama-2-7b": 6_738_415_616,
    "llama-2-13b": 13_015_864_320,
    "llama-2-70b": 68_976_648_192,
    "llama-3-8b": 8_030_261_248,
    "llama-3-70b": 70_553_706_496,
    "llama-3.1-405b": 405_853_388_800,
    "llama-3.2-1b": 1_235_814_400,
    "llama-3.2-3b": 3_212_749_824,
    "tinyllama-1.1b": 1_100_048_384,
    "smollm-135m": 134_515_008,
    "mistral-7b": 7_241_732_096,
    "mistral-nemo-12b": 12_247_782_400,
    "mixtral-8x7b": 46_702_792_704,
    "qwen2.5-0.5b": 494_032_768,
    "qwen2.5-7b": 7_615_616_512,
    "qwen2.5-32b": 32_763_876_352,
    "qwen3-8b": 8_190_735_360,
    "qwen1.5-moe-a2.7b": 14_315_784_192,
    "qwen3-30b-a3b": 30_532_122_624,
    "qwen3-235b-a22b": 235_093_634_560,
    "gemma-2b": 2_506_172_416,
    "gemma-7b": 8_537_680_896,
    "gemma-2-9b": 9_241_705_984,
    "gemma-3-1b": 999_885_952,
    "phi-2": 2_779_683_840,
    "phi-3-mini": 3_821_079_552,
    "phi-4": 14_659_507_200,
    "phi-3.5-moe": 41_873_153_344,
    "olmo-1b": 1_176_764_416,
    "olmo-7b": 6_888_095_744,
    "olmoe-1b-7b": 6_919_161_856,
    "stablelm-3b-4e1t": 2_795_443_200,
    "deepseek-llm-7b": 6_910_365_696,
    "deepseek-moe-16b": 16_375_728_128,
    "deepseek-v2-lite": 15_706_484_224,
    "deepseek-v3": 671_026_419_200,
    "dbrx": 131_596_523_520,
    "gpt-oss-20b": 20_914_757_184,
    "gpt-oss-120b": 116_829_156_672,
    "bert-base-uncased": 109_482_240,
    "bert-large-uncased": 335_141_888,
    "bert-base-chinese": 102_267_648,
    "roberta-base": 124_645_632,
    "xlm-roberta-large": 559_890_432,
    "distilbert-base-uncased": 66_362_880,
    "electra-base": 108_891_648,
    "modernbert-base": 149_014_272,
    "minilm-l6": 22_713_216,
}


@pytest.fixture(scope="module")
def reference() -> Reference:
    return build_reference([("references/model-catalogue.md", PAGE.read_text(encoding="utf-8"))])


def known(reference: Reference, name: str) -> Architecture:
    facts = catalogue_facts(reference.catalogue[name], reference)
    model = model_from({fact.name: fact.value for fact in facts})
    assert isinstance(model, Architecture)
    return model


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_total_is_the_published_one(reference, name):
    assert count_parameters(known(reference, name)).total == PUBLISHED[name]


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        # Mixtral (arXiv:2401.04088), DBRX and Qwen3 cards: all that one token visits.
        ("mixtral-8x7b", 12.88),
        ("dbrx", 36.5),
        ("qwen3-30b-a3b", 3.35),
        ("qwen3-235b-a22b", 22.2),
    ],
)
def test_active_parameters_are_what_one_token_visits(reference, name, billions):
    active = count_parameters(known(reference, name)).active
    assert active / 1e9 == pytest.approx(billions, rel=0.005)


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        # The gpt-oss and DeepSeek-V3 cards leave the input embedding out.
        ("gpt-oss-20b", 3.61),
        ("gpt-oss-120b", 5.13),
        ("deepseek-v3", 36.6),
    ],
)
def test_cards_that_leave_out_the_embedding_state_the_rest(reference, name, billions):
    count = count_parameters(known(reference, name))
    assert count.matmul_active / 1e9 == pytest.approx(billions, rel=0.005)


def test_gpt_oss_splits_as_its_card_says(reference):
    # gpt-oss model card, table 1: MLP 19.12 B, embedding and unembedding 1.16 B.
    count = count_parameters(known(reference, "gpt-oss-20b"))
    assert (count.embedding + count.head) / 1e9 == pytest.approx(1.16, abs=0.005)
    assert count.expert / 1e9 == pytest.approx(19.12, abs=0.005)


def test_a_vision_transformer_counts_patches_positions_and_class_token():
    # google/vit-base-patch16-224 and vit-large-patch16-224, 1000 classes.
    base = {"model_family": "vit", "patch_size": 16, "image_size": 224, "num_classes": 1000}
    small = model_from({**base, "n_layers": 12, "d_model": 768, "n_heads": 12})
    large = model_from({**base, "n_layers": 24, "d_model": 1024, "n_heads": 16})
    assert isinstance(small, Architecture)
    assert isinstance(large, Architecture)
    assert count_parameters(small).total == 86_567_656
    assert count_parameters(large).total == 304_326_632


def test_adapters_of_all_linear_layers_follow_the_closed_form(reference):
    # L·r·(11d + 3f) for full attention with gating; L·r·(9d + 2kv + 3f) for grouped heads.
    assert lora_parameters(known(reference, "llama-2-7b"), 16) == 32 * 16 * (11 * 4096 + 3 * 11008)
    assert lora_parameters(known(reference, "llama-3-8b"), 8) == 32 * 8 * (
        9 * 4096 + 2 * 1024 + 3 * 14336
    )


def test_only_adapters_are_trainable_with_a_rank(reference):
    arch = known(reference, "llama-3-8b")
    # 41,943,040 is what peft prints for rank 16 on every linear layer of Llama-3-8B.
    assert count_parameters(arch, lora_rank=16) == ParameterCount(
        total=8_030_261_248,
        active=8_030_261_248,
        embedding=525_336_576,
        head=525_336_576,
        expert=0,
        trainable=41_943_040,
    )


shapes = st.builds(
    lambda layers, heads, experts, family: {
        "model_family": family,
        "n_layers": layers,
        "d_model": 64 * heads,
        "n_heads": heads,
        "vocab_size": 1000,
        "d_ff": 256,
        **({"n_experts": experts, "experts_per_token": 1 + experts // 3} if experts > 1 else {}),
    },
    st.integers(1, 40),
    st.integers(1, 32),
    st.integers(1, 16),
    st.sampled_from(["llama", "gpt2", "qwen3", "olmo", "gpt_neox"]),
)


@given(shapes)
def test_parts_never_exceed_the_whole_and_layers_add_up(facts):
    arch = model_from(facts)
    assert isinstance(arch, Architecture)
    count = count_parameters(arch)
    assert 0 < count.active <= count.total
    assert count.embedding + count.head + count.expert < count.total
    assert sum(group.count for group in layer_groups(arch)) == arch.n_layers


@given(shapes)
def test_one_more_layer_adds_the_same_again(facts):
    totals = []
    for extra in range(3):
        arch = model_from({**facts, "n_layers": facts["n_layers"] + extra})
        assert isinstance(arch, Architecture)
        totals.append(count_parameters(arch).total)
    assert totals[2] - totals[1] == totals[1] - totals[0] > 0
