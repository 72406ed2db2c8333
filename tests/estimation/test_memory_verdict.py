"""Whether a run fits, what would make it fit, and what never needs less."""

from dataclasses import replace

import pytest
from compute_budget_planner.estimation.memory import (
    estimate_memory,
    largest_micro_batch,
    verdict_of,
)
from compute_budget_planner.estimation.memory_terms import memory_terms
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.numbers import brief
from compute_budget_planner.workload.run import TrainingRun
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from memory_of import CASES, ONE, estimated
from stated_runs import REFERENCE, assessed, whole

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
