import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import Layer, SourceFile
from compute_budget_planner.readers.runai import READER
from hypothesis import given
from hypothesis import strategies as st

STANDARD = """\
#!/bin/bash
# Env: runai (Lab cluster)
JOB_NAME="baseline-cifar10"
IMAGE="registry.example.org/lab/torch:2.4"
PROJECT="vision"
GPUS=2
CPU=8
MEMORY=32Gi
runai submit "$JOB_NAME" \\
  --image "$IMAGE" --project "$PROJECT" \\
  --gpu "$GPUS" --cpu "$CPU" --memory "$MEMORY" \\
  -e GIT_COMMIT=abc -e EXPERIMENT_NAME="$JOB_NAME" \\
  -- python experiments/train.py --config experiments/configs/base.yaml --epochs 30
"""


def read(text):
    file = SourceFile("jobs/a-runai.sh", text)
    assert READER.matches(file)
    return READER.read(file, load_reference())


def of_layer(reading, layer):
    return {f.name: f.value for f in reading.facts if f.layer is layer}


def test_the_companion_skills_script_is_read_whole():
    found = read(STANDARD)
    assert of_layer(found, Layer.CONFIG) == {"n_gpus": 2, "n_nodes": 1, "gpus_per_node": 2}
    assert of_layer(found, Layer.COMMAND_LINE) == {"epochs": 30.0}
    assert (found.job_name, found.environment, found.n_runs) == ("baseline-cifar10", "runai", 1)
    assert [(r.path, r.role) for r in found.references] == [
        ("experiments/train.py", "script"),
        ("experiments/configs/base.yaml", "config"),
    ]
    assert found.problems == ()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("runai submit a -i img -g 1 -- python train.py", (1, 1, 1)),
        ("runai submit a -i img -g 4 --command -- python train.py", (4, 1, 4)),
        ("runai training submit --name a -g 2 -- bash -c 'cd /x && python train.py'", (2, 1, 2)),
        ("runai training pytorch submit a --workers 3 -g 8 -- python train.py", (32, 4, 8)),
        ("runai submit-dist pytorch --name a --workers=1 -g 8 -- ./entry.sh", (16, 2, 8)),
        ("runai submit a --gpu-devices-request 2 -- python train.py", (2, 1, 2)),
    ],
)
def test_pods_and_their_gpus_multiply(command, expected):
    names = ("n_gpus", "n_nodes", "gpus_per_node")
    assert of_layer(read(command + "\n"), Layer.CONFIG) == dict(zip(names, expected, strict=True))


def test_the_type_is_taken_from_the_node_pool():
    found = read("runai submit a --node-pools h100 -g 1 -- python train.py\n")
    assert of_layer(found, Layer.CONFIG)["gpu"] == "h100"


@pytest.mark.parametrize("option", ["-g 0.5", "--gpu-portion-request 0.25", "--gpu-memory 20G"])
def test_a_share_of_a_gpu_is_told(option):
    found = read(f"runai submit a {option} -- python train.py\n")
    assert of_layer(found, Layer.CONFIG) == {"n_gpus": 1}
    assert [p.source for p in found.problems] == ["jobs/a-runai.sh:1"]
    assert "shares a GPU" in found.problems[0].text


def test_an_open_gpu_count_is_asked_for():
    found = read("runai submit a -g $1 -- python train.py\n")
    assert of_layer(found, Layer.CONFIG) == {}
    assert [p.text for p in found.problems] == [
        "`-g` is `$1`: the number of GPUs is open. Give `n_gpus`."
    ]


def test_a_loop_of_submissions_is_several_runs():
    found = read('for i in {1..8}; do\n  runai submit "n-$i" -g 1 -- python train.py\ndone\n')
    assert (found.n_runs, found.job_name) == (8, "")


def test_an_evaluation_job_has_no_training_facts():
    found = read("runai submit a -g 1 -- python main_test.py --batch_size 1024\n")
    assert of_layer(found, Layer.COMMAND_LINE) == {}
    assert [c.trains for c in found.commands] == [False]


def test_a_comment_about_runai_is_no_submission():
    assert not READER.matches(SourceFile("a.sh", "# runai submit a -g 1\npython train.py\n"))


@given(st.integers(0, len(STANDARD)), st.text(max_size=12))
def test_no_mutated_script_breaks_the_reader(position, inserted):
    text = STANDARD[:position] + inserted + STANDARD[position:]
    reading = READER.read(SourceFile("jobs/a.sh", text), load_reference())
    assert reading.kind == "job"
