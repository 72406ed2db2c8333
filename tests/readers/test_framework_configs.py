"""Frameworks' own configurations: what a naive reader gets wrong in each."""

import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers import (
    axolotl,
    detectron2_config,
    espnet,
    fairseq,
    hf_config,
    kohya,
    levanter,
    lightning_cli,
    litgpt,
    nanotron,
    nemo,
    neox,
    olmo,
    research_config,
    timm_args,
    torchtitan,
    torchtune,
    ultralytics_args,
    yacs,
)
from compute_budget_planner.readers.contract import Basis, Reading, SourceFile
from compute_budget_planner.readers.registry import read_file
from file_facts import of_basis, problem_texts, reading_of, values
from file_trees import tree

AXOLOTL = "base_model: {model}\nmicro_batch_size: 2\ndatasets:\n  - path: {path}\n{more}"


def axolotl_reading(model: str = "a/b", path: str = "c/d", more: str = "") -> Reading:
    text = AXOLOTL.format(model=model, path=path, more=more)
    return reading_of(axolotl.READER, "sft.yml", text)


def test_bf16_auto_is_bf16_beside_fp16_and_tf32() -> None:
    facts = values(axolotl_reading(more="bf16: auto\nfp16: false\ntf32: true\n").facts)
    assert facts["precision"] == "bf16"


@pytest.mark.parametrize(
    ("more", "method"),
    [
        ("adapter:\n", "full-ft"),
        ("", "full-ft"),
        ("adapter: lora\n", "lora"),
        ("adapter: qlora\n", "qlora"),
        ("adapter: lora\nload_in_4bit: true\n", "qlora"),
    ],
)
def test_an_empty_adapter_is_a_full_fine_tune(more: str, method: str) -> None:
    assert values(axolotl_reading(more=more).facts)["method"] == method


@pytest.mark.parametrize("model", ["/models/BASE_MODEL_DIR", "YOUR_MODEL", "<model>", "path/to/it"])
def test_a_placeholder_is_no_model(model: str) -> None:
    reading = axolotl_reading(model=f'"{model}"')
    assert "model" not in values(reading.facts)
    assert any("give `model`" in text for text in problem_texts(reading))


def test_folders_of_the_machine_stay_out_of_a_data_sets_name() -> None:
    assert values(axolotl_reading(path="/home/me/x/chats.jsonl").facts)["dataset"] == "chats.jsonl"
    assert values(axolotl_reading(path="org/chats").facts)["dataset"] == "org/chats"


def test_a_loading_class_is_no_family() -> None:
    text = "model_type: AutoModelForCausalLM\nbatch_size: 4\nepochs: 2\n"
    reading = reading_of(research_config.READER, "a.yaml", text)
    assert "model_family" not in values(reading.facts)


def test_adapters_stand_only_in_the_name_of_torchtunes_component() -> None:
    text = "model:\n  _component_: torchtune.models.x.qlora_x_8b\n  lora_rank: 8\n"
    reading = reading_of(torchtune.READER, "a.yaml", text)
    assert values(reading.facts) == {
        "model": "qlora_x_8b",
        "method": "qlora",
        "quantization": "nf4",
        "framework": "torchtune",
        "lora_rank": 8,
    }


def test_validation_data_of_torchtune_are_no_training_data() -> None:
    text = (
        "dataset: {_component_: torchtune.datasets.alpaca_dataset, packed: false}\n"
        "dataset_val: {_component_: torchtune.datasets.other_dataset, packed: true}\n"
    )
    facts = values(reading_of(torchtune.READER, "a.yaml", text).facts)
    assert (facts["dataset"], facts["packing"]) == ("alpaca", False)


def test_torchtitans_model_is_its_name_and_flavor() -> None:
    text = '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nseq_len = 8\n[parallelism]\n'
    assert values(reading_of(torchtitan.READER, "a.toml", text).facts)["model"] == "llama3 8B"


def test_nanotrons_devices_are_the_product_of_its_ranks() -> None:
    text = (
        "tokens: {micro_batch_size: 8, batch_accumulation_per_replica: 2}\n"
        "parallelism: {dp: 32, tp: 2, pp: 4}\n"
    )
    facts = reading_of(nanotron.READER, "a.yaml", text).facts
    assert of_basis(facts, Basis.DERIVED)["n_gpus"] == 256
    without = text.replace(", pp: 4", "")
    assert "n_gpus" not in values(reading_of(nanotron.READER, "a.yaml", without).facts)


def test_heads_of_an_attention_free_neox_model_are_ignored() -> None:
    text = (
        "num-layers: 4\nnum-attention-heads: 12\ntrain_micro_batch_size_per_gpu: 1\n"
        'train-iters: 10\nattention-config: [[["mamba"], 4]]\n'
    )
    facts = values(reading_of(neox.READER, "a.yml", text).facts)
    assert facts["model_family"] == "mamba"
    assert "n_heads" not in facts


def olmo_facts(model: str) -> dict[str, object]:
    text = (
        f"model: {{d_model: 2048, {model}}}\nmax_duration: 2ep\nglobal_train_batch_size: 8\n"
        "tokenizer: {identifier: a}\nscheduler: {t_max: 5e12}\n"
    )
    return values(reading_of(olmo.READER, "a.yaml", text).facts)


def test_olmos_width_counts_both_halves_of_a_gated_unit() -> None:
    assert olmo_facts("mlp_hidden_size: 22016, activation_type: swiglu")["d_ff"] == 11_008
    assert olmo_facts("mlp_ratio: 1, activation_type: swiglu")["d_ff"] == 1_024
    assert olmo_facts("mlp_hidden_size: 8192, activation_type: gelu")["d_ff"] == 8_192


def test_olmos_schedule_is_no_length_and_its_embedding_has_its_own_rows() -> None:
    facts = olmo_facts("vocab_size: 50280, embedding_size: 50304")
    assert (facts["epochs"], facts["vocab_size"]) == (2.0, 50_304)
    assert "train_tokens" not in facts


def test_levanters_batch_is_global_and_its_save_interval_is_time() -> None:
    text = (
        "trainer:\n  num_train_steps: 10\n  train_batch_size: 1024\n  per_device_parallelism: 2\n"
        "  mp: compute=bfloat16,params=float32\n  checkpointer: {save_interval: 10m}\n"
    )
    assert values(reading_of(levanter.READER, "a.yaml", text).facts) == {
        "global_batch_size": 1024,
        "micro_batch_size": 2,
        "precision": "bf16",
        "max_steps": 10,
        "framework": "levanter",
    }


def test_only_the_training_loader_of_nemo_gives_the_batch() -> None:
    text = (
        "trainer: {max_epochs: 9, max_steps: -1}\nexp_manager: {}\n"
        "model: {train_ds: {batch_size: 16}, validation_ds: {batch_size: 8}}\n"
    )
    facts = values(reading_of(nemo.READER, "a.yaml", text).facts)
    assert (facts["micro_batch_size"], facts["epochs"]) == (16, 9.0)
    assert "max_steps" not in facts


def test_litgpts_tokens_rule_where_epochs_and_steps_are_empty() -> None:
    text = (
        "model_name: pythia-1b\ntrain:\n  global_batch_size: 512\n  micro_batch_size: 4\n"
        "  epochs:\n  max_steps:\n  max_tokens: 3000000000000\ndevices: auto\n"
    )
    facts = values(reading_of(litgpt.READER, "a.yaml", text).facts)
    assert (facts["train_tokens"], facts["global_batch_size"]) == (3_000_000_000_000, 512)
    assert not {"epochs", "max_steps", "n_gpus", "gpus_per_node"} & facts.keys()


def test_lengths_inside_a_lightning_model_are_constants_of_its_schedule() -> None:
    text = (
        "seed_everything: 1\ntrainer: {max_epochs: 100}\n"
        "model: {max_epochs: 100000, max_steps: 200000, net: {class_path: a.Net}}\n"
    )
    facts = values(reading_of(lightning_cli.READER, "a.yaml", text).facts)
    assert (facts["epochs"], facts["model"]) == (100.0, "Net")
    assert "max_steps" not in facts


def test_lightning_without_a_length_runs_a_thousand_epochs_by_default() -> None:
    text = "seed_everything: 1\ntrainer: {precision: 32}\nmodel: {class_path: a.Net}\n"
    facts = reading_of(lightning_cli.READER, "a.yaml", text).facts
    assert of_basis(facts, Basis.FRAMEWORK_DEFAULT)["epochs"] == 1000.0


def test_a_dynamic_batch_of_fairseq_is_asked_about() -> None:
    text = (
        "task: {_name: a}\ndataset: {max_tokens: 1400000}\noptimization: {max_update: 9, lr: [0.1]}"
    )
    reading = reading_of(fairseq.READER, "a.yaml", text)
    assert values(reading.facts) == {"max_steps": 9, "learning_rate": 0.1, "framework": "fairseq"}
    assert problem_texts(reading) == [
        (
            "a.yaml:2: `max_tokens` fills a batch of one device up to so many tokens (of audio:"
            " samples). How many examples is that? Give `micro_batch_size`."
        )
    ]


def test_kohyas_empty_texts_and_zeros_are_unset_and_epochs_beat_steps() -> None:
    text = (
        '{"max_train_epochs": "50", "max_train_steps": "1600", "network_dim": 32,'
        ' "train_batch_size": 3, "max_resolution": "1024,1024", "sdxl": true, "seed": ""}'
    )
    facts = values(reading_of(kohya.READER, "a.json", text).facts)
    assert (facts["epochs"], facts["image_size"], facts["model"]) == (50.0, 1024, "SDXL")
    assert "max_steps" not in facts


def test_kohyas_captioning_tool_has_a_batch_of_its_own() -> None:
    text = (
        "[basic]\ntrain_batch_size = 1\nmax_train_steps = 0\nmax_train_epochs = 4\n"
        "[lora]\nnetwork_dim = 8\n[wd14_caption]\nbatch_size = 8\n"
    )
    facts = values(reading_of(kohya.READER, "a.toml", text).facts)
    assert (facts["micro_batch_size"], facts["epochs"]) == (1, 4.0)


def test_ultralytics_batch_is_the_total_and_its_devices_are_listed() -> None:
    text = "imgsz: 640\nnbs: 64\nbatch: 32\ndevice: [0, 1, 2]\nepochs: 9\noptimizer: auto\n"
    facts = values(reading_of(ultralytics_args.READER, "args.yaml", text).facts)
    assert (facts["global_batch_size"], facts["n_gpus"]) == (32, 3)
    assert "optimizer" not in facts


@pytest.mark.parametrize(("batch", "device"), [("-1", "cpu"), ("0.7", "null")])
def test_an_automatic_batch_and_the_cpu_give_nothing(batch: str, device: str) -> None:
    text = f"imgsz: 640\nnbs: 64\nbatch: {batch}\ndevice: {device}\n"
    facts = values(reading_of(ultralytics_args.READER, "args.yaml", text).facts)
    assert not {"global_batch_size", "micro_batch_size", "n_gpus"} & facts.keys()


def test_a_windows_path_of_a_model_stays_out_of_results() -> None:
    text = "imgsz: 640\nnbs: 64\nmodel: 'E:\\people\\me\\best.pt'\n"
    assert values(reading_of(ultralytics_args.READER, "a.yaml", text).facts)["model"] == "best.pt"


DETECTRON = {
    "configs/Base.yaml": (
        'DATASETS: {TRAIN: "(\\"a_train\\",)"}\n'
        "SOLVER:\n  IMS_PER_BATCH: 16\n  BASE_LR: 0.02\n  STEPS: (60000, 80000)\n"
        "  MAX_ITER: 90000\n"
    ),
    "configs/x/long.yaml": (
        "_BASE_: ../Base.yaml\nMODEL: {MASK_ON: false}\n"
        "SOLVER:\n  STEPS: (210000, 250000)\n  MAX_ITER: 270000\n"
    ),
}


def test_detectron2s_milestones_are_no_length_and_its_batch_is_global() -> None:
    reading = detectron2_config.READER.read(
        tree(DETECTRON, "configs/x/long.yaml"), load_reference()
    )
    assert {fact.name: (fact.value, fact.source) for fact in reading.facts} == {
        "global_batch_size": (16, "configs/Base.yaml:3"),
        "max_steps": (270_000, "configs/x/long.yaml:5"),
        "learning_rate": (0.02, "configs/Base.yaml:4"),
        "dataset": ("a_train", "configs/Base.yaml:1"),
        "framework": ("detectron2", "configs/x/long.yaml"),
    }


def test_a_yacs_file_alone_says_little_and_nothing_else_is_guessed() -> None:
    text = (
        "MODEL:\n  TYPE: swin\n  NAME: swin_tiny_patch4_window7_224\n"
        "  SWIN: {EMBED_DIM: 96, DEPTHS: [2, 2, 6, 2], NUM_HEADS: [3, 6, 12, 24]}\n"
    )
    assert values(reading_of(yacs.READER, "swin.yaml", text).facts) == {
        "model": "swin_tiny_patch4_window7_224"
    }


def test_the_data_batch_of_a_yacs_file_counts_one_device_over_its_bases() -> None:
    files = {
        "c/a.yaml": "BASE: ['../base.yaml']\nMODEL: {NAME: swin}\nTRAIN: {EPOCHS: 30}\n",
        "base.yaml": "DATA: {BATCH_SIZE: 64, IMG_SIZE: 192}\nTRAIN: {EPOCHS: 300}\n",
    }
    facts = yacs.READER.read(tree(files, "c/a.yaml"), load_reference()).facts
    assert values(facts) == {
        "micro_batch_size": 64,
        "image_size": 192,
        "epochs": 30.0,
        "model": "swin",
    }


def test_batch_bins_of_espnet_are_no_examples_and_its_batch_size_is_global() -> None:
    text = "max_epoch: 30\naccum_grad: 4\nbatch_type: numel\nbatch_bins: 4000000\n"
    reading = reading_of(espnet.READER, "a.yaml", text + "batch_size: 20\n")
    assert values(reading.facts) == {
        "epochs": 30.0,
        "grad_accum_steps": 4,
        "framework": "espnet",
    }
    assert "`batch_bins` fills a batch by length" in problem_texts(reading)[0]
    folded = text.replace("numel\nbatch_bins: 4000000", "folded\nbatch_size: 64")
    facts = values(reading_of(espnet.READER, "a.yaml", folded).facts)
    assert facts["global_batch_size"] == 64


def test_the_mixed_type_of_timm_counts_only_when_mixing_is_on() -> None:
    text = "model: a\nbatch_size: 8\nopt: sgd\nsched: cosine\namp: %s\namp_dtype: bfloat16\n"
    for amp, precision in (("true", "bf16"), ("false", "fp32")):
        facts = values(reading_of(timm_args.READER, "args.yaml", text % amp).facts)
        assert (facts["precision"], facts["micro_batch_size"]) == (precision, 8)


def test_what_is_held_back_or_sliced_off_is_said() -> None:
    asked = problem_texts(axolotl_reading(more="val_set_size: 0.1\n"))
    assert asked == ["sft.yml:5: `val_set_size` holds back 10% of the examples; count the rest."]
    text = "dataset: {_component_: torchtune.datasets.a_dataset, split: 'train[:95%]'}\n"
    assert problem_texts(reading_of(torchtune.READER, "a.yaml", text)) == [
        "a.yaml:1: only `train[:95%]` is trained on; give the `dataset_examples` of that part."
    ]


def test_the_input_of_a_network_is_no_image_size() -> None:
    text = "model: {net: {input_size: 784}}\nbatch_size: 4\n"
    assert "image_size" not in values(reading_of(research_config.READER, "a.yaml", text).facts)
    text = "input_size: 224\nbatch_size: 4\n"
    facts = values(reading_of(research_config.READER, "a.yaml", text).facts)
    assert facts["image_size"] == 224


def test_list_items_may_stand_at_the_indent_of_their_key() -> None:
    text = "datasets:\n- path: x/y\n  type: chat\nbase_model: a/b\nmicro_batch_size: 16\n"
    assert values(reading_of(axolotl.READER, "a.yaml", text).facts)["dataset"] == "x/y"


def test_a_model_that_mixes_attention_with_other_layers_has_no_shape() -> None:
    text = (
        '{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,'
        ' "num_attention_heads": 4, "vocab_size": 100,'
        ' "layer_types": ["linear_attention", "full_attention"]}'
    )
    reading = reading_of(hf_config.READER, "config.json", text)
    assert values(reading.facts) == {
        "model_family": "llama",
        "vocab_size": 100,
        "tied_embeddings": False,
    }
    assert "`layer_types` names `linear_attention` layers" in problem_texts(reading)[0]


def test_a_home_made_config_with_a_models_shape_keeps_its_training_keys() -> None:
    text = "model_type: gpt2\nhidden_size: 64\nlearning_rate: 0.1\nepochs: 3\n"
    file = SourceFile("base.yaml", text)
    assert not hf_config.READER.matches(file)
    assert values(read_file(file, load_reference()).facts)["epochs"] == 3.0


def test_t5_says_whether_its_feed_forward_part_is_gated() -> None:
    text = '{"model_type": "t5", "d_model": 512, "num_layers": 6, "num_heads": 8, %s}'
    for more, gated in (
        ('"is_gated_act": false', False),
        ('"feed_forward_proj": "gated-gelu"', True),
    ):
        reading = reading_of(hf_config.READER, "config.json", text % more)
        assert values(reading.facts)["glu"] is gated


def test_keys_that_hold_secrets_are_never_returned() -> None:
    text = (
        "train_batch_size: 2\nmax_train_epochs: 3\nnetwork_dim: 4\nwandb_api_key: S3CRET\n"
        "huggingface_token: S3CRET\npassword: S3CRET\n"
    )
    assert "S3CRET" not in repr(read_file(SourceFile("a.yaml", text), load_reference()))
