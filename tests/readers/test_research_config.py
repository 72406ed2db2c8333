import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import Basis, SourceFile
from compute_budget_planner.readers.research_config import READER
from file_facts import problem_texts, reading_of, values


def test_the_scaffold_s_base_config_gives_batch_epochs_and_learning_rate():
    text = "seed: 42\nbatch_size: 32\nmax_epochs: 100\nlearning_rate: 1.0e-4\n"
    reading = reading_of(READER, "experiments/configs/base.yaml", text)
    assert (reading.format, reading.kind) == ("research_config", "config")
    assert values(reading.facts) == {"micro_batch_size": 32, "epochs": 100, "learning_rate": 1e-4}
    assert {f.name: f.source for f in reading.facts} == {
        "micro_batch_size": "experiments/configs/base.yaml:2",
        "epochs": "experiments/configs/base.yaml:3",
        "learning_rate": "experiments/configs/base.yaml:4",
    }


def test_a_bare_batch_size_is_an_assumption_and_a_question():
    reading = reading_of(READER, "base.yaml", "batch_size: 32\n")
    assert [fact.basis for fact in reading.facts] == [Basis.ASSUMED]
    assert "per device or global" in problem_texts(reading)[0]


def test_sections_are_looked_through_and_evaluation_is_left_out():
    text = """\
model:
  name: gpt2
  n_layer: 12
  n_head: 12
  n_embd: 768
data:
  name: openwebtext
optim:
  name: adamw
  lr: 6e-4
train:
  per_gpu_batch_size: 12
  accumulate_grad_batches: 5
  max_steps: 600_000
  precision: bf16-mixed
eval:
  per_gpu_batch_size: 64
  max_steps: 200
"""
    assert values(reading_of(READER, "configs/small.yaml", text).facts) == {
        "model": "gpt2",
        "n_layers": 12,
        "n_heads": 12,
        "d_model": 768,
        "dataset": "openwebtext",
        "optimizer": "adamw",
        "learning_rate": 6e-4,
        "micro_batch_size": 12,
        "grad_accum_steps": 5,
        "max_steps": 600_000,
        "precision": "bf16",
    }


def test_a_framework_s_own_keys_settle_what_its_batch_size_counts():
    axolotl = "base_model: gpt2\nmicro_batch_size: 2\nbf16: auto\ndatasets:\n  - path: data/x\n"
    assert values(reading_of(READER, "a.yml", axolotl).facts) == {
        "model": "gpt2",
        "micro_batch_size": 2,
        "dataset": "data/x",
        "precision": "bf16",
        "method": "full-ft",
        "framework": "axolotl",
    }
    detector = "imgsz: 640\nnbs: 64\nbatch: 16\nepochs: 100\n"
    assert values(reading_of(READER, "args.yaml", detector).facts) == {
        "image_size": 640,
        "global_batch_size": 16,
        "epochs": 100,
        "framework": "ultralytics",
    }
    recipe = "batch_size: 4\nmodel:\n  _component_: torchtune.models.llama3.llama3_8b\n"
    assert values(reading_of(READER, "r.yaml", recipe).facts)["micro_batch_size"] == 4


def test_a_list_of_seeds_counts_runs_but_a_seed_is_only_a_name():
    assert values(reading_of(READER, "a.yaml", "seeds: [42, 43, 44]\n").facts) == {"seeds": 3}
    assert values(reading_of(READER, "a.yaml", "seed: 42\n").facts) == {}


def test_several_values_of_one_setting_are_a_question():
    reading = reading_of(READER, "a.yaml", "epochs: 3\nlearning_rate: [1e-4, 3e-4]\n")
    assert values(reading.facts) == {"epochs": 3}
    assert problem_texts(reading) == [
        "a.yaml:2: `learning_rate` gives several values; state the one of this run"
    ]


def test_json_and_toml_are_read_alike():
    facts = {"epochs": 3, "seq_len": 1024}
    assert values(reading_of(READER, "a.json", '{"epochs": 3, "block_size": 1024}').facts) == facts
    assert values(reading_of(READER, "a.toml", "epochs = 3\nblock_size = 1024\n").facts) == facts


def test_other_files_it_names_become_references():
    text = """\
_base_: ../base.yaml
model_config: models/small.json
data_path: data/train.jsonl
output_dir: outputs/run-1
"""
    reading = reading_of(READER, "configs/a.yaml", text)
    assert [(r.path, r.role, r.source) for r in reading.references] == [
        ("../base.yaml", "base", "configs/a.yaml:1"),
        ("models/small.json", "model_config", "configs/a.yaml:2"),
        ("data/train.jsonl", "data", "configs/a.yaml:3"),
    ]
    assert reading.output_dir == "outputs/run-1"


def test_lora_and_dtype_are_understood_in_their_sections():
    text = "model:\n  dtype: torch.bfloat16\nlora:\n  enabled: true\n  r: 8\n"
    assert values(reading_of(READER, "a.yaml", text).facts) == {
        "method": "lora",
        "lora_rank": 8,
        "precision": "bf16",
    }


def test_sections_that_only_publish_or_track_say_nothing_about_the_run():
    text = "hub:\n  strategy: every_save\nwandb:\n  model: x\nquantization: 4bit\nlora_r: 8\n"
    reading = reading_of(READER, "a.yaml", text)
    assert values(reading.facts) == {"quantization": "nf4", "method": "qlora", "lora_rank": 8}
    assert problem_texts(reading) == []


def test_a_value_of_the_wrong_kind_is_told_with_its_line():
    reading = reading_of(READER, "a.yaml", "x: 1\nepochs: many\n")
    assert reading.facts == ()
    assert problem_texts(reading) == [
        "a.yaml:2: `epochs`: `epochs` is 'many'. It takes a number above 0."
    ]


def test_an_unfilled_template_gives_no_value():
    reading = reading_of(READER, "a.yaml", "epochs: ${EPOCHS}\n")
    assert reading.facts == ()
    assert len(reading.problems) == 1


def test_a_broken_file_is_taken_and_refused_with_its_line():
    file = SourceFile("configs/a.yaml", "epochs: 3\nlr: [\n")
    assert READER.matches(file)
    with pytest.raises(FormatError, match=r"configs/a\.yaml:3"):
        READER.read(file, load_reference())


def test_secrets_of_a_config_never_appear():
    reading = reading_of(READER, "a.yaml", "hf_token: hf_abcdef\npassword: 1234\nepochs: 3\n")
    assert "hf_abcdef" not in repr(reading)
    assert values(reading.facts) == {"epochs": 3}
