import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import FileReference, Layer, SourceFile
from compute_budget_planner.readers.slurm import READER
from hypothesis import given
from hypothesis import strategies as st

STANDARD = """\
#!/bin/bash
# Project: toy
# Env: ibex (KAUST Ibex)
# Created: 2026-11-30
#SBATCH --job-name=ablation-no-attn
#SBATCH --partition=gpu
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --gres=gpu:a100:4      # four cards
#SBATCH --mem=64G
#SBATCH --time=24:00:00
#SBATCH --output=outputs/logs/ablation-no-attn/slurm-%j.out
# #SBATCH --array=0-9%4
##SBATCH --time=1:00:00

set -euo pipefail
OUTPUT_DIR="outputs/ablation-no-attn"
echo "Running: torchrun --nproc_per_node=4 experiments/train.py"
echo "----------------"
torchrun --nproc_per_node=4 experiments/train.py --config experiments/configs/a.yaml --lr 3e-4
EXIT_CODE=$?
"""


def read(text, path="jobs/a.sh"):
    file = SourceFile(path, text)
    assert READER.matches(file)
    return READER.read(file, load_reference())


def script(*directives, body="python train.py\n"):
    return "#!/bin/bash\n" + "".join(f"#SBATCH {d}\n" for d in directives) + body


def of_layer(reading, layer):
    return {f.name: f.value for f in reading.facts if f.layer is layer}


def hardware(reading):
    found = {f.name: f.value for f in sorted(reading.facts, key=lambda f: -f.layer)}
    names = ("n_gpus", "n_nodes", "gpus_per_node", "gpu", "time_limit_hours")
    return {name: found[name] for name in names if name in found}


def texts(reading):
    return [f"{p.source}: {p.text}" for p in reading.problems]


def test_the_companion_skills_script_is_read_whole():
    found = read(STANDARD)
    assert of_layer(found, Layer.CONFIG) == {
        "n_gpus": 4,
        "n_nodes": 1,
        "gpus_per_node": 4,
        "gpu": "a100",
        "time_limit_hours": 24.0,
    }
    assert of_layer(found, Layer.COMMAND_LINE) == {
        "learning_rate": 3e-4,
        "n_gpus": 4,
        "n_nodes": 1,
        "gpus_per_node": 4,
    }
    assert found.problems == ()
    assert (found.job_name, found.environment) == ("ablation-no-attn", "ibex")
    assert (found.output_dir, found.n_runs) == ("outputs/ablation-no-attn", 1)
    assert [c.trains for c in found.commands] == [True]
    assert found.references == (
        FileReference("experiments/train.py", "script", "jobs/a.sh:21"),
        FileReference("experiments/configs/a.yaml", "config", "jobs/a.sh:21"),
        FileReference("outputs/logs/ablation-no-attn", "log_dir", "jobs/a.sh:13"),
    )


def test_facts_name_their_line():
    sources = {(f.name, f.layer): f.source for f in read(STANDARD).facts}
    assert sources["gpu", Layer.CONFIG] == "jobs/a.sh:10"
    assert sources["time_limit_hours", Layer.CONFIG] == "jobs/a.sh:12"
    assert sources["learning_rate", Layer.COMMAND_LINE] == "jobs/a.sh:21"


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        (["-G h200:1", "-t 2:00:00"], (1, 1, 1, "h200", 2.0)),
        (["-N2", "--gres=gpu:8", "-t 1-12"], (16, 2, 8, None, 36.0)),
        (["--nodes 4 --gpus-per-node=h100:4 --time=90"], (16, 4, 4, "h100", 1.5)),
        (["-N 2", "--gpus=8", "-t 30:00"], (8, 2, 4, None, 0.5)),
        (["-N 2 --ntasks-per-node=4", "--gpus-per-task=1", "-t 1:0:0"], (8, 2, 4, None, 1.0)),
        (["--gres=gpu", "--time=3-00:00:00"], (1, 1, 1, None, 72.0)),
        (["--gres=nvme:1,gpu:v100:2(S:0-1)", "-t 10"], (2, 1, 2, "v100", 1 / 6)),
        (["-C h100 --gres=gpu:2 -t 60"], (2, 1, 2, "h100", 1.0)),
        (["-p RTX4090", "--gres=gpu:8", "-t 60"], (8, 1, 8, "RTX4090", 1.0)),
        (["-p gpu_h100", "-n 8 -c 4", "--gres=gpu:1", "-t 60"], (1, 1, 1, "h100", 1.0)),
    ],
)
def test_people_ask_for_gpus_in_many_ways(directives, expected):
    names = ("n_gpus", "n_nodes", "gpus_per_node", "gpu", "time_limit_hours")
    wanted = {n: v for n, v in zip(names, expected, strict=True) if v is not None}
    assert hardware(read(script(*directives))) == pytest.approx(wanted)


def test_no_time_is_unknown_and_asked_about():
    found = read(script("--gres=gpu:1"))
    assert "time_limit_hours" not in hardware(found)
    assert texts(found) == [
        "jobs/a.sh: no `--time`: the partition's own limit applies. Give `time_limit_hours`."
    ]


def test_unlimited_time_gives_no_limit():
    found = read(script("--gres=gpu:1", "--time=UNLIMITED"))
    assert "time_limit_hours" not in hardware(found)
    assert texts(found) == []


def test_unfilled_placeholders_are_problems():
    found = read(script("--gres=gpu:{GPUS}", "--time={WALLTIME}", "--job-name={JOB_NAME}"))
    assert hardware(found) == {}
    assert found.job_name == ""
    assert texts(found) == [
        "jobs/a.sh:2: `--gres` is `gpu:{GPUS}`. It takes `gpu[:type][:count]`.",
        (
            "jobs/a.sh:3: `--time`: '{WALLTIME}' is no Slurm time. Write MM, MM:SS, HH:MM:SS, "
            "D-HH, D-HH:MM, D-HH:MM:SS or UNLIMITED."
        ),
        "jobs/a.sh: no option of this job asks for GPUs. Give `n_gpus`.",
    ]


def test_directives_behind_the_first_command_are_ignored_and_told():
    found = read(script("--gres=gpu:1 -t 60", body="cd x\n#SBATCH --gres=gpu:8\npython train.py\n"))
    assert hardware(found)["n_gpus"] == 1
    assert texts(found) == [
        "jobs/a.sh:4: `#SBATCH` behind the first command is ignored. Move it up."
    ]


def test_contradicting_options_are_both_told():
    found = read(script("--gres=gpu:2", "--gpus-per-node=1", "-N 2", "-t 60"))
    assert texts(found) == [
        (
            "jobs/a.sh:2: these options contradict each other: `--gres=gpu:2` (line 2), "
            "`--gpus-per-node=1` (line 3). Give `n_gpus`."
        )
    ]


def test_a_world_size_decides_a_contradiction():
    text = script(
        "--gres=gpu:2", "--gpus-per-node=1", "-N 2", body="WORLD_SIZE=2 srun python train.py\n"
    )
    assert of_layer(read(text), Layer.ENVIRONMENT) == {"n_gpus": 2}


def test_a_world_size_of_tasks_does_not_hide_the_gpus():
    body = "export WORLD_SIZE=2\nsrun torchrun --nnodes 2 --nproc_per_node 4 train.py\n"
    found = read(script("-N 2", "--gres=gpu:4", "-t 60", body=body))
    assert hardware(found)["n_gpus"] == 8
    assert of_layer(found, Layer.ENVIRONMENT) == {}


def test_using_fewer_gpus_than_allocated_is_told():
    found = read(script("--gres=gpu:4", "-t 60", body="torchrun --nproc_per_node 2 train.py\n"))
    assert hardware(found)["n_gpus"] == 2
    assert texts(found) == [
        (
            "jobs/a.sh:4: the command uses 2 GPUs, 4 are allocated (jobs/a.sh:2): speed follows "
            "the former, cost the latter."
        )
    ]


@pytest.mark.parametrize(
    ("array", "runs"),
    [("0-9%4", 10), ("1-50%10", 50), ("1-9:2", 5), ("1,3,5", 3), ("7", 1), ("0-3,8-9", 6)],
)
def test_array_tasks_are_counted_without_their_limit_at_once(array, runs):
    assert read(script(f"--array={array}")).n_runs == runs


def test_only_the_training_command_gives_facts():
    body = (
        "python generate_data.py --batch_size 512\n"
        "python scripts/train_student.py --micro_batch_size 8\n"
        "python eval.py --seq_len 4\n"
    )
    found = read(script("--gres=gpu:1", body=body))
    assert of_layer(found, Layer.COMMAND_LINE) == {"micro_batch_size": 8}
    assert [c.trains for c in found.commands] == [False, True, False]


def test_slurms_own_variables_are_known_in_the_body():
    body = "srun torchrun --nnodes $SLURM_NNODES --nproc_per_node $SLURM_GPUS_ON_NODE train.py\n"
    found = read(script("-N 3", "--gres=gpu:4", "-t 60", body=body))
    assert of_layer(found, Layer.COMMAND_LINE) == {"n_gpus": 12, "n_nodes": 3, "gpus_per_node": 4}


def test_nodes_given_at_submission_stay_open():
    body = "srun torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 train.py\n"
    found = read(script("--gres=gpu:8", "-t 60", body=body))
    assert hardware(found) == {"gpus_per_node": 8, "time_limit_hours": 1.0}
    assert texts(found) == [
        (
            "jobs/a.sh: the script counts its nodes but asks for none: `sbatch --nodes=N`? "
            "Give `n_nodes`."
        )
    ]


def test_gpus_asked_for_by_srun_alone_are_read():
    found = read(script("-t 60", body="srun --gres=gpu:a100:2 -n 2 python train.py\n"))
    assert hardware(found) == {
        "n_gpus": 2,
        "n_nodes": 1,
        "gpus_per_node": 2,
        "gpu": "a100",
        "time_limit_hours": 1.0,
    }


def test_a_loop_inside_one_job_is_told():
    body = "for s in 1 2 3; do\n  python train.py --seed $s\ndone\n"
    found = read(script("--gres=gpu:1 -t 60", body=body))
    assert texts(found) == [
        "jobs/a.sh:4: the training command stands in a loop of 3 runs; one run is described."
    ]


def test_a_job_that_only_evaluates_says_so():
    found = read(script("--gres=gpu:1 -t 60", body="python evaluate.py --batch_size 4\n"))
    assert of_layer(found, Layer.COMMAND_LINE) == {}
    assert texts(found) == ["jobs/a.sh:3: no command of this job looks like training."]


def test_a_choice_of_types_is_asked_about():
    found = read(script('--constraint="a100|h100"', "--gres=gpu:1", "-t 60"))
    assert "gpu" not in hardware(found)
    assert texts(found) == ["jobs/a.sh:2: `--constraint` allows a100 or h100. Give `gpu`."]


@given(st.data())
def test_no_mutated_script_raises_anything_but_a_format_error(data):
    lines = STANDARD.splitlines(keepends=True)
    index = data.draw(st.integers(0, len(lines) - 1))
    cut = data.draw(st.integers(0, len(lines[index])))
    lines[index] = lines[index][:cut] + data.draw(st.text(max_size=12)) + lines[index][cut:]
    file = SourceFile("jobs/a.sh", "".join(data.draw(st.permutations(lines))))
    try:
        READER.read(file, load_reference())
    except FormatError as error:
        assert error.where
