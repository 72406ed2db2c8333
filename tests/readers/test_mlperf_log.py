import json

from compute_budget_planner.readers.contract import Basis
from compute_budget_planner.readers.mlperf_log import READER
from file_facts import of_basis, reading_of, values

START = 1_745_376_495_000


def event(key: str, value: object, seconds: float = 0, **about: object) -> str:
    body = {"namespace": "", "time_ms": START + int(seconds * 1000), "key": key, "value": value}
    return f"0: :::MLLOG {json.dumps(body | {'metadata': {'file': 'x.py', **about}})}\n"


SYSTEM = (
    ':::SYSJSON {"submitter":"Lab","number_of_nodes":"2","accelerators_per_node":"8",'
    '"accelerator_model_name":"NVIDIA H200"}\n'
)
CONFIG = """\
0: ************** Experiment configuration ***********
0:
0: trainer:
0:   devices: 8
0:   num_nodes: 2
0: model:
0:   tensor_model_parallel_size: 2
0:   context_parallel_size: 4
0:   micro_batch_size: 1
0:   encoder_seq_length: 8192
0:   api_key: abc
0:

0: GPU available: True
"""
RUN = (
    event("submission_benchmark", "llama2_70b_lora")
    + event("global_batch_size", 8)
    + event("train_samples", 3901)
    + event("gradient_accumulation_steps", 2)
    + event("opt_base_learning_rate", 0.0005)
    + event("lora_rank", 16)
    + event("run_start", None)
    + event("train_loss", 1.5, 100, samples_count=80)
    + event("train_loss", 1.25, 200, samples_count=160)
    + event("tracked_stats", {"throughput": 2.5}, 200, step=160)
    + event("eval_accuracy", 0.94, 300)
    + event("run_stop", 0.92, 1800, samples_count=3072, status="success")
)


def test_events_system_and_configuration_make_a_whole_run():
    reading = reading_of(READER, "result_0.txt", SYSTEM + CONFIG + RUN)
    assert of_basis(reading.measured, Basis.MEASURED) == {
        "gpu": "NVIDIA H200",
        "n_nodes": 2,
        "n_gpus": 16,
        "model": "llama2-70b",
        "method": "lora",
        "global_batch_size": 8,
        "dataset_examples": 3901,
        "grad_accum_steps": 2,
        "learning_rate": 0.0005,
        "lora_rank": 16,
        "steps_done": 384,
        "wall_clock_hours": 0.5,
        "samples_per_second": 2.5,
        "tp": 2,
        "cp": 4,
        "micro_batch_size": 1,
        "seq_len": 8192,
    }
    assert reading.finished is True
    (loss,) = reading.losses
    assert (loss.steps, loss.values, loss.unit) == ((80, 160), (1.5, 1.25), "samples")


def test_the_clock_is_in_milliseconds_and_runs_over_the_evaluations():
    reading = reading_of(READER, "result_0.txt", RUN)
    assert values(reading.measured)["wall_clock_hours"] == 0.5


def test_an_aborted_run_is_not_finished():
    text = event("run_start", None) + event("run_stop", None, 60, status="aborted")
    assert reading_of(READER, "result_0.txt", text).finished is False
