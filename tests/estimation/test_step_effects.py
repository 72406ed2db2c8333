"""Published effects on step time: links, pipelines, recomputation, FP8, experts, memory's edge."""

import pytest
from compute_budget_planner.estimation.assess import tight_slowdown
from compute_budget_planner.estimation.communication import expert_parallel_seconds, linked_devices
from compute_budget_planner.estimation.memory import MemoryEstimate
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.estimation.step import step_time
from compute_budget_planner.estimation.uncertainty import regime_sigma_name, residual_sigma
from compute_budget_planner.workload.architecture import Architecture
from stated_runs import REFERENCE, assessed, seconds, whole

EIGHT = {"model": "llama-3-8b", "sharding": "fsdp", "micro_batch_size": 2, "seq_len": 8192}
HOPPER = {**EIGHT, "gpu": "H100-SXM-80GB"}


def test_the_direct_link_of_a_rack_joins_more_than_a_machine() -> None:
    rack = whole(gpu="GB200", n_gpus=64, gpus_per_node=4).hardware
    assert linked_devices(rack) == 72
    assert linked_devices(whole(n_gpus=64).hardware) == 8
    # Experts of 64 ranks are exchanged over NVLink in a rack of 72, over the network otherwise.
    facts = {"model": "gpt-oss-120b", "ep": 64, "n_gpus": 64, "sharding": "zero1"}
    within, across = (
        expert_parallel_seconds(run, run.model, 36, 8192, REFERENCE)
        for run in (whole(**facts, gpu=gpu) for gpu in ("GB200", "B200-SXM-180GB"))
        if isinstance(run.model, Architecture)
    )
    assert within < across / 2


def test_a_stated_network_counts_and_a_slow_one_costs() -> None:
    fast, slow = (whole(**HOPPER, n_gpus=64, inter_node_gbit_s=g) for g in (3200, 100))
    assert seconds(fast) < 0.6 * seconds(slow)
    assert fast.hardware.inter_node_gbit_s == 3200


def test_interleaving_shrinks_the_pipeline_bubble_of_megatron() -> None:
    # Narayanan 2021 §2.2: (p − 1)/m without, (p − 1)/(v·m) with v stages per device.
    facts = {"model": "llama-2-13b", "n_gpus": 8, "pp": 8, "grad_accum_steps": 8, "sharding": None}
    bubbles = {
        name: step_time(whole(**facts, framework=name), REFERENCE).parts["pipeline bubble"]
        for name in ("megatron-lm", "torchtitan")
    }
    assert bubbles["torchtitan"] > 2 * bubbles["megatron-lm"] > 0


@pytest.mark.parametrize(
    ("kind", "framework", "low", "high"),
    [
        # Shares of the speed kept in published rows; Korthikanti 2022 for the attention core.
        ("full", "torchtitan", 0.74, 0.87),
        ("selective", "torchtitan", 0.85, 0.94),
        ("selective", "megatron-lm", 0.95, 1.0),
    ],
)
def test_recomputation_keeps_the_published_share_of_the_speed(
    kind: str, framework: str, low: float, high: float
) -> None:
    facts = {**HOPPER, "framework": framework}
    none = seconds(whole(**facts))
    kept = none / seconds(whole(**facts, activation_checkpointing=kind))
    assert low <= kept <= high


@pytest.mark.parametrize(
    ("model", "framework", "low", "high"),
    [
        # torchtitan and torchao: 1.16 to 1.29 for 8B; Transformer Engine: 1.35 to 1.6.
        ("llama-3-8b", "torchtitan", 1.12, 1.4),
        ("llama-3-8b", "nemo", 1.25, 1.6),
        ("llama-3-70b", "nemo", 1.35, 1.7),
    ],
)
def test_fp8_gains_what_was_published_and_never_two(
    model: str, framework: str, low: float, high: float
) -> None:
    facts = {**HOPPER, "model": model, "framework": framework, "n_gpus": 64, "compile": True}
    gain = seconds(whole(**facts)) / seconds(whole(**facts, precision="fp8"))
    assert low <= gain <= high


def test_a_masked_language_model_predicts_few_tokens_except_in_stock_code() -> None:
    facts = {"model": "bert-base-uncased", "objective": "mlm", "seq_len": 512}
    parts = {
        name: step_time(whole(**facts, framework=name), REFERENCE).parts["logits and loss"]
        for name in ("pytorch", "transformers")
    }
    assert parts["pytorch"] < 0.3 * parts["transformers"]


def test_waiting_for_the_host_or_the_network_widens_the_range() -> None:
    large = {**HOPPER, "n_gpus": 8}
    small = {"model": "gpt2", "micro_batch_size": 1, "seq_len": 256, "n_gpus": 1, "sharding": None}
    apart = {"n_gpus": 64, "inter_node_gbit_s": 25}
    for run in (whole(**small), whole(**{**EIGHT, **apart})):
        assert regime_sigma_name(run) == "sigma_pretrain"
        assert residual_sigma(run, REFERENCE) > 1.2 * REFERENCE.value("sigma_pretrain")
    assert residual_sigma(whole(**large), REFERENCE) < 0.2


def edge(verdict: str, expected: float, high: float) -> MemoryEstimate:
    return MemoryEstimate(verdict, Range(50, expected, high), 80.0, {}, "", "", None)


def test_only_a_run_at_the_edge_of_memory_is_slowed() -> None:
    slow = REFERENCE.quantity("tight_slowdown")
    assert tight_slowdown(edge("FITS", 60, 70), REFERENCE) == Range.exact(1.0)
    assert tight_slowdown(edge("TIGHT", 74, 76), REFERENCE) == Range.exact(1.0)
    assert tight_slowdown(edge("TIGHT", 74, 79), REFERENCE) == Range(1.0, 1.0, slow.high)
    assert tight_slowdown(edge("TIGHT", 79, 79.5), REFERENCE) == Range(
        1.0, slow.expected, slow.high
    )


def test_an_estimate_at_the_edge_of_memory_knows_it() -> None:
    facts = {"model": "llama-3.2-1b", "gpu": "A100-SXM-40GB", "n_gpus": 1, "seq_len": 2048}
    facts |= {"max_steps": 100, "method": "full-ft", "precision": "bf16", "optimizer": "adamw"}
    facts |= {"framework": "pytorch", "attention": "flash", "activation_checkpointing": "full"}
    facts |= {"gradient_dtype": "bf16", "fused_loss": True, "compile": False}
    slowed = 0
    for micro in range(1, 200):
        found = assessed(**facts, micro_batch_size=micro)
        memory, estimate = found.memory, found.estimate
        assert memory is not None
        assert estimate is not None
        assert memory.capacity_gib is not None
        up = estimate.step_seconds.high / estimate.step_seconds.expected
        down = estimate.step_seconds.expected / estimate.step_seconds.low
        at_the_edge = memory.verdict == "TIGHT" and memory.peak.high >= 0.98 * memory.capacity_gib
        assert (up > 1.01 * down) is at_the_edge
        slowed += at_the_edge
        if memory.verdict == "OOM":
            break
    assert slowed > 0
