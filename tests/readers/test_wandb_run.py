import json

import pytest
from compute_budget_planner.readers import log_text, wandb_config, wandb_run
from file_facts import problem_texts, reading_of, values

METADATA = {
    "os": "Linux-5.15",
    "python": "CPython 3.11.14",
    "startedAt": "2026-02-13T12:53:23.720815Z",
    "args": ["--api_key", "local-4c1d99e0a1b2"],
    "program": "/home/someone/train.py",
    "email": "someone@example.org",
    "host": "node07",
    "gpu": "NVIDIA RTX A5000",
    "gpu_count": 4,
    "gpu_nvidia": [{"name": "NVIDIA RTX A5000", "memoryTotal": "25757220864"}] * 4,
}


def metadata(**changes: object):
    text = json.dumps({**METADATA, **changes}, indent=1)
    return reading_of(wandb_run.METADATA_READER, "wandb/run-1/files/wandb-metadata.json", text)


def summary(**keys: object):
    text = json.dumps(keys, indent=1)
    return reading_of(wandb_run.SUMMARY_READER, "wandb/run-1/files/wandb-summary.json", text)


def config(text: str):
    return reading_of(wandb_config.READER, "wandb/run-1/files/config.yaml", text)


def test_the_gpus_of_the_host_are_not_those_of_the_run():
    reading = metadata()
    assert values(reading.measured) == {"gpu": "NVIDIA RTX A5000"}
    assert reading.notes["host_gpus"] == 4
    assert problem_texts(reading) == [
        (
            "wandb/run-1/files/wandb-metadata.json:13: `gpu_count` 4 is what the host has; state "
            "`n_gpus` of the run"
        )
    ]


def test_a_host_with_one_gpu_and_an_allocation_leave_no_doubt():
    assert values(metadata(gpu_count=1).measured)["n_gpus"] == 1
    slurm = metadata(slurm={"gpus_on_node": "4", "nnodes": "2", "job_id": "7"})
    assert values(slurm.measured)["n_gpus"] == 8


def test_an_apple_machine_has_a_block_of_its_own_and_mixed_gpus_are_no_type():
    apple = {k: v for k, v in METADATA.items() if not k.startswith("gpu")}
    text = json.dumps({**apple, "apple": {"name": "Apple M1 Max"}})
    reading = reading_of(wandb_run.METADATA_READER, "wandb-metadata.json", text)
    assert values(reading.measured) == {"gpu": "Apple M1 Max"}
    mixed = metadata(gpu_nvidia=[{"name": "A"}, {"name": "B"}])
    assert "gpu" not in values(mixed.measured)


def test_secrets_users_and_hosts_are_never_returned():
    shown = repr(metadata()) + repr(config(HF + "hub_token:\n  value: hf_abcdefgh12345678xyz\n"))
    for secret in ("4c1d99e0a1b2", "someone", "node07", "hf_abcdefgh"):
        assert secret not in shown


def test_the_trainers_run_time_goes_before_that_of_wandb():
    reading = summary(
        _runtime=7400.0,
        _step=3,
        _timestamp=1.7e9,
        _wandb={"runtime": 7400},
        **{"train_runtime": 7200.0, "train_steps_per_second": 0.5, "train/loss": 1.4},
        **{"train/global_step": 3600},
    )
    assert values(reading.measured) == {
        "steps_done": 3600,
        "wall_clock_hours": 2.0,
        "step_seconds": 2.0,
    }
    assert reading.finished is True


def test_a_global_step_of_zero_is_a_left_over():
    reading = summary(
        **{"_runtime": 75.0, "train/global_step": 0, "total_flos": 0, "_step": 3},
        train_runtime=73.8095,
        train_steps_per_second=0.163,
    )
    # 0.163 ± 0.0005 steps a second over 73.8 s leave 12 steps only.
    assert values(reading.measured)["steps_done"] == 12


def test_wandbs_step_counts_log_calls_and_other_metrics_are_noise():
    noise = {f"val/ngram_{n}": 4.7 for n in range(250)}
    reading = summary(_runtime=3600.0, _step=111636, **noise)
    assert values(reading.measured) == {"wall_clock_hours": 1.0}
    assert reading.finished is None
    assert "`_step` 111636 counts calls of `log`; state `steps_done`" in problem_texts(reading)[0]


def test_a_run_that_logged_nothing_gives_no_duration():
    reading = summary(_runtime=9, _wandb={"runtime": 9})
    assert (values(reading.measured), reading.finished) == ({}, False)


def test_warm_up_steps_before_an_interrupt_are_no_pace():
    bar = "  0%|          | 7/61683 [00:07<13:35:07,  1.26it/s]Traceback (most recent call last):\n"
    reading = reading_of(log_text.READER, "files/output.log", bar + "KeyboardInterrupt\n")
    assert values(reading.measured) == {"steps_done": 7, "max_steps": 61683}
    assert reading.finished is False
    assert problem_texts(reading) == [
        (
            "files/output.log:1: 7 iterations in 7 s are the warm-up: too little for a step time; "
            "state `step_seconds`"
        )
    ]


HF = """\
_wandb:
    value:
        cli_version: 0.24.2
        m:
            - "1": train/global_step
_name_or_path:
    value: google/gemma-3-1b-it
model_type:
    value: gemma3_text
hidden_size:
    value: 1152
num_hidden_layers:
    value: 26
max_position_embeddings:
    value: 32768
max_length:
    value: 1024
packing:
    value: false
per_device_train_batch_size:
    value: 2
gradient_accumulation_steps:
    value: 4
gradient_checkpointing:
    value: true
num_train_epochs:
    value: 3
max_steps:
    value: -1
learning_rate:
    value: 2e-05
bf16:
    value: true
fp16:
    value: false
optim:
    value: paged_adamw_8bit
model/num_parameters:
    value: 999885952
"""


def test_the_trainers_arguments_stand_beside_the_models_shape():
    assert values(config(HF).measured) == {
        "model": "google/gemma-3-1b-it",
        "model_family": "gemma3",
        "framework": "transformers",
        "d_model": 1152,
        "n_layers": 26,
        "seq_len": 1024,
        "packing": False,
        "micro_batch_size": 2,
        "grad_accum_steps": 4,
        "activation_checkpointing": "full",
        "epochs": 3,
        "learning_rate": 2e-05,
        "precision": "bf16",
        "optimizer": "adamw-8bit",
        "params_total": 999885952,
    }


def test_the_length_of_generated_text_is_not_that_of_training():
    image = HF.replace("packing:\n    value: false\n", "").replace("value: 1024", "value: 20")
    assert "seq_len" not in values(config(image).measured)


OWN = """\
_wandb:
    value:
        e:
            abc:
                gpu_count: {gpus}
batch_size:
    desc: null
    value: 64
hidden_dim:
    desc: null
    value: 32
dataset_name:
    desc: null
    value: wikitext
dataset_config:
    desc: null
    value: wikitext-103-raw-v1
num_params:
    desc: null
    value: 540800
"""


def test_the_old_form_with_descriptions_and_a_single_gpus_batch_is_read():
    assert values(config(OWN.format(gpus=1)).measured) == {
        "dataset": "wikitext-103-raw-v1",
        "global_batch_size": 64,
        "d_model": 32,
        "params_total": 540800,
    }


def test_a_bare_batch_on_a_host_of_several_gpus_is_asked_about():
    reading = config(OWN.format(gpus=4))
    assert "global_batch_size" not in values(reading.measured)
    assert any("per device or global?" in text for text in problem_texts(reading))


@pytest.mark.parametrize(
    "text", ["_wandb: 3\n", "_wandb:\n  value:\n", "wandb_version: 1\nlr: 3\n"]
)
def test_odd_configurations_are_read_without_error(text: str):
    config(text)
