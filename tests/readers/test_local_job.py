import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import FileReference, Layer, SourceFile
from compute_budget_planner.readers.local_job import READER
from hypothesis import given
from hypothesis import strategies as st

STANDARD = """\
#!/usr/bin/env bash
# Env: local (Workstation)
set -euo pipefail
JOB_NAME="baseline-cifar10"
LOG_DIR="outputs/logs/baseline-cifar10"
OUTPUT_DIR="outputs/baseline-cifar10"
LOG_FILE="$LOG_DIR/${JOB_NAME}-$(date +%Y%m%d-%H%M%S).log"
export CUDA_VISIBLE_DEVICES=0,1
mkdir -p "$LOG_DIR"
nohup python experiments/train.py --config experiments/configs/base.yaml --bf16 > "$LOG_FILE" 2>&1 &
"""


def read(text, path="jobs/a-local.sh"):
    file = SourceFile(path, text)
    assert READER.matches(file)
    return READER.read(file, load_reference())


def values(reading):
    return {(f.name, f.layer): f.value for f in reading.facts}


def test_the_companion_skills_script_is_read_whole():
    found = read(STANDARD)
    assert values(found) == {
        ("n_gpus", Layer.ENVIRONMENT): 2,
        ("precision", Layer.COMMAND_LINE): "bf16",
    }
    assert (found.job_name, found.environment) == ("baseline-cifar10", "local")
    assert found.output_dir == "outputs/baseline-cifar10"
    assert found.references == (
        FileReference("experiments/train.py", "script", "jobs/a-local.sh:10"),
        FileReference("experiments/configs/base.yaml", "config", "jobs/a-local.sh:10"),
        FileReference("outputs/logs/baseline-cifar10", "log_dir", "jobs/a-local.sh:5"),
    )
    assert found.problems == ()


def test_a_commented_line_is_not_continued_into_the_command():
    text = (
        "#python old.py \\\ndeepspeed scripts/run_clm.py \\\n  --deepspeed ds.json \\\n"
        "  --model_type gpt2 --max_steps 100 --do_train --do_eval\n"
    )
    found = read(text)
    assert {f.name: f.value for f in found.facts} == {
        "model_family": "gpt2",
        "max_steps": 100,
        "objective": "lm",
    }
    assert [p.text for p in found.problems] == [
        "`deepspeed` is not told how many GPUs to use. Give `n_gpus`."
    ]


def test_positional_launchers_ask_for_the_call_instead_of_inventing():
    text = "#!/bin/bash\nBATCH=$1\nLR=${2}\npython train.py --micro_batch_size $BATCH --lr $LR\n"
    found = read(text)
    assert [f.name for f in found.facts] == []
    assert [p.text for p in found.problems][:2] == [
        "`micro_batch_size` is `$1`, which this file does not settle; give `micro_batch_size`.",
        "`lr` is `${2}`, which this file does not settle; give `learning_rate`.",
    ]


def test_other_scripts_are_followed_by_reference():
    found = read("#!/bin/sh\nbash scripts/inner.sh 4\nsource /opt/conda/etc/profile.d/conda.sh\n")
    assert [(r.path, r.role) for r in found.references] == [("scripts/inner.sh", "script")]
    assert found.problems == ()


@pytest.mark.parametrize(
    ("path", "text", "is_job"),
    [
        ("run", "#!/bin/bash\necho hi\n", True),
        ("run.sh", "torchrun train.py\n", True),
        ("run.sh", "python -m pkg.train\n", True),
        ("notes.md", "run `python train.py`\n", False),
        ("train.py", "import torch\n", False),
        ("a.yaml", "command: python train.py\n", False),
        ("run.sh", "# python train.py\n", False),
    ],
)
def test_shell_scripts_are_told_by_content(path, text, is_job):
    assert READER.matches(SourceFile(path, text)) is is_job


@given(st.integers(0, len(STANDARD)), st.text(max_size=12))
def test_no_mutated_script_breaks_the_reader(position, inserted):
    text = STANDARD[:position] + inserted + STANDARD[position:]
    reading = READER.read(SourceFile("jobs/a.sh", text), load_reference())
    assert reading.kind == "job"
