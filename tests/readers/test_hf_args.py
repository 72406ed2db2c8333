from compute_budget_planner.readers.contract import Basis, Layer, SourceFile
from compute_budget_planner.readers.hf_args import READER
from file_facts import of_basis, problem_texts, reading_of, values

TRAINER = """\
model_name_or_path: openai-community/gpt2
per_device_train_batch_size: 16
gradient_accumulation_steps: 2
learning_rate: 2e-5
num_train_epochs: 5
bf16: true
output_dir: outputs/gpt2
"""


def test_trainer_arguments_give_facts_and_the_trainer_s_defaults():
    reading = reading_of(READER, "configs/ft.yaml", TRAINER)
    assert of_basis(reading.facts, Basis.CONFIGURED) == {
        "model": "openai-community/gpt2",
        "micro_batch_size": 16,
        "grad_accum_steps": 2,
        "learning_rate": 2e-5,
        "epochs": 5,
        "precision": "bf16",
    }
    assert of_basis(reading.facts, Basis.DERIVED) == {
        "framework": "transformers",
        "method": "full-ft",
    }
    assert of_basis(reading.facts, Basis.FRAMEWORK_DEFAULT) == {
        "optimizer": "adamw",
        "activation_checkpointing": "none",
        "checkpoint_every_steps": 500,
    }
    assert reading.output_dir == "outputs/gpt2"
    assert {f.layer for f in reading.facts if f.basis is Basis.FRAMEWORK_DEFAULT} == {
        Layer.FRAMEWORK_DEFAULT
    }


def test_what_nobody_gave_is_the_framework_s_default():
    reading = reading_of(READER, "a.json", '{"output_dir": "o", "num_train_epochs": 1}')
    assert of_basis(reading.facts, Basis.FRAMEWORK_DEFAULT) == {
        "micro_batch_size": 8,
        "grad_accum_steps": 1,
        "learning_rate": 5e-5,
        "precision": "fp32",
        "optimizer": "adamw",
        "activation_checkpointing": "none",
        "checkpoint_every_steps": 500,
    }


def test_steps_beat_epochs_and_minus_one_is_no_number_of_steps():
    beaten = reading_of(READER, "a.yaml", TRAINER + "max_steps: 500\n")
    facts = values(beaten.facts)
    assert facts["max_steps"] == 500
    assert "epochs" not in facts
    unset = values(reading_of(READER, "a.yaml", TRAINER + "max_steps: -1\n").facts)
    assert unset["epochs"] == 5
    assert "max_steps" not in unset


def test_steps_without_epochs_do_not_bring_the_three_default_epochs():
    text = "per_device_train_batch_size: 4\nmax_steps: 500\n"
    assert "epochs" not in values(reading_of(READER, "a.yaml", text).facts)


SFT = """\
model_name_or_path: Qwen/Qwen2.5-7B
dataset_name: open-thoughts/chat
use_peft: false
max_length: 4096
per_device_train_batch_size: 1
gradient_accumulation_steps: 16
num_train_epochs: 3
"""


def test_trl_recipes_checkpoint_and_train_in_bf16_unless_they_say_otherwise():
    facts = values(reading_of(READER, "sft.yaml", SFT).facts)
    assert facts["framework"] == "trl"
    assert facts["precision"] == "bf16"
    assert facts["activation_checkpointing"] == "full"
    assert facts["learning_rate"] == 2e-5
    assert facts["method"] == "full-ft"
    assert facts["seq_len"] == 4096


def test_trl_with_bf16_switched_off_is_fp32():
    assert values(reading_of(READER, "a.yaml", SFT + "bf16: false\n").facts)["precision"] == "fp32"


def test_fsdp_s_own_activation_checkpointing_replaces_the_trainer_s():
    text = SFT + (
        "fsdp: full_shard auto_wrap\n"
        "fsdp_config:\n  activation_checkpointing: true\n"
        "gradient_checkpointing: false\n"
    )
    reading = reading_of(READER, "a.yaml", text)
    facts = values(reading.facts)
    assert facts["activation_checkpointing"] == "full"
    assert facts["sharding"] == "fsdp"
    assert problem_texts(reading) == []


def test_keys_given_twice_are_told_and_the_last_counts():
    reading = reading_of(READER, "a.yaml", SFT + "save_steps: 25\nsave_steps: 50\n")
    assert values(reading.facts)["checkpoint_every_steps"] == 50
    assert problem_texts(reading) == [
        "a.yaml:9: key `save_steps` is given twice; the last one counts"
    ]


def test_peft_settings_give_method_and_rank():
    lora = SFT.replace("use_peft: false", "use_peft: true\nlora_r: 64")
    facts = values(reading_of(READER, "a.yaml", lora).facts)
    assert (facts["method"], facts["lora_rank"]) == ("lora", 64)
    facts = values(reading_of(READER, "a.yaml", lora + "load_in_4bit: true\n").facts)
    assert (facts["method"], facts["quantization"]) == ("qlora", "nf4")


def test_sections_that_group_trainer_keys_are_looked_through():
    text = """\
# 3 epochs on one card
model:
  model_name_or_path: meta-llama/Llama-3.1-8B
  load_in_4bit: true
lora:
  r: 8
training:
  per_device_train_batch_size: 4
  gradient_accumulation_steps: 4
  num_train_epochs: 7
  optim: paged_adamw_8bit
"""
    facts = of_basis(reading_of(READER, "a.yaml", text).facts, Basis.CONFIGURED)
    assert facts == {
        "model": "meta-llama/Llama-3.1-8B",
        "quantization": "nf4",
        "method": "qlora",
        "lora_rank": 8,
        "micro_batch_size": 4,
        "grad_accum_steps": 4,
        "epochs": 7,
        "optimizer": "adamw-8bit",
    }


def test_grpo_and_dpo_recipes_name_their_objective():
    grpo = SFT + "num_generations: 16\nmax_prompt_length: 512\nmax_completion_length: 1024\n"
    facts = values(reading_of(READER, "a.yaml", grpo).facts)
    assert (facts["objective"], facts["num_generations"]) == ("grpo", 16)
    assert values(reading_of(READER, "a.yaml", SFT + "beta: 0.1\n").facts)["objective"] == "dpo"


def test_llama_factory_trains_adapters_with_checkpointing_by_default():
    text = """\
model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
stage: sft
finetuning_type: lora
quantization_bit: 4
per_device_train_batch_size: 1
gradient_accumulation_steps: 8
num_train_epochs: 3.0
bf16: true
"""
    facts = values(reading_of(READER, "a.yaml", text).facts)
    assert facts["framework"] == "llama-factory"
    assert facts["method"] == "qlora"
    assert facts["lora_rank"] == 8
    assert facts["seq_len"] == 2048
    assert facts["activation_checkpointing"] == "full"


def test_weights_in_bf16_without_a_flag_have_no_master_copy():
    text = TRAINER.replace("bf16: true", "torch_dtype: bfloat16")
    assert values(reading_of(READER, "a.yaml", text).facts)["precision"] == "bf16-true"


def test_deepspeed_and_mixtures_are_taken_along():
    text = SFT + "deepspeed: configs/zero3.json\ndataset_mixer:\n  a/chat: 0.5\n  b/code: 1.0\n"
    reading = reading_of(READER, "a.yaml", text.replace("dataset_name: open-thoughts/chat\n", ""))
    assert [(r.path, r.role) for r in reading.references] == [("configs/zero3.json", "deepspeed")]
    assert values(reading.facts)["dataset"] == "a/chat + b/code"


def test_home_made_files_with_common_names_are_not_the_trainer_s():
    for text in (
        "learning_rate: 1e-4\nmax_steps: 100\nbatch_size: 8\noutput_dir: out\n",
        "num_train_epochs: 3\n",
        "[broken",
    ):
        assert not READER.matches(SourceFile("a.yaml", text))
