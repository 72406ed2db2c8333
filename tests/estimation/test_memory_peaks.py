"""Peak memory of one accelerator against what people measured and reported."""

import pytest
from memory_of import GIB, LLAMA_2_7B, LLAMA_3_70B, ONE, estimated, logits_gib, state_bytes, terms
from stated_runs import REFERENCE, assessed

# Reports


def test_quantised_adapters_need_less_than_adapters_and_those_less_than_full_training() -> None:
    # RahulSChand/gpu_poor #1: a 7B at 2,048 tokens is about 16 GB with LoRA and 8 with QLoRA.
    facts = {**ONE, "model": "codellama-7b", "activation_checkpointing": "full"}
    facts |= {"fused_loss": True, "lora_rank": 16}
    full, lora, qlora = (
        terms(**facts, method=method, quantization=kind).peak
        for method, kind in (("full-ft", None), ("lora", None), ("qlora", "nf4"))
    )
    assert qlora.expected < lora.expected < full.expected
    assert lora.low <= 16e9 / GIB <= lora.high
    # The report counts weights and adapters; the context of the driver stands on top.
    assert qlora.expected <= 8e9 / GIB


@pytest.mark.parametrize("n_gpus", [4, 8])
def test_more_small_cards_do_not_hold_what_each_must_hold(n_gpus: int) -> None:
    # hiyouga/LLaMA-Factory #4559: 70B QLoRA under data parallelism on A10G of 24 GB.
    facts = {"model": "llama-3-70b", "gpu": "A10G", "method": "qlora", "quantization": "nf4"}
    facts |= {"lora_rank": 8, "activation_checkpointing": "full", "fused_loss": True}
    found = estimated(**facts, n_gpus=n_gpus, micro_batch_size=1, sharding="ddp")
    assert found.verdict == "OOM"
    # 70.6 B × 0.56 bytes are 39.7 GB of weights alone, on every card.
    assert found.terms["weights"].expected > 0.52 * LLAMA_3_70B / GIB
    alone = estimated(**{**facts, **ONE})
    assert found.terms["weights"] == alone.terms["weights"]


def test_the_longest_samples_break_a_run_that_shorter_ones_leave_alone() -> None:
    # artidoro/qlora #225: 13B QLoRA on 24 GB runs out of memory at a few samples of 4k tokens.
    facts = {"n_gpus": 1, "sharding": None, "model": "llama-13b", "gpu": "RTX-3090"}
    facts |= {"method": "qlora"}
    facts |= {"quantization": "nf4", "lora_rank": 64, "activation_checkpointing": "full"}
    verdicts = [
        estimated(**facts, seq_len=seq_len, micro_batch_size=4).verdict for seq_len in (512, 4096)
    ]
    assert verdicts[0] == "FITS"
    assert verdicts[1] in ("UNCERTAIN", "OOM")


def test_seven_billion_in_full_do_not_fit_small_cards_that_replicate() -> None:
    # meta-llama/llama-cookbook #100: 7B full training on 8 × RTX 3090.
    facts = {"model": "llama-2-7b", "gpu": "RTX-3090", "method": "full-ft", "fused_loss": True}
    facts |= {"activation_checkpointing": "full", "micro_batch_size": 1}
    for precision in ("bf16", "bf16-true"):
        assert estimated(**facts, precision=precision, sharding="ddp").verdict == "OOM"
    assert estimated(**facts, precision="bf16-true", sharding="fsdp").verdict != "OOM"


def test_one_copy_of_the_logits_in_32_bit_is_what_the_allocator_asked_for() -> None:
    # modelscope/ms-swift #6966: 32,768 × 151,936 × 4 bytes = 18.5 GiB, three or four copies.
    facts = {"model": "qwen3-30b-a3b", "seq_len": 32_768, "micro_batch_size": 1}
    logits = logits_gib(**facts, n_gpus=64, sharding="zero3")
    copy = 32_768 * 151_936 * 4 / GIB
    assert copy == pytest.approx(18.5, abs=0.05)
    assert logits.low <= 3 * copy <= logits.high
    fused = logits_gib(**facts, n_gpus=64, sharding="zero3", fused_loss=True)
    assert fused.high < copy


def test_sixteen_bit_logits_of_a_large_vocabulary_are_a_gib_per_sequence() -> None:
    # allenai/open-instruct PR #777: 128k vocabulary, 4k tokens.
    facts = {**ONE, "model": "llama-3-8b", "seq_len": 4096}
    low = REFERENCE.quantity("logit_copies_fp32").low
    assert logits_gib(**facts).low / (1 + 2 * low) == pytest.approx(1.0, abs=0.03)


def test_a_fused_loss_takes_the_hump_away() -> None:
    # foundation-model-stack/fms-acceleration, a100_80gb_liger.csv: Llama-3-8B QLoRA,
    # 8 × 4,096 tokens, 74.2 → 23.8 GiB.
    facts = {**ONE, "model": "llama-3-8b", "method": "qlora", "quantization": "nf4"}
    facts |= {"framework": "fms-acceleration"}
    facts |= {"lora_rank": 16, "activation_checkpointing": "full", "seq_len": 4096}
    stock = terms(**{**facts, "micro_batch_size": 8}).peak
    fused = terms(**{**facts, "micro_batch_size": 8}, fused_loss=True).peak
    assert stock.low <= 74.2 <= stock.high
    assert fused.expected == pytest.approx(23.8, rel=0.05)


def test_adapters_do_not_shrink_activations() -> None:
    # huggingface/peft #2196.
    full = terms(**ONE, method="full-ft").terms["activations"]
    lora = terms(**ONE, method="lora", lora_rank=16).terms["activations"]
    assert lora.expected >= full.expected


@pytest.mark.parametrize(
    ("changes", "measured_gb"),
    [
        # HF on A100-80, 7B, packed 4,096, full checkpointing, nvidia-smi.
        ({"method": "full-ft", "precision": "bf16-true", "n_gpus": 1, "micro_batch_size": 1}, 73),
        ({"method": "lora", "lora_rank": 16, "n_gpus": 1, "micro_batch_size": 4}, 29),
        ({"method": "lora", "lora_rank": 16, "n_gpus": 1, "micro_batch_size": 8}, 42),
        (
            {"method": "qlora", "quantization": "nf4", "lora_rank": 16, "n_gpus": 1}
            | {"micro_batch_size": 4},
            19,
        ),
        (
            {"method": "qlora", "quantization": "nf4", "lora_rank": 16, "n_gpus": 1}
            | {"micro_batch_size": 8},
            33,
        ),
    ],
)
def test_the_peak_of_a_7b_is_near_what_the_driver_showed(
    changes: dict[str, object], measured_gb: float
) -> None:
    facts = {"model": "llama-2-7b", "seq_len": 4096, "activation_checkpointing": "full"}
    peak = terms(**facts, sharding=None, **changes).peak
    assert 0.8 * peak.low <= measured_gb * 1e9 / GIB <= 1.25 * peak.high


# Published peaks


@pytest.mark.parametrize(
    ("changes", "measured_gib"),
    [
        # foundation-model-stack/fms-acceleration, a100_80gb_liger.csv, nvidia-smi.
        ({"model": "mistral-7b", "method": "lora", "n_gpus": 1, "micro_batch_size": 4}, 23.27),
        ({"model": "mistral-7b", "method": "lora", "n_gpus": 1, "micro_batch_size": 16}, 49.9),
        ({"model": "llama-3-8b", "method": "lora", "n_gpus": 4, "micro_batch_size": 4}, 22.65),
        ({"model": "llama-3-8b", "method": "lora", "n_gpus": 4, "micro_batch_size": 16}, 65.34),
        ({"model": "llama-3-8b", "method": "qlora", "n_gpus": 1, "micro_batch_size": 8}, 23.79),
        ({"model": "llama-3-8b", "method": "qlora", "n_gpus": 1, "micro_batch_size": 32}, 76.67),
        ({"model": "llama-3-8b", "method": "qlora", "n_gpus": 2, "micro_batch_size": 8}, 35.03),
    ],
)
def test_adapters_with_a_fused_loss_peak_where_the_driver_showed(
    changes: dict[str, object], measured_gib: float
) -> None:
    facts = {"seq_len": 4096, "activation_checkpointing": "full", "lora_rank": 16}
    facts |= {"framework": "fms-acceleration", "fused_loss": True, "sharding": "fsdp"}
    facts |= {"quantization": "nf4" if changes["method"] == "qlora" else "none"}
    assert terms(**facts, **changes).peak.expected == pytest.approx(measured_gib, rel=0.16)


@pytest.mark.parametrize(
    ("n_gpus", "compiled", "measured_gib"),
    [(8, False, 82.4), (8, True, 77.0), (128, False, 67.0), (128, True, 62.0)],
)
def test_sharded_pretraining_peaks_where_its_log_said(
    n_gpus: int, compiled: bool, measured_gib: float
) -> None:
    # pytorch/torchtitan, llama3_h100_202412_torchtitan.md: reserved GiB per device.
    facts = {"model": "llama-3-8b", "gpu": "H100-SXM5-96GB", "n_gpus": n_gpus, "seq_len": 8192}
    facts |= {"micro_batch_size": 2, "sharding": "fsdp", "activation_checkpointing": "selective"}
    found = terms(**facts, compile=compiled, framework="torchtitan")
    reserved = found.peak.expected - found.terms["framework"].expected
    assert reserved == pytest.approx(measured_gib, rel=0.15)


def test_adapters_in_32_bit_weigh_what_a_suspected_leak_weighed() -> None:
    # huggingface/transformers #25572: 28 GB of weights and 12.25 GB of activations.
    facts = {**ONE, "model": "llama-7b", "method": "lora", "lora_rank": 8, "framework": "peft"}
    facts |= {"precision": "fp32", "gradient_dtype": "fp32", "seq_len": 256, "micro_batch_size": 4}
    found = terms(**facts).terms
    assert found["weights"].expected == pytest.approx(28e9 / GIB, rel=0.05)
    assert found["activations"].expected == pytest.approx(12.25e9 / GIB, rel=0.1)


def test_settings_of_the_framework_move_the_peak_of_sharded_adapters_inside_the_range() -> None:
    # meta-llama/llama-cookbook PR #41: Llama-2-7B LoRA on 4 × A100-40, 19.36 GB reserved without
    # kept logits, 15.22 GB active.
    facts = {"model": "llama-2-7b", "gpu": "A100-SXM-40GB", "n_gpus": 4, "sharding": "fsdp"}
    facts |= {"method": "lora", "lora_rank": 8, "precision": "bf16-true", "framework": "peft"}
    facts |= {"activation_checkpointing": "full", "micro_batch_size": 4}
    peak = terms(**facts).peak
    assert peak.low <= 15.22e9 / GIB
    assert peak.high >= 19.36e9 / GIB


def test_state_estimators_leave_out_what_stands_on_top() -> None:
    # deepspeedai/DeepSpeed #5102: ZeRO-2 states are 2·N + 18·N/n with 32-bit gradients.
    facts = {"model": "llama-2-7b", "n_gpus": 8, "sharding": "zero2", "gradient_dtype": "fp32"}
    assert state_bytes(**facts) == pytest.approx(LLAMA_2_7B * (2 + 16 / 8), rel=1e-6)
    peak = terms(**facts, framework="deepspeed").peak
    assert peak.low > 1.3 * LLAMA_2_7B * (2 + 18 / 8) / GIB


def test_training_keeps_no_key_value_cache() -> None:
    # manuelescobar-dev/LLM-Tools PR #6.
    assert not any("cache" in name for name in terms(model="llama-2-7b").terms)


def test_an_unstated_optimizer_is_two_answers() -> None:
    facts = {"model": "llama-2-7b", "gpu": "A100-SXM-80GB", "n_gpus": 1, "max_steps": 100}
    facts |= {"seq_len": 512, "micro_batch_size": 1, "precision": "bf16", "fused_loss": True}
    facts |= {"activation_checkpointing": "full", "framework": "pytorch", "compile": False}
    facts |= {"gradient_dtype": "bf16"}
    stated, unstated = (assessed(**facts, **extra).memory for extra in ({"optimizer": "adamw"}, {}))
    assert stated is not None
    assert unstated is not None
    assert stated.verdict == "OOM"
    assert unstated.verdict == "UNCERTAIN"
    assert unstated.peak.low < 80 < unstated.peak.expected
