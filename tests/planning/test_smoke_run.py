"""The smoke test's own run: the plan's step on the smallest group that holds it."""

from dataclasses import replace

import pytest
from compute_budget_planner.planning.smoke_run import on_devices, smoke_run
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_run import guide, planned_run

SEVEN_BILLION = {"model": "llama-2-7b", "seq_len": 2048, "micro_batch_size": 1}


def test_a_model_that_fits_one_gpu_is_tested_on_one() -> None:
    run = planned_run()
    small = smoke_run(run, guide())
    assert small == replace(
        run,
        hardware=replace(run.hardware, n_gpus=1, gpus_per_node=1),
        parallelism=replace(run.parallelism, sharding="none", dp=1),
        batch=replace(run.batch, global_batch_size=64),
    )
    assert (run.batch.global_batch_size, small.batch.global_batch_size) == (512, 64)


def test_a_run_on_one_gpu_is_its_own() -> None:
    run = planned_run(n_gpus=1)
    small = smoke_run(run, guide())
    assert (small.hardware, small.batch) == (run.hardware, run.batch)


def test_full_training_of_seven_billion_is_tested_on_the_smallest_group_that_shards_it() -> None:
    """16 bytes for each of 6.74 B parameters are 100 GiB: more than one H100, less than two."""
    run = planned_run(
        **SEVEN_BILLION, gpu="H100-SXM-80GB", sharding="zero3", activation_checkpointing="full"
    )
    small = smoke_run(run, guide())
    assert (small.hardware.n_gpus, small.parallelism.sharding, small.parallelism.dp) == (
        2,
        "zero3",
        2,
    )
    assert small.batch.global_batch_size == 1 * 4 * 2


def test_replicas_hold_no_more_than_one_so_the_run_keeps_its_own_devices() -> None:
    """Four-bit weights of 70 B alone are 39.7 GB: more data-parallel cards of 24 GB do not help."""
    run = planned_run(
        model="llama-2-70b",
        method="qlora",
        quantization="nf4",
        gpu="a10g",
        n_gpus=4,
        micro_batch_size=1,
    )
    assert smoke_run(run, guide()) == run


def test_a_group_keeps_the_tensor_and_pipeline_ranks() -> None:
    run = planned_run(
        model="llama-2-70b",
        gpu="H100-SXM-80GB",
        n_gpus=64,
        n_nodes=8,
        tp=8,
        pp=2,
        sharding="zero1",
        micro_batch_size=1,
        activation_checkpointing="full",
    )
    small = smoke_run(run, guide())
    ranks = small.parallelism
    assert (ranks.tp, ranks.pp) == (8, 2)
    assert small.hardware.n_gpus == 16 * ranks.dp
    assert small.hardware.n_gpus in (16, 32, 64)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([1, 2, 4, 8, 16, 64]),
    st.sampled_from([1, 4, 32]),
    st.integers(1, 16),
    st.sampled_from([128, 1024, 8192]),
    st.sampled_from(["fp32", "bf16", "fp16"]),
    st.sampled_from(["ddp", "zero2", "fsdp"]),
)
def test_what_a_step_of_one_device_does_never_changes(
    n_gpus: int, micro: int, accum: int, seq_len: int, precision: str, sharding: str
) -> None:
    run = planned_run(
        n_gpus=n_gpus,
        gpus_per_node=min(n_gpus, 8),
        micro_batch_size=micro,
        grad_accum_steps=accum,
        seq_len=seq_len,
        precision=precision,
        sharding=sharding,
    )
    small = smoke_run(run, guide())
    assert small.model == run.model
    assert small.numerics == run.numerics
    assert small.data == run.data
    assert small.batch.micro_batch_size == run.batch.micro_batch_size
    assert small.batch.grad_accum_steps == run.batch.grad_accum_steps
    assert small.batch.global_batch_size == micro * accum * small.parallelism.dp
    assert small.hardware.n_gpus <= run.hardware.n_gpus
    assert small.hardware.gpus_per_node <= small.hardware.n_gpus


@pytest.mark.parametrize("n_gpus", [1, 2, 8, 16])
def test_the_nodes_follow_the_devices(n_gpus: int) -> None:
    run = planned_run(n_gpus=16, n_nodes=2, gpus_per_node=8)
    assert on_devices(run, n_gpus).hardware.n_nodes == (2 if n_gpus == 16 else 1)
