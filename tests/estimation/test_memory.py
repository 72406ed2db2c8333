"""Peak memory of one accelerator against what people measured and reported."""

from dataclasses import replace

import pytest
from compute_budget_planner.estimation.memory import (
    MemoryEstimate,
    estimate_memory,
    largest_micro_batch,
    verdict_of,
)
from compute_budget_planner.estimation.memory_activations import activations
from compute_budget_planner.estimation.memory_states import memory_states
from compute_budget_planner.estimation.memory_terms import MemoryTerms, memory_terms
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.numbers import brief
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import TrainingRun
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stated_runs import REFERENCE, assessed, whole

GIB = 2**30
ONE = {"n_gpus": 1, "sharding": None, "micro_batch_size": 1}
CASES = settings(max_examples=60, deadline=None)


def terms(**changes: object) -> MemoryTerms:
    return memory_terms(whole(**changes), REFERENCE)


def state_bytes(**changes: object) -> float:
    """Return bytes of weights, gradients and optimizer states of a run."""
    states = memory_states(whole(**changes), REFERENCE)
    return states.weights + states.gradients + states.optimizer


def logits_gib(**changes: object) -> Range:
    """Return GiB of the logits at the loss."""
    run = whole(**changes)
    assert isinstance(run.model, Architecture)
    return activations(run, run.model, REFERENCE).logits.scaled(1 / GIB)


def stored_bytes_per_element(**changes: object) -> float:
    """Return stored bytes per token, layer and unit of width."""
    run = whole(**changes)
    model = run.model
    assert isinstance(model, Architecture)
    tokens = run.batch.micro_batch_size * (run.data.seq_len or 1)
    stored = activations(run, model, REFERENCE).stored.expected
    return stored / (tokens * model.d_model * model.n_layers)


def estimated(**changes: object) -> MemoryEstimate:
    return estimate_memory(whole(**changes), REFERENCE)


# States

LLAMA_2_7B = 6_738_415_616
LLAMA_3_70B = 70_553_706_496


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


# Verdict


@pytest.mark.parametrize(
    ("peak", "verdict"),
    [
        (Range(10, 50, 73), "FITS"),
        (Range(10, 50, 79), "TIGHT"),
        (Range(10, 50, 81), "UNCERTAIN"),
        (Range(79, 90, 100), "UNCERTAIN"),
        (Range(81, 90, 100), "OOM"),
    ],
)
def test_a_verdict_says_where_the_range_of_the_peak_lies(peak: Range, verdict: str) -> None:
    assert verdict_of(peak, 80.0, REFERENCE) == verdict


def test_a_device_of_unknown_size_has_no_verdict() -> None:
    assert verdict_of(Range(1, 2, 3), None, REFERENCE) == "UNKNOWN"
    assert estimated(gpu="GB200").verdict in ("FITS", "UNKNOWN")


def test_a_model_whose_samples_are_unknown_has_no_verdict_and_names_its_states() -> None:
    facts = {"model": None, "params_total": "25M", "flops_per_sample_forward": 4e9}
    found = estimated(**facts, seq_len=None, objective="classification")
    assert found.verdict == "UNKNOWN"
    assert found.reason == "states only: the activations of one sample are not known"
    assert "activations" not in found.terms


def test_an_ambiguous_device_makes_the_verdict_uncertain() -> None:
    facts = {"model": "llama-2-7b", "n_gpus": 8, "max_steps": 100, "seq_len": 4096}
    facts |= {"micro_batch_size": 1, "sharding": "zero1", "activation_checkpointing": "full"}
    facts |= {"gradient_dtype": "bf16", "precision": "bf16", "framework": "pytorch"}
    verdicts = {}
    for gpu in ("A100-SXM-40GB", "A100-SXM-80GB", "a100"):
        memory = assessed(**facts, gpu=gpu).memory
        assert memory is not None
        verdicts[gpu] = memory.verdict
    assert verdicts["A100-SXM-80GB"] in ("FITS", "TIGHT")
    assert verdicts["A100-SXM-40GB"] != verdicts["A100-SXM-80GB"]
    assert verdicts["a100"] == "UNCERTAIN"


def test_an_unstated_gradient_type_that_decides_makes_the_verdict_uncertain() -> None:
    facts = {"model": "pythia-2.8b", "gpu": "A100-SXM-80GB", "n_gpus": 1, "max_steps": 100}
    facts |= {"seq_len": 512, "micro_batch_size": 1, "precision": "bf16", "fused_loss": True}
    facts |= {"activation_checkpointing": "full", "framework": "pytorch", "compile": False}
    stated = assessed(**facts, gradient_dtype="bf16").memory
    unstated = assessed(**facts).memory
    assert stated is not None
    assert unstated is not None
    assert unstated.peak.high > stated.peak.high
    assert unstated.peak.low == stated.peak.low


# Changes that help


def applied(run: TrainingRun, fix: str) -> TrainingRun:
    """Return the run changed as the words of a fix say."""
    for part in fix.replace(" and ", ", ").split(", "):
        name, _, value = part.split(" with ")[0].partition("=")
        if name == "micro_batch_size":
            run = replace(run, batch=replace(run.batch, micro_batch_size=int(value)))
        elif name == "sharding":
            run = replace(run, parallelism=replace(run.parallelism, sharding=value))
        elif name == "method":
            rank = run.numerics.lora_rank or 16
            kind = "nf4" if value == "qlora" else "none"
            numerics = replace(run.numerics, method=value, lora_rank=rank, quantization=kind)
            run = replace(run, numerics=numerics)
        else:
            known = {"true": True, "false": False}.get(value, value)
            run = replace(run, numerics=replace(run.numerics, **{name: known}))
    return run


RUNS = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["gpt2", "llama-3.2-1b", "llama-2-7b", "llama-2-13b", "gemma-2b"]),
        "gpu": st.sampled_from(["RTX-3090", "A100-SXM-40GB", "A100-SXM-80GB", "H100-SXM-80GB"]),
        "n_gpus": st.sampled_from([1, 4, 8]),
        "seq_len": st.sampled_from([512, 2048, 8192]),
        "micro_batch_size": st.sampled_from([1, 2, 3, 8, 12, 64]),
        "method": st.sampled_from(["pretrain", "full-ft", "lora"]),
        "sharding": st.sampled_from(["ddp", "zero1", "fsdp"]),
        "activation_checkpointing": st.sampled_from(["none", "full"]),
        "fused_loss": st.booleans(),
        "precision": st.sampled_from(["bf16", "bf16-true", "fp32"]),
        "lora_rank": st.just(16),
    }
)


@settings(max_examples=100, deadline=None)
@given(RUNS)
def test_the_smallest_fix_makes_the_run_fit(facts: dict[str, object]) -> None:
    run = whole(**facts)
    found = estimate_memory(run, REFERENCE)
    if found.verdict in ("FITS", "TIGHT"):
        assert found.smallest_fix == ""
        return
    assume(not found.smallest_fix.startswith("none of the single changes"))
    fixed = applied(run, found.smallest_fix)
    assert estimate_memory(fixed, REFERENCE).verdict in ("FITS", "TIGHT"), found.smallest_fix
    assert run.batch.micro_batch_size % fixed.batch.micro_batch_size == 0


@CASES
@given(RUNS)
def test_the_largest_micro_batch_fits_and_one_sample_more_does_not(
    facts: dict[str, object],
) -> None:
    run = whole(**facts)

    def verdict(size: int) -> str:
        batch = replace(run.batch, micro_batch_size=size)
        return estimate_memory(replace(run, batch=batch), REFERENCE).verdict

    largest = largest_micro_batch(run, REFERENCE)
    if largest is None:
        assert verdict(1) in ("UNCERTAIN", "OOM")
        return
    assert verdict(largest) in ("FITS", "TIGHT")
    assert verdict(largest + 1) in ("UNCERTAIN", "OOM")


def test_a_fix_holds_for_every_plausible_value_of_what_is_assumed() -> None:
    facts = {"model": "llama-2-7b", "gpu": "a100", "n_gpus": 8, "max_steps": 100}
    facts |= {"seq_len": 4096, "micro_batch_size": 8, "precision": "bf16", "framework": "pytorch"}
    before = assessed(**facts).memory
    assert before is not None
    assert before.verdict in ("UNCERTAIN", "OOM")
    stated = {}
    for part in before.smallest_fix.replace(" and ", ", ").split(", "):
        name, _, value = part.split(" with ")[0].partition("=")
        stated[name] = value
    after = assessed(**{**facts, **stated}).memory
    assert after is not None
    assert after.verdict in ("FITS", "TIGHT")


def test_when_no_single_change_helps_that_is_said() -> None:
    facts = {"model": "llama-3.1-405b", "gpu": "RTX-3090", **ONE}
    assert estimated(**facts).smallest_fix == (
        "none of the single changes fits: use devices with more memory, or split the model"
    )


def test_an_earlier_run_of_the_configuration_proves_what_is_enough() -> None:
    run = whole(model="llama-2-7b", gpu="A100-SXM-40GB", sharding="zero1", micro_batch_size=2)
    assert estimate_memory(run, REFERENCE).verdict in ("UNCERTAIN", "OOM")
    proven = estimate_memory(run, REFERENCE, proven_gib=36.0)
    assert proven.verdict == "FITS"
    assert proven.peak.high == 36.0
    assert proven.reason.startswith("an earlier run of this configuration ended well")


def test_a_peak_above_the_prediction_is_believed_and_said() -> None:
    run = whole(model="gpt2", gpu="A100-SXM-40GB", micro_batch_size=1)
    predicted = estimate_memory(run, REFERENCE).peak
    found = estimate_memory(run, REFERENCE, seen_gib=39.5)
    assert (found.peak.low, found.peak.expected, found.peak.high) == (39.5, 39.5, 39.5)
    assert found.verdict == "TIGHT"
    assert found.reason == (
        f"an earlier run of this configuration reached 39.5 GiB; {brief(predicted.low)} to "
        f"{brief(predicted.high)} GiB were predicted: some fact differs"
    )


def test_a_peak_within_the_prediction_is_its_low_end() -> None:
    run = whole(model="llama-2-7b", gpu="A100-SXM-40GB", sharding="zero1", micro_batch_size=2)
    predicted = estimate_memory(run, REFERENCE).peak
    peak = estimate_memory(run, REFERENCE, seen_gib=predicted.expected).peak
    assert (peak.low, peak.expected) == (predicted.expected, predicted.expected)
    assert peak.high == predicted.high


@CASES
@given(RUNS, st.sampled_from(["micro_batch_size", "seq_len"]))
def test_more_samples_or_longer_ones_never_need_less(facts: dict[str, object], name: str) -> None:
    less = memory_terms(whole(**facts), REFERENCE).peak
    more = memory_terms(whole(**{**facts, name: 2 * int(str(facts[name]))}), REFERENCE).peak
    for end in ("low", "expected", "high"):
        assert getattr(more, end) >= getattr(less, end)


@CASES
@given(RUNS, st.integers(1, 40), st.sampled_from([512, 1024, 2048]))
def test_more_parameters_never_need_less(
    facts: dict[str, object], n_layers: int, d_model: int
) -> None:
    shape = {**facts, "model": None, "model_family": "llama", "vocab_size": 32_000}
    shape |= {"n_layers": n_layers, "d_model": d_model, "n_heads": 8}
    small = memory_terms(whole(**shape), REFERENCE).peak
    deep = memory_terms(whole(**{**shape, "n_layers": 2 * n_layers}), REFERENCE).peak
    wide = memory_terms(whole(**{**shape, "d_model": 2 * d_model}), REFERENCE).peak
    if shape["sharding"] != "fsdp":
        assert deep.expected >= small.expected
    assert wide.expected >= small.expected


@CASES
@given(RUNS)
def test_terms_add_up_to_the_expected_peak(facts: dict[str, object]) -> None:
    found = memory_terms(whole(**facts), REFERENCE)
    total = sum(term.expected for term in found.terms.values())
    assert found.peak.expected == pytest.approx(total)


# Activations


def test_the_classic_shape_stores_34_bytes_per_element() -> None:
    # Korthikanti et al. 2022, equation 1 without the scores: 34·s·b·h per layer.
    facts = {**ONE, "model": None, "model_family": "gpt2", "n_layers": 24, "d_model": 2048}
    facts |= {"n_heads": 16, "vocab_size": 50_257, "framework": "megatron"}
    assert stored_bytes_per_element(**facts) == pytest.approx(34)
    # Equation 2 with t = 8 and sequence parallelism: an eighth.
    split = {**facts, "n_gpus": 8, "tp": 8}
    assert stored_bytes_per_element(**split) == pytest.approx(34 / 8)


def test_what_llama_3_stores_grows_from_full_to_selective_to_compiled_to_eager() -> None:
    # pytorch/ao float8nocompile, Llama-3-8B, 8 × H100, one sequence of 4,096: without
    # checkpointing 53.1 GiB eager and 46.6 compiled, 28.1 with full checkpointing. 31 layers
    # times 4,096 × 4,096 elements lie between: 54 and 40 bytes per element more.
    facts = {"model": "llama-3-8b", "sharding": "fsdp", "seq_len": 4096, "micro_batch_size": 1}
    eager = stored_bytes_per_element(**facts)
    compiled = stored_bytes_per_element(**facts, compile=True)
    assert eager == pytest.approx(54, rel=0.05)
    assert compiled == pytest.approx(40, rel=0.12)
    # pytorch/torchtitan, December 2024: 15 bytes with its per-operation checkpointing.
    selective = stored_bytes_per_element(**facts, activation_checkpointing="selective")
    assert selective == pytest.approx(15, rel=0.05)
    assert stored_bytes_per_element(**facts, activation_checkpointing="full") == 2


def test_selective_checkpointing_of_megatron_recomputes_the_attention_core_alone() -> None:
    facts = {"model": "gpt2-xl", "seq_len": 1024, "micro_batch_size": 1, "framework": "megatron"}
    flash = stored_bytes_per_element(**facts, attention="flash")
    selective = stored_bytes_per_element(
        **facts, attention="eager", activation_checkpointing="selective"
    )
    assert selective == flash
    assert stored_bytes_per_element(**facts, attention="eager") > flash


def test_pipeline_stages_store_as_many_micro_batches_as_are_in_flight() -> None:
    facts = {"model": "llama-2-7b", "n_gpus": 8, "sharding": "zero1", "micro_batch_size": 1}
    alone = stored_bytes_per_element(**facts)
    for accumulated, share in ((1, 1 / 4), (2, 2 / 4), (8, 1.0)):
        staged = stored_bytes_per_element(**facts, pp=4, grad_accum_steps=accumulated)
        assert staged == pytest.approx(alone * share)


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
