"""Each lever applies where it can do something, and nowhere else; smaller shapes stay shapes."""

from dataclasses import replace

import pytest
from compute_budget_planner.planning.levers import Lever, levers, smaller_shape
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.facts import FactValue
from hypothesis import given
from hypothesis import strategies as st
from planned_run import guide, planned_run

CLASSES: dict[str, FactValue] = {
    "model": "resnet50",
    "objective": "classification",
    "dataset_examples": 1_281_167,
    "epochs": 90,
    "max_steps": "",
    "seq_len": "",
}
FINE_TUNING: dict[str, FactValue] = {
    "model": "llama-2-7b",
    "method": "full-ft",
    "seq_len": 2048,
    "dataset_examples": 52_000,
    "epochs": 3,
    "max_steps": "",
    "sharding": "fsdp",
}


def found(
    *, devices: tuple[str, ...] = (), largest: int | None = None, **facts: FactValue
) -> list[Lever]:
    return list(levers(planned_run(**facts), guide(), devices, largest))


def changes(name: str, **facts: FactValue) -> dict[str, FactValue] | None:
    """Return what a lever changes in a run, None when it is not offered."""
    return next((dict(lever.changes) for lever in found(**facts) if lever.name == name), None)


@pytest.mark.parametrize(
    ("name", "where", "does", "elsewhere"),
    [
        ("compile the model", {}, {"compile": True}, {"compile": True}),
        ("fused loss", {}, {"fused_loss": True}, {"fused_loss": True}),
        ("fused loss", {}, {"fused_loss": True}, CLASSES),
        (
            "checkpointing off",
            {"activation_checkpointing": "full"},
            {"activation_checkpointing": "none"},
            {"activation_checkpointing": "none"},
        ),
        ("mixed precision", {"precision": "fp32"}, {"precision": "bf16"}, {}),
        (
            "mixed precision",
            {"precision": "fp32", "gpu": "V100-SXM2-32GB"},
            {"precision": "fp16"},
            {"precision": "fp16", "gpu": "V100-SXM2-32GB"},
        ),
        ("FP8 matmuls", {"gpu": "H100-SXM-80GB"}, {"precision": "fp8"}, {"gpu": "A100-SXM-80GB"}),
        ("FP8 matmuls", {"gpu": "H100-SXM-80GB"}, {"precision": "fp8"}, {"precision": "fp8"}),
        (
            "faster attention kernel",
            {"attention": "eager"},
            {"attention": "flash"},
            {"attention": "sdpa"},
        ),
        (
            # FlashAttention-2 needs Ampere or later.
            "faster attention kernel",
            {"attention": "eager", "gpu": "V100-SXM2-32GB", "precision": "fp16"},
            {"attention": "sdpa"},
            CLASSES,
        ),
        (
            "sharding instead of offload",
            {"offload": "optimizer"},
            {"offload": "none", "sharding": "fsdp"},
            {"offload": "optimizer", "n_gpus": 1},
        ),
        ("8-bit optimizer", {}, {"optimizer": "adamw-8bit"}, {"optimizer": "lion"}),
        (
            "pack short examples",
            {**FINE_TUNING, "dataset_tokens": 20_000_000, "packing": False},
            {"packing": True},
            {**FINE_TUNING, "dataset_tokens": 20_000_000, "packing": True},
        ),
        (
            # Every example fills its sequence: there is nothing to pack.
            "pack short examples",
            {**FINE_TUNING, "dataset_tokens": 20_000_000, "packing": False},
            {"packing": True},
            {**FINE_TUNING, "dataset_tokens": 52_000 * 2048, "packing": False},
        ),
        (
            # With the number of steps fixed packing saves none of them.
            "pack short examples",
            {**FINE_TUNING, "dataset_tokens": 20_000_000, "packing": False},
            {"packing": True},
            {"dataset_examples": 52_000, "dataset_tokens": 20_000_000, "packing": False},
        ),
        ("less data", CLASSES, {"dataset_examples": 128_117}, {"dataset_examples": 1_281_167}),
        (
            "adapters instead of full training",
            FINE_TUNING,
            {"method": "lora", "lora_rank": 16},
            {**FINE_TUNING, "method": "lora", "lora_rank": 8},
        ),
        ("adapters instead of full training", FINE_TUNING, {"method": "lora", "lora_rank": 16}, {}),
        ("smaller image", {**CLASSES, "image_size": 224}, {"image_size": 112}, {}),
        (
            "mixture of experts",
            {},
            {"n_experts": 8, "experts_per_token": 2, "moe_d_ff": 768},
            {"model": "bert-base-uncased", "objective": "mlm", "seq_len": 512},
        ),
    ],
)
def test_a_lever_is_offered_where_it_does_something(
    name: str,
    where: dict[str, FactValue],
    does: dict[str, FactValue],
    elsewhere: dict[str, FactValue],
) -> None:
    assert changes(name, **where) == does
    assert changes(name, **elsewhere) is None


def test_half_the_length_keeps_the_tokens_of_a_step() -> None:
    run = planned_run()
    assert changes("shorter sequence") == {
        "seq_len": 512,
        "micro_batch_size": 32,
        "grad_accum_steps": 4,
        "global_batch_size": 2 * run.batch.global_batch_size,
    }
    assert changes("shorter sequence", seq_len=128) is None


@pytest.mark.parametrize(
    ("largest", "expected"),
    [
        (None, None),
        (16, None),
        (31, None),
        (32, {"micro_batch_size": 32, "grad_accum_steps": 2}),
        (64, {"micro_batch_size": 64, "grad_accum_steps": 1}),
        (1000, {"micro_batch_size": 64, "grad_accum_steps": 1}),
    ],
)
def test_a_larger_micro_batch_keeps_the_batch_and_what_memory_holds(
    largest: int | None, expected: dict[str, FactValue] | None
) -> None:
    offered = [lever for lever in found(largest=largest) if lever.name == "larger micro-batch"]
    assert [dict(lever.changes) for lever in offered] == ([expected] if expected else [])


def test_fewer_steps_and_less_data_follow_the_way_the_length_is_given() -> None:
    assert changes("fewer steps") == {"max_steps": 50_000}
    assert changes("fewer steps", max_steps="", train_tokens=10**10) == {"train_tokens": 5 * 10**9}
    assert changes("fewer steps", **CLASSES) == {"epochs": 45}
    assert changes("less data", max_steps="", train_tokens=10**10) is None


def test_a_larger_vocabulary_says_the_same_text_in_fewer_tokens() -> None:
    # Llama 3 (arXiv:2407.21783, section 3.2): 3.94 characters per token in place of 3.17.
    tokens = 100_000 * planned_run().batch.global_batch_size * 1024
    offered = changes("tokenizer with a larger vocabulary")
    assert offered is not None
    assert offered["vocab_size"] == 2 * 50_257
    assert 0.8 * tokens <= float(offered["train_tokens"]) <= 0.95 * tokens
    assert changes("tokenizer with a larger vocabulary", model="llama-3-8b") is None
    assert changes("tokenizer with a larger vocabulary", **FINE_TUNING) is None


@pytest.mark.parametrize(
    ("own", "offered"),
    [
        ("A100-SXM-80GB", ["H100-SXM-80GB"]),
        ("H100-SXM-80GB", []),
        ("T4", ["V100-SXM2-32GB", "A100-SXM-80GB", "H100-SXM-80GB"]),
    ],
)
def test_only_faster_devices_that_are_named_without_doubt_are_offered(
    own: str, offered: list[str]
) -> None:
    # `a100` may be four devices.
    devices = ("V100-SXM2-32GB", "a100", "A100-SXM-80GB", "H100-SXM-80GB")
    listed = found(devices=devices, gpu=own, precision="fp16")
    assert [v.changes["gpu"] for v in listed if v.name == "faster hardware"] == offered


@pytest.mark.parametrize("facts", [{}, CLASSES, FINE_TUNING])
def test_every_lever_is_a_row_of_the_guide(facts: dict[str, FactValue]) -> None:
    offered = found(devices=("H100-SXM-80GB",), largest=1000, **facts)
    assert {lever.name for lever in offered} <= set(guide().rows("alternatives"))


@given(
    st.integers(1, 128),
    st.integers(1, 16),
    st.integers(1, 16),
    st.integers(8, 128),
    st.floats(0.01, 0.99),
)
def test_a_smaller_shape_keeps_its_heads_dividing(
    n_layers: int, n_kv_heads: int, group: int, head_dim: int, share: float
) -> None:
    n_heads = n_kv_heads * group
    model = planned_run().model
    assert isinstance(model, Architecture)
    model = replace(
        model,
        n_layers=n_layers,
        n_heads=n_heads,
        n_kv_heads=n_kv_heads,
        head_dim=head_dim,
        d_model=n_heads * head_dim,
        d_ff=4 * n_heads * head_dim,
    )
    shape = smaller_shape(model, share)
    assert int(shape["n_heads"]) % int(shape["n_kv_heads"]) == 0
    assert int(shape["n_heads"]) // int(shape["n_kv_heads"]) == group
    assert int(shape["d_model"]) == int(shape["n_heads"]) * head_dim
    assert 1 <= int(shape["n_layers"]) <= n_layers
    assert int(shape["d_model"]) <= max(model.d_model, group * head_dim)
    assert int(shape["d_ff"]) == 4 * int(shape["d_model"])


def test_a_quarter_of_gpt2_has_about_a_quarter_of_its_layers_parameters() -> None:
    # GPT-2 small: 12 layers of 12·768² (Radford et al. 2019).
    model = planned_run().model
    assert isinstance(model, Architecture)
    shape = smaller_shape(model, 0.25)
    share = (int(shape["n_layers"]) * int(shape["d_model"]) ** 2) / (12 * 768**2)
    assert 0.2 < share < 0.35
