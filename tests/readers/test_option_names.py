import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import Basis, Fact, Layer
from compute_budget_planner.readers.option_names import facts_from_options, is_known_option
from hypothesis import given
from hypothesis import strategies as st


def facts(options, framework=None, layer=Layer.CONFIG):
    listed = [(name, raw, f"c.yaml:{n}") for n, (name, raw) in enumerate(options.items(), start=1)]
    found, problems = facts_from_options(listed, framework, layer, load_reference())
    assert len({fact.name for fact in found}) == len(found)
    return {fact.name: fact.value for fact in found}, [problem.text for problem in problems]


def test_trainer_arguments_become_facts():
    found, problems = facts(
        {
            "per_device_train_batch_size": 4,
            "gradient_accumulation_steps": 8,
            "num_train_epochs": 3,
            "max_steps": -1,
            "bf16": True,
            "fp16": False,
            "optim": "adamw_torch",
            "gradient_checkpointing": True,
            "learning_rate": "2e-5",
            "warmup_ratio": 0.03,
        }
    )
    assert problems == []
    assert found == {
        "micro_batch_size": 4,
        "grad_accum_steps": 8,
        "epochs": 3.0,
        "precision": "bf16",
        "optimizer": "adamw",
        "activation_checkpointing": "full",
        "learning_rate": 2e-5,
    }


def test_a_fact_carries_its_source_basis_and_layer():
    found, _ = facts_from_options(
        [("--max-seq-length", "2048", "j.sh:7")], None, Layer.COMMAND_LINE, load_reference()
    )
    assert found == (Fact("seq_len", 2048, Basis.CONFIGURED, "j.sh:7", Layer.COMMAND_LINE),)


def test_positive_steps_beat_epochs_of_the_trainer():
    assert facts({"num_train_epochs": 3, "max_steps": 500})[0] == {"max_steps": 500}


def test_kohya_epochs_beat_steps():
    options = {"max_train_steps": 1600, "max_train_epochs": 10}
    assert facts(options, "kohya")[0] == {"epochs": 10.0}


def test_four_bit_loading_with_a_rank_is_qlora():
    assert facts({"load_in_4bit": True, "lora_r": 16})[0] == {
        "quantization": "nf4",
        "lora_rank": 16,
        "method": "qlora",
    }


def test_a_rank_without_adapters_is_not_lora():
    assert facts({"use_peft": False, "lora_r": 16})[0] == {}
    assert facts({"finetuning_type": "full", "lora_rank": 8})[0] == {"method": "full-ft"}


def test_ranks_of_latent_attention_are_not_lora():
    assert facts({"q_lora_rank": 1536, "kv_lora_rank": 512})[0] == {}


def test_a_bare_batch_size_is_assumed_per_device_and_asked_about():
    found, problems = facts_from_options(
        [("batch_size", 32, "base.yaml:2")], None, Layer.CONFIG, load_reference()
    )
    assert found == (Fact("micro_batch_size", 32, Basis.ASSUMED, "base.yaml:2", Layer.ASSUMPTION),)
    assert [p.source for p in problems] == ["base.yaml:2"]
    assert "per device or global?" in problems[0].text


@pytest.mark.parametrize("framework", ["composer", "detectron2", "Ultralytics", "OLMo"])
def test_frameworks_that_count_all_devices_give_a_global_batch(framework):
    assert facts({"batch_size": 256}, framework) == ({"global_batch_size": 256}, [])


@pytest.mark.parametrize("framework", ["timm", "open_clip", "diffusers", "torchtune", "trl"])
def test_frameworks_that_count_one_device_give_a_micro_batch(framework):
    assert facts({"train_batch_size": 16}, framework) == ({"micro_batch_size": 16}, [])


def test_nanogpt_accumulation_is_of_the_whole_job():
    options = {"batch_size": 12, "gradient_accumulation_steps": 40, "block_size": 1024}
    assert facts(options, "nanoGPT")[0] == {
        "micro_batch_size": 12,
        "seq_len": 1024,
        "global_batch_size": 480,
    }


def test_verl_prompts_are_no_batch_and_lengths_add():
    found, problems = facts(
        {
            "data.train_batch_size": 1024,
            "data.max_prompt_length": 512,
            "data.max_response_length": 1024,
            "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": 16,
            "actor_rollout_ref.rollout.n": 5,
            "actor_rollout_ref.rollout.tensor_model_parallel_size": 2,
            "trainer.n_gpus_per_node": 8,
            "algorithm.adv_estimator": "grpo",
        },
        "verl",
    )
    assert problems == []
    assert found == {
        "micro_batch_size": 16,
        "num_generations": 5,
        "gpus_per_node": 8,
        "objective": "grpo",
        "seq_len": 1536,
    }


@pytest.mark.parametrize(
    ("duration", "fact"),
    [
        ("4800ba", {"max_steps": 4800}),
        ("1ep", {"epochs": 1.0}),
        ("2e9tok", {"train_tokens": 2_000_000_000}),
        ("5e12T", {"train_tokens": 5_000_000_000_000}),
        (16.7, {}),
        ("1dur", {}),
    ],
)
def test_composer_durations_are_read_by_their_unit(duration, fact):
    assert facts({"max_duration": duration})[0] == fact


def test_auto_and_empty_values_give_nothing():
    options = {"gradient_accumulation_steps": "auto", "bf16.enabled": "auto", "max_steps": None}
    assert facts(options) == ({}, [])


def test_zero_stage_and_offload_are_read_from_their_sections():
    options = {
        "zero_optimization.stage": 3,
        "zero_optimization.offload_optimizer.device": "cpu",
        "zero_optimization.offload_param.device": "none",
    }
    assert facts(options)[0] == {"sharding": "zero3", "offload": "optimizer"}


def test_evaluation_sections_say_nothing_about_training():
    assert facts({"eval.batch_size": 4, "val.max_steps": 3})[0] == {}


def test_both_sixteen_bit_switches_off_is_fp32():
    assert facts({"fp16": False, "bf16": False})[0] == {"precision": "fp32"}
    assert facts({"mixed_precision": False})[0] == {"precision": "fp32"}


def test_intervals_by_epoch_are_no_steps():
    options = {"save_strategy": "epoch", "save_steps": 500, "eval_steps": 0.1}
    assert facts(options) == ({}, [])


def test_devices_are_counted_from_a_list():
    assert facts({"trainer.devices": "0,1"})[0] == {"gpus_per_node": 2}
    assert facts({"trainer.devices": [0, 1, 2]})[0] == {"gpus_per_node": 3}
    assert facts({"trainer.devices": -1})[0] == {}


def test_machine_folders_stay_out_of_names():
    options = {"model_name_or_path": "/scratch/me/models/opt-125m", "dataset_name": "org/set"}
    assert facts(options)[0] == {
        "model": "opt-125m",
        "dataset": "org/set",
        "method": "full-ft",
    }


def test_bad_and_unsettled_values_are_problems():
    found, problems = facts({"num_train_epochs": "many", "learning_rate": "$LR"})
    assert found == {}
    assert problems == [
        "`num_train_epochs`: `epochs` is 'many'. It takes a number above 0.",
        "`learning_rate` is `$LR`, which this file does not settle; give `learning_rate`.",
    ]


def test_two_names_of_one_fact_that_differ_are_told():
    found, problems = facts({"lr": 0.1, "base_lr": 0.2})
    assert found == {"learning_rate": 0.2}
    assert problems == ["`lr` and `base_lr` both give `learning_rate`: 0.1 and 0.2; 0.2 is used."]


def test_unknown_names_are_no_facts():
    assert facts({"seed": 42, "wandb_project": "x", "min_lr": 1e-6}) == ({}, [])
    assert is_known_option("--per-device-train-batch-size")
    assert is_known_option("load_in_4bit")
    assert not is_known_option("seed")


_NAMES = st.sampled_from(
    [
        "batch_size",
        "max_steps",
        "lr",
        "train_samples",
        "seq_length",
        "bf16",
        "amp",
        "fsdp",
        "max_duration",
        "lora_r",
        "model",
        "devices",
        "image_size",
        "optim",
        "use_peft",
        "quantization_bit",
        "d",
        "t",
        "b",
        "strategy",
        "zero_stage",
    ]
) | st.text(max_size=12)
_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)


@given(
    st.lists(st.tuples(_NAMES, _VALUES, st.just("x:1")), max_size=12),
    st.sampled_from([None, "nanogpt", "verl", "llm.c", "composer", "transformers", "kohya"]),
)
def test_no_options_break_the_reading(options, framework):
    found, problems = facts_from_options(options, framework, Layer.CONFIG, load_reference())
    assert all(fact.value == fact.value for fact in found)
    assert all(problem.text for problem in problems)
