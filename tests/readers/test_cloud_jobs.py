"""Readers of files that platforms take: SkyPilot, dstack, MCLI, Run:AI, AWS Batch, SageMaker."""

import json

import pytest
from compute_budget_planner.readers import (
    aws_batch,
    dstack,
    mcli,
    runai_workload,
    sagemaker,
    skypilot,
)
from compute_budget_planner.readers.contract import Basis
from file_facts import of_basis, problem_texts, reading_of, values


def counts(found):
    known = {fact.name: fact.value for fact in found.facts}
    return tuple(known.get(name) for name in ("n_nodes", "gpus_per_node", "n_gpus", "gpu"))


@pytest.mark.parametrize(
    ("accelerators", "expected"),
    [
        ("A100:8", (1, 8, 8, "A100")),
        ("A100-80GB", (1, 1, 1, "A100-80GB")),
        ("{H100: 4}", (1, 4, 4, "H100")),
        ("[A100:8, H100:8]", (1, 8, 8, None)),
        ("[A100:8, H100:4]", (1, None, None, None)),
        ("A100:0", (1, None, None, None)),
    ],
)
def test_skypilot_accelerators_are_per_node_and_alternatives_stay_open(accelerators, expected):
    text = f"resources:\n  accelerators: {accelerators}\nrun: python train.py\n"
    assert counts(reading_of(skypilot.READER, "sky.yaml", text)) == expected


def test_skypilot_variables_reach_the_command_and_secrets_do_not():
    text = (
        "envs: {SIZE: 8B, HF_TOKEN: abc, DATA: lab/stories}\nnum_nodes: 2\n"
        "resources: {infra: aws, accelerators: 'H100:8'}\nsetup: python prepare.py --epochs 9\n"
        "run: |\n  tune run --nproc_per_node $SKYPILOT_NUM_GPUS_PER_NODE "
        "lora_finetune_distributed \\\n"
        "    --config /configs/$SIZE-lora.yaml dataset.source=$DATA token=$HF_TOKEN\n"
    )
    found = reading_of(skypilot.READER, "sky.yaml", text)
    assert counts(found) == (2, 8, 16, "H100")
    assert {f.value for f in found.facts if f.name == "dataset"} == {"lab/stories"}
    assert "epochs" not in {fact.name for fact in found.facts}
    assert "abc" not in repr(found)


def test_llmc_counts_tokens_per_step_and_recomputes_selectively():
    text = (
        "resources: {accelerators: 'A100:8'}\nrun: |\n  mpirun -np $SKYPILOT_NUM_GPUS_PER_NODE "
        './train_gpt2cu -i "dev/data/stories10B/x_*.bin" -e d12 -b 64 -t 1024 -d 524288 -r 1 -z 1\n'
    )
    known = {f.name: f.value for f in reading_of(skypilot.READER, "s.yaml", text).facts}
    assert known["global_batch_size"] == 512
    assert (known["activation_checkpointing"], known["dataset"]) == ("selective", "stories10B")
    assert "max_steps" not in known


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        ("H100:8", (1, 8, 8, "H100")),
        ("80GB:2", (1, 2, 2, None)),
        ("48GB", (1, 1, 1, None)),
        ("24GB..", (1, 1, 1, None)),
        ("1..8", (1, None, None, None)),
        ("A100:40GB:4", (1, 4, 4, "A100")),
        ("{name: H100, count: 2, memory: 80GB}", (1, 2, 2, "H100")),
        ("{name: [A100, H100], count: 1}", (1, 1, 1, None)),
    ],
)
def test_a_gpu_of_dstack_is_a_name_a_memory_a_count_or_a_range(gpu, expected):
    text = f"type: task\ncommands: [python train.py]\nresources:\n  gpu: {gpu}\n"
    assert counts(reading_of(dstack.READER, ".dstack.yml", text)) == expected


@pytest.mark.parametrize(
    ("limit", "hours"), [("2h", 2.0), ("1d", 24.0), ("5400", 1.5), ("off", None), ("90m", 1.5)]
)
def test_the_duration_of_dstack_has_a_unit(limit, hours):
    text = f"type: task\nmax_duration: {limit}\nresources: {{gpu: A100}}\n"
    assert values(reading_of(dstack.READER, "a.yml", text).facts).get("time_limit_hours") == hours


def test_a_range_of_gpus_leaves_the_command_of_a_job_open_too():
    text = (
        "type: task\nnodes: 2\ncommands:\n  - |\n    torchrun "
        "--nproc-per-node=$DSTACK_GPUS_PER_NODE --nnodes=$DSTACK_NODES_NUM "
        "multinode.py 50 10\nresources:\n  gpu: 1..8\n"
    )
    found = reading_of(dstack.READER, ".dstack.yml", text)
    assert counts(found) == (2, None, None, None)
    assert problem_texts(found)[0] == (
        ".dstack.yml:7: the number of GPUs is `1..8`, a range. Give `n_gpus`."
    )


def test_mcli_gpus_count_the_run_and_parameters_are_settings():
    text = (
        "name: m\nimage: i\ncompute: {gpus: 16, gpu_type: h100_80gb}\n"
        "command: composer train.py parameters.yaml\n"
        "parameters: {max_duration: 1ep, global_train_batch_size: 64, max_seq_len: 512}\n"
    )
    found = values(reading_of(mcli.READER, "run.yaml", text).facts)
    assert (found["n_gpus"], found["n_nodes"], found["gpus_per_node"]) == (16, 2, 8)
    assert (found["epochs"], found["global_batch_size"], found["seq_len"]) == (1, 64, 512)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ('gpu: {value: "2"}', (1, 2, 2, None)),
        ("gpuDevicesRequest: {value: 4}\n  workers: {value: 1}", (2, 4, 8, None)),
        ('gpu: {value: "0.5"}', (1, 1, 1, None)),
        ("gpu: 1\n  nodePools: {value: [h100]}", (1, 1, 1, "h100")),
        ("image: {value: i}", (1, None, None, None)),
    ],
)
def test_runai_wraps_its_fields_and_a_distributed_job_has_a_master(fields, expected):
    text = f"apiVersion: run.ai/v2alpha1\nkind: DistributedWorkload\nspec:\n  {fields}\n"
    assert counts(reading_of(runai_workload.READER, "w.yaml", text)) == expected


def test_a_share_of_a_gpu_is_told():
    text = "kind: TrainingWorkload\nspec:\n  gpu: {value: '0.5'}\n"
    assert problem_texts(reading_of(runai_workload.READER, "w.yaml", text))[0] == (
        "w.yaml:3: the job shares a GPU (`0.5`): it is counted as one whole GPU; its GPU-hours are "
        "that fraction."
    )


JOB = {
    "jobDefinitionName": "train",
    "type": "container",
    "timeout": {"attemptDurationSeconds": 3600},
    "containerProperties": {
        "command": ["python", "train.py", "--epochs", "3"],
        "environment": [{"name": "API_KEY", "value": "abc"}],
        "resourceRequirements": [{"type": "GPU", "value": "4"}],
    },
}


def test_an_aws_job_definition_is_read_in_the_spelling_of_the_api():
    found = reading_of(aws_batch.READER, "def.json", json.dumps(JOB))
    assert values(found.facts) == {
        "n_nodes": 1,
        "gpus_per_node": 4,
        "n_gpus": 4,
        "time_limit_hours": 1.0,
        "epochs": 3,
    }
    assert found.job_name == "train"


def test_of_several_aws_jobs_none_is_chosen():
    definition = (
        "  {name}:\n    Type: AWS::Batch::JobDefinition\n    Properties:\n"
        "      ContainerProperties: {{Image: !Sub 'x', ResourceRequirements: "
        "[{{Type: GPU, Value: 8}}]}}\n"
    )
    text = "Resources:\n" + definition.format(name="A") + definition.format(name="B")
    found = reading_of(aws_batch.READER, "t.yaml", text)
    assert found.facts == ()
    assert problem_texts(found)[0] == (
        "t.yaml:4: 2 jobs are defined: `A`, `B`. Give the facts of one."
    )


SAGEMAKER = """\
import sagemaker
COUNT = 2
est = PyTorch(
    entry_point="train.py",
    role="arn:aws:iam::123456789012:role/r",
    instance_type="ml.{kind}",
    instance_count=COUNT,
    {more}hyperparameters={{"epochs": 3, "hub_token": "abc", "lr": 1e-4}},
)
est.fit()
"""


def test_a_sagemaker_instance_holds_the_gpus_of_the_table():
    text = SAGEMAKER.format(kind="p4d.24xlarge", more="distribution={}, max_run=7200, ")
    found = reading_of(sagemaker.READER, "launch.py", text)
    assert values(found.facts) == {
        "n_nodes": 2,
        "gpus_per_node": 8,
        "n_gpus": 16,
        "gpu": "A100-SXM-40GB",
        "time_limit_hours": 2.0,
        "epochs": 3,
        "learning_rate": 1e-4,
    }
    assert found.problems == ()
    assert "123456789012" not in repr(found)
    assert "abc" not in repr(found)


def test_sagemaker_without_distribution_runs_one_process_and_without_limit_a_day():
    found = reading_of(sagemaker.READER, "l.py", SAGEMAKER.format(kind="g5.12xlarge", more=""))
    assert of_basis(found.facts, Basis.FRAMEWORK_DEFAULT) == {"time_limit_hours": 24.0}
    assert problem_texts(found) == [
        (
            "l.py:3: without `distribution` one process runs on an instance of 4 devices: the "
            "others are paid for and idle unless the script starts processes itself."
        )
    ]


def test_an_unknown_instance_is_asked_about():
    found = reading_of(sagemaker.READER, "l.py", SAGEMAKER.format(kind="z9.huge", more=""))
    assert problem_texts(found) == [
        "l.py:3: `ml.z9.huge` is no instance the guide knows. Give `gpu` and `n_gpus`."
    ]
