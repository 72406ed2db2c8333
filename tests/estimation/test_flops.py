"""FLOPs per token against figures that public projects state, by convention."""

from pathlib import Path

import pytest
from compute_budget_planner.estimation.flops import (
    AttentionConvention,
    flops_per_token_forward,
    training_flops_per_sample,
    training_flops_per_token,
)
from compute_budget_planner.estimation.matmuls import (
    LayerGroup,
    Matmul,
    head_matmul,
    layer_groups,
)
from compute_budget_planner.estimation.parameters import count_parameters, lora_parameters
from compute_budget_planner.guide.reference import Reference, build_reference
from compute_budget_planner.workload.architecture import Architecture, SampleModel
from compute_budget_planner.workload.known_models import catalogue_facts
from compute_budget_planner.workload.model_shape import model_from
from hypothesis import given
from hypothesis import strategies as st

PAGE = Path(__file__).parents[2] / "references" / "model-catalogue.md"
FULL, CAUSAL, WINDOW = (
    AttentionConvention.FULL,
    AttentionConvention.CAUSAL,
    AttentionConvention.WINDOW,
)


@pytest.fixture(scope="module")
def reference() -> Reference:
    return build_reference([("references/model-catalogue.md", PAGE.read_text(encoding="utf-8"))])


def known(reference: Reference, name: str, **changes) -> Architecture:
    facts = catalogue_facts(reference.catalogue[name], reference)
    model = model_from({**{fact.name: fact.value for fact in facts}, **changes})
    assert isinstance(model, Architecture)
    return model


@pytest.mark.parametrize(
    ("name", "with_full_attention", "with_windows"),
    [
        # pytorch/torchtitan pull request 4300, FLOPs per token at 4096 tokens.
        ("gpt-oss-120b", 38_044_854_144, 34_534_221_696),
        ("gpt-oss-20b", 26_481_681_792, 24_141_260_160),
    ],
)
def test_windowed_layers_cost_their_window_only(reference, name, with_full_attention, with_windows):
    arch = known(reference, name)
    full = training_flops_per_token(arch, 4096, FULL).model
    window = training_flops_per_token(arch, 4096, WINDOW).model
    assert full - window == with_full_attention - with_windows
    # That project charges 6 FLOPs for every active parameter, norms and biases too.
    attention = 3 * flops_per_token_forward(arch, 4096, WINDOW).attention
    assert 6 * count_parameters(arch).matmul_active + attention == with_windows
    assert window == pytest.approx(with_windows, rel=5e-4)


@pytest.mark.parametrize(
    ("seq_len", "full_tflop", "causal_tflop"),
    # AI-Hypercomputer/maxtext pull request 1988: four sequences of Llama-2-7B per step.
    [(8192, 1721, 1510), (129_024, 125_194, 72_827)],
)
def test_the_causal_half_is_what_long_sequences_really_cost(
    reference, seq_len, full_tflop, causal_tflop
):
    arch = known(reference, "llama-2-7b")
    step = {
        convention: training_flops_per_token(arch, seq_len, convention).model * 4 * seq_len / 1e12
        for convention in (FULL, CAUSAL)
    }
    assert step[FULL] == pytest.approx(full_tflop, rel=1e-3)
    assert step[CAUSAL] == pytest.approx(causal_tflop, rel=1e-3)


def test_latent_attention_charges_query_and_value_widths_apart(reference):
    # verl pull request 4959: 3·(query + value width) per key for the causal half.
    arch = known(reference, "deepseek-v3")
    training = 3 * flops_per_token_forward(arch, 4096, CAUSAL).attention
    assert training == 61 * 3 * 4096 * (128 * 192 + 128 * 128)


def test_the_feed_forward_width_is_the_configured_one(reference):
    # NVIDIA/Megatron-LM pull request 682: 6·d·f with gating, not 16·d².
    arch = known(reference, "llama-3-8b")
    assert flops_per_token_forward(arch, 1).mlp == 32 * 6 * 4096 * 14336


def test_a_mixture_of_experts_costs_its_active_parameters(reference):
    # PrimeIntellect-ai/prime-rl pull request 803.
    arch = known(reference, "mixtral-8x7b")
    forward = flops_per_token_forward(arch, 1, FULL)
    count = count_parameters(arch)
    matmul = forward.projections + forward.mlp + forward.head
    assert matmul == pytest.approx(2 * count.matmul_active, rel=1e-4)
    assert matmul < 0.3 * 2 * count.total


def test_an_embedding_look_up_costs_nothing_and_a_tied_head_costs_the_same(reference):
    # tenstorrent/tt-metal pull request 50114.
    tied = known(reference, "llama-3.2-1b")
    untied = known(reference, "llama-3.2-1b", tied_embeddings=False)
    assert flops_per_token_forward(tied, 2048) == flops_per_token_forward(untied, 2048)
    assert flops_per_token_forward(tied, 2048).head == 2 * 2048 * 128256


def test_lora_saves_the_weight_gradient_of_frozen_weights(reference):
    # NVIDIA-NeMo/Automodel pull request 786: 70.55 B frozen, 175.6 M trained gives × 0.6675.
    trained_share = 175.6e6 / 70.55e9
    assert (2 + trained_share) / 3 == pytest.approx(0.6675, abs=2e-4)
    arch = known(reference, "llama-3-70b")
    full = training_flops_per_token(arch, 1, FULL).model
    adapted = training_flops_per_token(arch, 1, FULL, lora_rank=16).model
    share = lora_parameters(arch, 16) / count_parameters(arch).matmul_active
    assert adapted / full == pytest.approx((2 + 3 * share) / 3, rel=1e-4)


def test_falcon_40b_with_adapters_costs_two_thirds_of_full_training(reference):
    # Lightning-AI/litgpt issue 404: 1,077.8 TFLOP predicted as full training, 708.8 measured.
    arch = known(reference, "falcon-40b")
    full = training_flops_per_token(arch, 1024).model
    adapted = training_flops_per_token(arch, 1024, lora_rank=1).model
    assert 1077.8 * adapted / full == pytest.approx(719, rel=0.01)


def test_attention_keeps_all_three_parts_under_lora(reference):
    arch = known(reference, "llama-3-8b")
    short, long = (training_flops_per_token(arch, s, FULL, lora_rank=8) for s in (1024, 2048))
    # 12·L·q·s per token, PaLM appendix B.
    assert long.model - short.model == 12 * 32 * 4096 * 1024


def test_full_checkpointing_repeats_the_layers_and_selective_the_attention_core(reference):
    arch = known(reference, "llama-2-7b")
    forward = flops_per_token_forward(arch, 4096, CAUSAL)
    recompute = {
        mode: training_flops_per_token(arch, 4096, activation_checkpointing=mode).recompute
        for mode in ("none", "selective", "full")
    }
    assert recompute == {"none": 0.0, "selective": forward.attention, "full": forward.layers}


def test_recomputation_is_in_hardware_flops_and_not_in_model_flops(reference):
    arch = known(reference, "llama-2-7b")
    plain = training_flops_per_token(arch, 4096)
    full = training_flops_per_token(arch, 4096, activation_checkpointing="full")
    assert full.model == plain.model
    # Frameworks quote 8·N for 6·N; the head is not repeated.
    assert full.hardware / plain.model == pytest.approx(4 / 3, rel=0.02)
    assert full.convention == (
        "causal attention, head counted, embedding look-up not, backward 2 × forward,"
        " recomputation (full) in hardware FLOPs only"
    )


def test_the_megatron_formula_is_met_for_gpt3(reference):
    # Narayanan et al. 2021, equation 3, without recompute, per sequence.
    layers, width, seq_len, vocab = 96, 12288, 2048, 50257
    paper = (
        72
        * seq_len
        * layers
        * width**2
        * (1 + seq_len / (6 * width) + vocab / (12 * layers * width))
    )
    arch = known(reference, "gpt3-175b")
    assert training_flops_per_token(arch, seq_len, FULL).model * seq_len == pytest.approx(paper)


def test_a_vision_transformer_costs_what_timm_lists():
    # timm: vit_base_patch16_224 has 17.58 GMACs; 16.87 without scores and values, which are 0.72.
    facts = {"model_family": "vit", "n_layers": 12, "d_model": 768, "n_heads": 12}
    arch = model_from({**facts, "patch_size": 16, "image_size": 224, "num_classes": 1000})
    assert isinstance(arch, Architecture)
    gmacs = flops_per_token_forward(arch, 197).total * 197 / 2e9
    assert gmacs == pytest.approx(17.58, rel=0.002)


def test_a_prediction_layer_is_one_more_layer_and_one_more_head(reference):
    plain = flops_per_token_forward(known(reference, "deepseek-v3"), 4096)
    arch = known(reference, "deepseek-v3", mtp_layers=1)
    more = flops_per_token_forward(arch, 4096)
    last = layer_groups(arch)[-1]
    joined = Matmul("mtp_projection", 2 * 7168, 7168)
    assert (last.count, last.mtp, last.mlp[0]) == (1, True, joined)
    assert more.head == 2 * plain.head
    assert more.attention == pytest.approx(plain.attention * 62 / 61)
    # DeepSeek-V3 report §2.2: one module of 11.5 B parameters beside shared embedding and head.
    added = count_parameters(arch).total - count_parameters(known(reference, "deepseek-v3")).total
    assert added / 1e9 == pytest.approx(11.5, abs=0.15)


def test_layers_of_one_kind_stand_together(reference):
    groups = layer_groups(known(reference, "gpt-oss-20b"))
    assert [(g.count, g.window, g.moe, g.ffn_width) for g in groups] == [
        (12, 128, True, 4 * 2880),
        (12, None, True, 4 * 2880),
    ]
    dense, routed = layer_groups(known(reference, "deepseek-v3"))
    assert [(g.count, g.moe, g.ffn_width) for g in (dense, routed)] == [
        (3, False, 18432),
        (58, True, 9 * 2048),
    ]


def test_a_routed_expert_sees_its_share_of_the_tokens(reference):
    up = next(m for m in layer_groups(known(reference, "mixtral-8x7b"))[0].mlp if "up" in m.name)
    assert up == Matmul("expert_up", 4096, 14336, calls=16, share=0.25)


def test_a_classifier_has_no_head_over_tokens(reference):
    assert head_matmul(known(reference, "bert-base-uncased")) == Matmul("head", 768, 30522)
    assert head_matmul(known(reference, "bert-base-uncased", num_classes=3)) is None


def test_a_sample_costs_three_forward_passes_or_two_when_frozen():
    model = SampleModel("resnet", 25_557_032, 8.22e9, 11.11e6, 224)
    assert training_flops_per_sample(model).model == pytest.approx(24.66e9)
    assert training_flops_per_sample(model, lora_rank=4).model == pytest.approx(16.44e9)
    full = training_flops_per_sample(model, activation_checkpointing="full")
    assert (full.model, full.hardware) == pytest.approx((24.66e9, 32.88e9))


groups = st.builds(
    lambda window, causal: LayerGroup(
        count=1,
        attention=(),
        mlp=(),
        n_heads=1,
        attention_qk_width=64,
        attention_v_width=64,
        ffn_width=64,
        window=window,
        causal=causal,
        moe=False,
    ),
    st.none() | st.integers(1, 10_000),
    st.booleans(),
)


@given(groups, st.integers(1, 200_000))
def test_a_token_sees_at_least_half_its_window_and_never_more_than_the_sequence(group, seq_len):
    causal, window, full = (group.keys(seq_len, c) for c in (CAUSAL, WINDOW, FULL))
    assert 0 < window / 2 <= causal <= window <= full == seq_len
