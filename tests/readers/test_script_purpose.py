"""What the names of training scripts tell."""

import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import Layer, SourceFile
from compute_budget_planner.readers.registry import read_file
from compute_budget_planner.readers.script_purpose import purpose_facts


def told(script: str) -> dict[str, object]:
    return {fact.name: fact.value for fact in purpose_facts(script, "job.sh:3")}


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("run_glue.py", {"objective": "classification", "method": "full-ft"}),
        ("examples/run_clm.py", {"objective": "lm"}),
        ("run_mlm.py", {"objective": "mlm"}),
        ("scripts/sft.py", {"objective": "lm", "method": "full-ft"}),
        ("dpo_zephyr.py", {"objective": "dpo", "method": "full-ft"}),
        ("train_grpo.py", {"objective": "grpo", "method": "full-ft"}),
        ("train_text_to_image_lora.py", {"objective": "diffusion", "method": "lora"}),
        ("finetune.py", {"method": "full-ft"}),
        ("train.py", {}),
        ("adopt.py", {}),
        ("floral.py", {}),
    ],
)
def test_a_script_is_known_by_the_words_of_its_name(script: str, expected: dict[str, str]) -> None:
    assert told(script) == expected


def test_what_a_name_tells_is_weaker_than_any_option() -> None:
    assert {fact.layer for fact in purpose_facts("run_glue.py", "job.sh:3")} == {
        Layer.FRAMEWORK_DEFAULT
    }


def test_training_that_loads_published_weights_is_fine_tuning() -> None:
    job = "#!/bin/bash\ntorchrun --nproc_per_node=2 train.py --model_name_or_path org/model-7b\n"
    reading = read_file(SourceFile("jobs/ft.sh", job), load_reference())
    methods = [(f.value, f.basis.value) for f in reading.facts if f.name == "method"]
    assert methods == [("full-ft", "derived")]


def test_a_configuration_without_weights_is_training_from_scratch() -> None:
    job = "#!/bin/bash\npython run_clm.py --config_name gpt2 --block_size 1024\n"
    reading = read_file(SourceFile("jobs/scratch.sh", job), load_reference())
    assert [f.value for f in reading.facts if f.name == "method"] == []
