"""Names researchers give to settings in files of their own."""

import pytest
from compute_budget_planner.readers import lightning_cli, research_config
from file_facts import problem_texts, reading_of, values


def test_a_student_s_short_names_are_understood() -> None:
    text = (
        "model_name_or_path: mistralai/Mistral-7B-v0.1\n"
        "data:\n  name: tatsu-lab/alpaca\n  n_examples: 52002\n  max_len: 512\n"
        "accum: 4\nlora:\n  r: 16\nquant: nf4\n"
    )
    reading = reading_of(research_config.READER, "configs/qlora.yaml", text)
    assert values(reading.facts) == {
        "model": "mistralai/Mistral-7B-v0.1",
        "dataset": "tatsu-lab/alpaca",
        "dataset_examples": 52_002,
        "seq_len": 512,
        "grad_accum_steps": 4,
        "lora_rank": 16,
        "quantization": "nf4",
        "method": "qlora",
    }


@pytest.mark.parametrize("key", ["gpu", "gpu_type", "hardware: {gpu_name", "accelerator"])
def test_a_device_that_is_named_is_the_device(key: str) -> None:
    text = f"{key}: a100{'}' if '{' in key else ''}\nepochs: 3\n"
    reading = reading_of(research_config.READER, "a.yaml", text)
    assert values(reading.facts) == {"gpu": "a100", "epochs": 3.0}


@pytest.mark.parametrize("value", ["0", "cuda", "gpu", "'0,1'", "true", "auto", "[0, 1]"])
def test_an_index_a_count_or_a_switch_names_no_device(value: str) -> None:
    reading = reading_of(research_config.READER, "a.yaml", f"gpu: {value}\nepochs: 3\n")
    assert values(reading.facts) == {"epochs": 3.0}
    assert problem_texts(reading) == []


def test_a_lightning_module_stands_for_the_network_it_is_told_to_build() -> None:
    text = (
        "seed_everything: 1\ntrainer: {max_epochs: 90}\n"
        "model: {class_path: birds.Module, init_args: {arch: resnet50, num_classes: 200}}\n"
    )
    facts = values(reading_of(lightning_cli.READER, "a.yaml", text).facts)
    assert (facts["model"], facts["num_classes"]) == ("resnet50", 200)
