"""From facts to a run: what is derived, assumed, missing, contradictory."""

from dataclasses import replace

import pytest
from compute_budget_planner.errors import FactError
from compute_budget_planner.workload.architecture import Architecture, SampleModel
from compute_budget_planner.workload.facts import Basis, Layer
from compute_budget_planner.workload.resolve import Resolution
from compute_budget_planner.workload.run import Batch, TrainingRun
from given_facts import fact, resolved
from hypothesis import given
from hypothesis import strategies as st

WHOLE = {
    "model": "gpt2",
    "gpu": "A100-SXM-80GB",
    "n_gpus": 8,
    "max_steps": 1000,
    "seq_len": 1024,
    "micro_batch_size": 16,
}


def run_of(resolution: Resolution) -> TrainingRun:
    assert resolution.run is not None, resolution.questions
    return resolution.run


def assumed(resolution: Resolution) -> dict[str, tuple[object, tuple[object, ...]]]:
    return {a.fact: (a.value, a.alternatives) for a in resolution.assumptions}


# Batch


@pytest.mark.parametrize(
    ("given_two", "batch"),
    [
        ({"micro_batch_size": 4, "grad_accum_steps": 2}, Batch(4, 2, 64)),
        ({"micro_batch_size": 4, "global_batch_size": 64}, Batch(4, 2, 64)),
        ({"grad_accum_steps": 2, "global_batch_size": 64}, Batch(4, 2, 64)),
        ({"micro_batch_size": 4}, Batch(4, 1, 32)),
        ({"global_batch_size": 8}, Batch(1, 1, 8)),
        ({"micro_batch_size": 4, "grad_accum_steps": 2, "global_batch_size": 64}, Batch(4, 2, 64)),
    ],
)
def test_two_batch_numbers_give_the_third(given_two: dict[str, int], batch: Batch) -> None:
    facts = {**WHOLE, **given_two}
    if "micro_batch_size" not in given_two:
        del facts["micro_batch_size"]
    resolution = resolved(**facts)
    assert run_of(resolution).batch == batch
    assert "micro_batch_size" not in assumed(resolution)


def test_contradictory_batch_sizes_name_every_source_and_the_remedy() -> None:
    facts = {k: v for k, v in WHOLE.items() if k != "micro_batch_size"}
    with pytest.raises(FactError) as error:
        resolved(
            fact("micro_batch_size", 4, Layer.CONFIG, "configs/base.yaml:3"),
            fact("grad_accum_steps", 4, Layer.CONFIG, "configs/base.yaml:4"),
            fact("global_batch_size", 256, Layer.CONFIG, "ds.json:2"),
            **facts,
        )
    assert str(error.value) == (
        "`micro_batch_size` 4 (configs/base.yaml:3) × `grad_accum_steps` 4 (configs/base.yaml:4) "
        "× 8 data-parallel ranks is 128, but `global_batch_size` is 256 (ds.json:2). "
        "Correct one of them, or withdraw it with null."
    )


def test_a_stronger_batch_size_puts_the_weaker_accumulation_aside_and_says_so() -> None:
    facts = {k: v for k, v in WHOLE.items() if k != "micro_batch_size"}
    resolution = resolved(
        fact("micro_batch_size", 4, Layer.CONFIG, "base.yaml:3"),
        fact("grad_accum_steps", 4, Layer.CONFIG, "base.yaml:4"),
        global_batch_size=256,
        **facts,
    )
    assert run_of(resolution).batch == Batch(4, 8, 256)
    assert [(c.used.name, c.overruled.source) for c in resolution.conflicts] == [
        ("global_batch_size", "base.yaml:4")
    ]


def test_a_total_batch_answers_what_was_only_taken_as_the_batch_of_a_device() -> None:
    facts = {k: v for k, v in WHOLE.items() if k != "micro_batch_size"}
    taken = replace(fact("micro_batch_size", 64, Layer.CONFIG, "a.sh:3"), basis=Basis.ASSUMED)
    assert run_of(resolved(taken, global_batch_size=64, **facts)).batch.global_batch_size == 64
    assert run_of(resolved(taken, global_batch_size=512, **facts)).batch == Batch(64, 1, 512)


def test_devices_a_line_gives_in_all_and_per_node_are_one_conflict() -> None:
    facts = {k: v for k, v in WHOLE.items() if k != "n_gpus"}
    resolution = resolved(
        fact("gpus_per_node", 4, Layer.CONFIG, "train.sh:2"),
        fact("n_gpus", 4, Layer.CONFIG, "train.sh:2"),
        fact("n_nodes", 1, Layer.FRAMEWORK_DEFAULT, "train.sh"),
        n_gpus=1,
        **facts,
    )
    assert run_of(resolution).hardware.n_gpus == 1
    assert [(c.used.value, c.overruled.value) for c in resolution.conflicts] == [(1, 4)]


def test_a_global_batch_the_ranks_cannot_share_is_refused() -> None:
    with pytest.raises(FactError) as error:
        resolved(**{**WHOLE, "global_batch_size": 100})
    assert str(error.value) == (
        "`global_batch_size` 100 (argument) is not a multiple of 8 data-parallel ranks × "
        "`micro_batch_size` 16 (argument). Choose a global batch that the ranks can share equally."
    )


def test_an_unknown_batch_is_assumed_asked_about_and_spread() -> None:
    facts = {k: v for k, v in WHOLE.items() if k != "micro_batch_size"}
    resolution = resolved(**facts)
    assert assumed(resolution)["micro_batch_size"] == (8, (2, 32))
    assert "What is the batch size (`micro_batch_size` per device)?" in resolution.questions


def test_ranks_of_a_tensor_parallel_group_do_not_multiply_the_batch() -> None:
    run = run_of(resolved(**{**WHOLE, "tp": 4, "grad_accum_steps": 2}))
    assert run.parallelism.dp == 2
    assert run.batch == Batch(16, 2, 16 * 2 * 2)


def test_an_assumed_micro_batch_keeps_a_pipeline_full() -> None:
    facts = {k: v for k, v in WHOLE.items() if k != "micro_batch_size"}
    run = run_of(resolved(**{**facts, "pp": 8, "global_batch_size": 64}))
    assert run.batch.grad_accum_steps >= 4 * 8


@given(
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([1, 2]),
    st.integers(1, 64),
    st.integers(1, 16),
)
def test_the_global_batch_is_micro_batch_times_accumulation_times_ranks(
    n_gpus: int, tp: int, pp: int, micro: int, accum: int
) -> None:
    facts = {**WHOLE, "n_gpus": n_gpus * tp * pp, "tp": tp, "pp": pp}
    facts |= {"micro_batch_size": micro, "grad_accum_steps": accum}
    run = run_of(resolved(**facts))
    assert run.batch.global_batch_size == micro * accum * n_gpus
    assert run.parallelism.dp * tp * pp == run.hardware.n_gpus


# Hardware and parallelism


def test_parallel_sizes_that_do_not_divide_the_devices_are_refused() -> None:
    with pytest.raises(FactError) as error:
        resolved(**{**WHOLE, "tp": 3, "pp": 2})
    assert str(error.value) == (
        "argument: tp 3 × pp 2 × cp 1 does not divide `n_gpus` 8. "
        "Make n_gpus a multiple of the product."
    )


def test_an_unknown_gpu_is_refused_with_the_nearest_and_its_place() -> None:
    facts = {k: v for k, v in WHOLE.items() if k != "gpu"}
    with pytest.raises(FactError) as error:
        resolved(fact("gpu", "A100-SXM-80BG", Layer.CONFIG, "job.sh:4"), **facts)
    text = str(error.value)
    assert text.startswith("job.sh:4: `gpu` is 'A100-SXM-80BG', which the guide does not know. ")
    assert "`A100-SXM-80GB`" in text
    assert text.endswith("A lab page can add a device.")


def test_an_ambiguous_gpu_is_asked_about_and_tried_as_each_of_them() -> None:
    resolution = resolved(**{**WHOLE, "gpu": "a100"})
    chosen, others = assumed(resolution)["gpu"]
    names = {"A100-SXM-80GB", "A100-SXM-40GB", "A100-PCIe-80GB", "A100-PCIe-40GB"}
    assert {chosen, *others} == names
    (question,) = [q for q in resolution.questions if "`gpu`" in q]
    assert question.startswith("`a100` may be ")
    assert all(name in question for name in names)


def test_nodes_and_devices_per_node_give_the_devices() -> None:
    facts = {k: v for k, v in WHOLE.items() if k != "n_gpus"}
    run = run_of(resolved(**{**facts, "n_nodes": 2, "gpus_per_node": 4}))
    assert (run.hardware.n_gpus, run.hardware.n_nodes) == (8, 2)


def test_nodes_alone_are_counted_as_full_machines_and_asked_about() -> None:
    facts = {k: v for k, v in WHOLE.items() if k != "n_gpus"}
    resolution = resolved(**{**facts, "n_nodes": 2})
    assert run_of(resolution).hardware.n_gpus == 16
    assert "How many accelerators (`n_gpus`) in all?" in resolution.questions


def test_devices_that_contradict_nodes_are_refused_with_every_source() -> None:
    with pytest.raises(FactError) as error:
        resolved(**{**WHOLE, "n_nodes": 2, "gpus_per_node": 8})
    assert str(error.value) == (
        "`n_gpus` is 8 (argument), but `n_nodes` 2 (argument) × `gpus_per_node` 8 (argument) is "
        "16. Correct one of them, or withdraw it with null."
    )
    with pytest.raises(FactError, match="does not divide evenly among `n_nodes` 3"):
        resolved(**{**WHOLE, "n_nodes": 3})


def test_several_consumer_cards_stand_in_one_machine() -> None:
    hardware = run_of(resolved(**{**WHOLE, "gpu": "RTX-3090"})).hardware
    assert (hardware.n_nodes, hardware.intra_node_link) == (1, "pcie-host")


@pytest.mark.parametrize(
    ("gpu", "stated", "link", "gb_s"),
    [
        ("A100-SXM-80GB", None, "nvlink", 300),
        ("A100-SXM-80GB", "pcie", "pcie", 16),
        ("A100-PCIe-80GB", None, "pcie", 31.5),
        ("A100-PCIe-80GB", "nvlink", "nvlink", 300),
        ("RTX-3090", "nvlink", "nvlink", 56.25),
        ("L40S", "nvlink", "pcie", 31.5),
    ],
)
def test_each_link_has_its_own_rate(gpu: str, stated: str | None, link: str, gb_s: float) -> None:
    facts = {**WHOLE, "gpu": gpu} | ({"intra_node_link": stated} if stated else {})
    resolution = resolved(**facts)
    hardware = run_of(resolution).hardware
    assert (hardware.intra_node_link, hardware.intra_node_gb_s) == (link, gb_s)
    assert bool(resolution.warnings) == (stated == "nvlink" and link == "pcie")


def test_ethernet_between_machines_is_warned_about_and_within_one_it_is_not() -> None:
    across = resolved(**{**WHOLE, "n_gpus": 16, "inter_node_link": "ethernet"})
    assert [w.split(":")[0] for w in across.warnings] == ["Ethernet between machines"]
    assert resolved(**{**WHOLE, "inter_node_link": "ethernet"}).warnings == ()


def test_unstated_sharding_of_several_ranks_is_an_assumption_and_of_one_is_none() -> None:
    assert assumed(resolved(**WHOLE))["sharding"] == ("ddp", ("fsdp",))
    alone = resolved(**{**WHOLE, "n_gpus": 1})
    assert "sharding" not in assumed(alone)
    assert run_of(alone).parallelism.sharding == "none"


# What is missing


@pytest.mark.parametrize(
    ("left_out", "missing"),
    [
        ("model", ("model",)),
        ("gpu", ("gpu",)),
        ("seq_len", ("seq_len",)),
        ("max_steps", ("max_steps",)),
    ],
)
def test_a_run_that_lacks_a_piece_is_none_and_names_it(
    left_out: str, missing: tuple[str, ...]
) -> None:
    resolution = resolved(**{k: v for k, v in WHOLE.items() if k != left_out})
    assert resolution.run is None
    assert resolution.missing == missing
    assert any(f"`{missing[0]}`" in q for q in resolution.questions)


def test_with_nothing_known_everything_essential_is_asked_at_once() -> None:
    resolution = resolved()
    assert resolution.run is None
    assert resolution.missing == ("model", "gpu", "max_steps")


def test_epochs_without_a_data_set_ask_for_its_size() -> None:
    facts = {k: v for k, v in WHOLE.items() if k != "max_steps"}
    resolution = resolved(**{**facts, "epochs": 3})
    assert resolution.missing == ("dataset_examples",)
    assert resolution.run is None


def test_packed_epochs_without_tokens_are_asked_about() -> None:
    facts = {k: v for k, v in WHOLE.items() if k != "max_steps"}
    packed = {**facts, "epochs": 1, "dataset_examples": 12_667, "packing": True}
    assert any("upper bound" in q for q in resolved(**packed).questions)
    assert resolved(**{**packed, "dataset_tokens": 1_174_528}).questions == ()


def test_an_unknown_model_name_is_answered_with_the_nearest() -> None:
    resolution = resolved(**{**WHOLE, "model": "lama-2-7b"})
    assert resolution.missing == ("model",)
    assert any("`llama-2-7b`" in q for q in resolution.questions)


# Model


def test_a_known_name_brings_its_shape() -> None:
    run = run_of(resolved(**{**WHOLE, "model": "meta-llama/Llama-2-7b-hf"}))
    assert isinstance(run.model, Architecture)
    assert (run.model.n_layers, run.model.d_model, run.model.vocab_size) == (32, 4096, 32000)


def test_a_size_alone_gives_a_usual_shape_on_record_as_assumed() -> None:
    facts = {k: v for k, v in WHOLE.items() if k != "model"}
    resolution = resolved(**{**facts, "params_total": "1.3B"})
    assert isinstance(run_of(resolution).model, Architecture)
    assert "model_family" in assumed(resolution)
    assert resolution.facts["d_model"].basis is Basis.ASSUMED


def test_flops_of_a_sample_are_enough_for_a_model_no_catalogue_knows() -> None:
    facts = {k: v for k, v in WHOLE.items() if k not in ("model", "seq_len")}
    run = run_of(resolved(**{**facts, "flops_per_sample_forward": 4e9, "params_total": "25M"}))
    assert isinstance(run.model, SampleModel)
    assert run.data.seq_len is None


# Numerics


def test_unstated_numerics_are_assumptions_with_their_plausible_others() -> None:
    found = assumed(resolved(**WHOLE))
    assert found["precision"] == ("bf16", ("tf32",))
    assert found["activation_checkpointing"] == ("none", ("full",))
    assert found["gradient_dtype"] == ("bf16", ("fp32",))
    assert found["fused_loss"] == (False, (True,))
    assert found["framework"] == ("pytorch-native", ("megatron", "hf-trainer"))
    assert found["optimizer"] == ("adamw", ("adamw-8bit",))


def test_a_device_without_bfloat16_is_assumed_to_train_in_fp16() -> None:
    found = assumed(resolved(**{**WHOLE, "gpu": "V100-SXM2-32GB"}))
    assert found["precision"][0] == "fp16"
    assert found["attention"] == ("eager", ("sdpa",))


def test_a_rank_means_lora_and_quantised_weights_mean_qlora() -> None:
    assert run_of(resolved(**{**WHOLE, "lora_rank": 8})).numerics.method == "lora"
    quantised = resolved(**{**WHOLE, "quantization": "nf4"})
    assert run_of(quantised).numerics.method == "qlora"
    assert run_of(quantised).numerics.lora_rank == 16
    assert assumed(quantised)["activation_checkpointing"] == ("full", ("none",))
    assert run_of(resolved(**{**WHOLE, "method": "qlora"})).numerics.quantization == "nf4"


def test_a_framework_nobody_knows_is_assumed_to_be_plain_pytorch() -> None:
    resolution = resolved(**{**WHOLE, "framework": "my-own-loop"})
    assert run_of(resolution).numerics.framework_class.name == "pytorch-native"
    assert assumed(resolution)["framework"][0] == "pytorch-native"


# Length


def test_a_stated_length_puts_the_length_of_a_file_aside_and_says_so() -> None:
    epochs = fact("epochs", 3, Layer.CONFIG, "c.yaml:9")
    resolution = resolved(epochs, **{**WHOLE, "dataset_examples": 1000})
    schedule = run_of(resolution).schedule
    assert (schedule.max_steps, schedule.epochs) == (1000, None)
    assert [c.overruled for c in resolution.conflicts] == [epochs]


def test_a_default_length_gives_way_in_silence() -> None:
    default = fact("epochs", 3, Layer.FRAMEWORK_DEFAULT, "transformers", Basis.FRAMEWORK_DEFAULT)
    resolution = resolved(default, **{**WHOLE, "dataset_examples": 1000})
    assert run_of(resolution).schedule.epochs is None
    assert resolution.conflicts == ()


def test_a_batch_smaller_than_the_devices_means_that_several_share_a_sample() -> None:
    # mlcommons training v4.1, Dell llama2_70b_lora: 8 samples on 16 and 32 H100.
    facts = {**WHOLE, "micro_batch_size": 1, "global_batch_size": 8}
    for n_gpus, tp in ((16, 2), (32, 4)):
        resolution = resolved(**{**facts, "n_gpus": n_gpus})
        assert run_of(resolution).parallelism.tp == tp
        assert run_of(resolution).parallelism.dp == 8
        assert assumed(resolution)["tp"] == (tp, ())
    assert run_of(resolved(**{**facts, "n_gpus": 128})).parallelism.cp == 2


def test_a_sparse_model_is_completed_from_the_catalogue_or_its_experts_are_asked_for() -> None:
    shape = {"n_layers": 32, "d_model": 4096, "n_heads": 32, "d_ff": 14336, "vocab_size": 32000}
    sizes = {"params_total": "46.7B", "params_active": "12.9B", "model": None}
    facts = {**{k: v for k, v in WHOLE.items() if k != "model"}, **shape}
    facts |= {k: v for k, v in sizes.items() if v}
    model = run_of(resolved(**facts)).model
    assert isinstance(model, Architecture)
    assert model.experts is not None
    assert (model.experts.n_experts, model.experts.experts_per_token) == (8, 2)
    unknown = resolved(**{**facts, "d_model": 4352, "n_heads": 34})
    assert unknown.missing == ("n_experts",)
    assert "how many experts" in unknown.questions[-1]


def test_a_stated_network_speed_counts_for_a_whole_machine() -> None:
    resolution = resolved(**{**WHOLE, "n_gpus": 16, "inter_node_gbit_s": 800})
    assert run_of(resolution).hardware.inter_node_gbit_s == 800
    assert "inter_node_link" not in assumed(resolution)
