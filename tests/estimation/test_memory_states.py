"""Weights, gradients and optimizer states, and what of them is there at each moment of a step."""

import pytest
from compute_budget_planner.estimation.memory_states import memory_states
from memory_of import GIB, LLAMA_2_7B, LLAMA_3_70B, ONE, state_bytes, terms
from stated_runs import REFERENCE, whole

# States


@pytest.mark.parametrize(
    ("changes", "bytes_per_parameter"),
    [
        # huggingface/accelerate #2659, Azure/MS-AMP #173, NVIDIA/Megatron-LM #654: 16 or 18,
        # by the type of the gradients.
        ({}, 16),
        ({"gradient_dtype": "fp32"}, 18),
        ({"precision": "fp32", "gradient_dtype": "fp32"}, 16),
        # torchtune and litgpt `bf16-true`: 2 + 2 + 4.
        ({"precision": "bf16-true"}, 8),
        ({"optimizer": "adamw-8bit"}, 10),
        ({"optimizer": "adamw-8bit", "precision": "bf16-true"}, 6),
        ({"optimizer": "lion"}, 12),
        ({"optimizer": "sgd-momentum"}, 12),
        ({"optimizer": "sgd", "precision": "bf16-true"}, 4),
    ],
)
def test_states_weigh_what_precision_and_optimizer_make_them(
    changes: dict[str, object], bytes_per_parameter: float
) -> None:
    found = state_bytes(**{**ONE, "model": "llama-2-7b", **changes})
    assert found / LLAMA_2_7B == pytest.approx(bytes_per_parameter, rel=1e-6)


@pytest.mark.parametrize(
    ("sharding", "bytes_per_parameter"),
    [
        # Rajbhandari et al. 2020, figure 1, with 64 devices: 16, 4.19 → 2 + 2 + 12/64,
        # 2 + 14/64, 16/64.
        ("ddp", 16),
        ("zero1", 4 + 12 / 64),
        ("zero2", 2 + 14 / 64),
        ("zero3", 16 / 64),
        ("fsdp", 16 / 64),
    ],
)
def test_sharding_divides_what_its_stage_says(sharding: str, bytes_per_parameter: float) -> None:
    found = state_bytes(model="llama-2-7b", n_gpus=64, sharding=sharding)
    assert found / LLAMA_2_7B == pytest.approx(bytes_per_parameter, rel=1e-6)


def test_tensor_and_pipeline_sizes_divide_states_before_sharding_does() -> None:
    found = state_bytes(model="llama-2-7b", n_gpus=64, tp=8, pp=2, sharding="zero1")
    assert found / LLAMA_2_7B == pytest.approx((4 + 12 / 4) / 16, rel=1e-6)


def test_expert_ranks_are_data_parallel_ranks_and_divide_states_once() -> None:
    facts = {"model": "mixtral-8x7b", "n_gpus": 8, "sharding": "fsdp"}
    assert state_bytes(**facts, ep=8) == pytest.approx(state_bytes(**facts))
    replicated = {**facts, "sharding": "ddp"}
    assert state_bytes(**replicated, ep=8) < state_bytes(**replicated) / 4


def test_seven_billion_weights_are_26_gib_in_32_bit_and_13_in_16() -> None:
    # Lightning-AI/lit-llama #67.
    facts = {**ONE, "model": "llama-7b", "method": "lora", "lora_rank": 8}
    wide = terms(**facts, precision="fp32", gradient_dtype="fp32").terms["weights"].expected
    narrow = terms(**facts).terms["weights"].expected
    assert wide == pytest.approx(26.1, rel=0.05)
    assert narrow == pytest.approx(13, rel=0.05)


def test_quantised_weights_leave_embeddings_and_head_in_16_bit() -> None:
    # A Gemma-2B of 2.5B has 0.52B parameters in its embedding: NF4 gains little there.
    facts = {**ONE, "model": "gemma-2b", "lora_rank": 16}
    lora = terms(**facts, method="lora").terms["weights"].expected
    qlora = terms(**facts, method="qlora", quantization="nf4").terms["weights"].expected
    embedding = 256_000 * 2048
    expected = (embedding * 2 + (2_506_172_416 - embedding) * 0.52) / GIB
    assert qlora == pytest.approx(expected, rel=0.03)
    assert lora - qlora < 0.75 * lora


# Moments of a step


def test_gradients_are_not_there_at_the_loss_unless_they_accumulate() -> None:
    # foundation-model-stack/fms-acceleration: PowerLM-3B in pure bf16, 8 × 4,096 tokens on one
    # A100 allocated 43.8 GiB = 6 bytes per parameter, inputs of 40 layers, and the logits.
    facts = {**ONE, "model": "llama-3-8b", "method": "full-ft", "precision": "bf16-true"}
    facts |= {"activation_checkpointing": "full", "seq_len": 4096, "micro_batch_size": 8}
    once = terms(**facts)
    assert "logits" in once.terms
    assert "gradients" not in once.terms
    accumulating = terms(**facts, grad_accum_steps=2)
    assert accumulating.terms["gradients"].expected == pytest.approx(2 * 8_030_261_248 / GIB)
    assert accumulating.peak.expected > once.peak.expected


def test_the_optimizer_step_of_a_pure_16_bit_model_needs_ten_bytes_per_parameter() -> None:
    # foundation-model-stack/fms-acceleration: Mistral-7B, 67.46 GiB allocated on one A100 for
    # 4 and for 8 sequences alike; 7,241,732,096 × 10 bytes are 67.44 GiB.
    facts = {**ONE, "model": "mistral-7b", "method": "full-ft", "precision": "bf16-true"}
    facts |= {"activation_checkpointing": "full", "fused_loss": True, "seq_len": 4096}
    facts |= {"framework": "fms-acceleration", "micro_batch_size": 4}
    found = terms(**facts).terms
    allocated = sum(t.expected for n, t in found.items() if n not in ("fragmentation", "framework"))
    assert "optimizer step" in found
    assert allocated == pytest.approx(67.46, rel=0.005)


def test_ranks_that_share_a_sequence_share_the_shards() -> None:
    # pytorch/torchtitan, December 2024, table 4: 83.9, 84.2, 84.0 and 84.5 GiB with 1 to 8
    # context-parallel ranks of 32,768 tokens each.
    facts = {"model": "llama-3-8b", "sharding": "fsdp", "activation_checkpointing": "full"}
    facts |= {"precision": "fp8", "compile": True, "gpu": "H100-SXM5-96GB", "micro_batch_size": 1}
    peaks = {cp: terms(**facts, cp=cp, seq_len=32_768 * cp).peak.expected for cp in (1, 2, 4, 8)}
    for peak in peaks.values():
        assert peak == pytest.approx(84, rel=0.1)


def test_pipeline_stages_keep_their_shards_together() -> None:
    facts = {"model": "llama-3-70b", "n_gpus": 64, "sharding": "fsdp", "micro_batch_size": 1}
    facts |= {"activation_checkpointing": "full", "grad_accum_steps": 8}
    flat, staged = (memory_states(whole(**facts, pp=pp), REFERENCE) for pp in (1, 8))
    assert staged.weights == pytest.approx(flat.weights)
    # 70.6 B parameters in 2 bytes and gradients in 4, an eighth of them on each stage.
    assert staged.gathered == pytest.approx(LLAMA_3_70B * (2 + 4) / 8, rel=0.01)
    assert flat.gathered < staged.gathered / 4


def test_offloaded_weights_come_back_layer_by_layer() -> None:
    # AnswerDotAI/fsdp_qlora: Llama-2-70B QLoRA with CPU offload reserved 14.9 GiB on 24 GB cards.
    facts = {"model": "llama-2-70b", "gpu": "RTX-4090", "n_gpus": 2, "sharding": "fsdp"}
    facts |= {"method": "qlora", "quantization": "nf4", "lora_rank": 64, "offload": "parameters"}
    facts |= {"activation_checkpointing": "full", "micro_batch_size": 2}
    found = terms(**facts)
    assert "weights" not in found.terms
    reserved = found.peak.expected - found.terms["framework"].expected
    assert reserved == pytest.approx(14.92, rel=0.1)


def test_a_full_device_gives_back_what_it_only_keeps() -> None:
    facts = {**ONE, "model": "llama-3-8b", "method": "lora", "lora_rank": 16}
    facts |= {"framework": "trl", "activation_checkpointing": "full", "seq_len": 4096}
    facts |= {"micro_batch_size": 7}
    roomy = terms(**facts, gpu="H200-SXM-141GB").peak
    tight = terms(**facts, gpu="A100-SXM-80GB").peak
    assert tight.expected <= roomy.expected
    assert 79 < tight.high < roomy.high
