import pytest
from compute_budget_planner.readers.contract import Layer
from compute_budget_planner.readers.pbs import READER, walltime_hours
from file_facts import problem_texts, reading_of, values


def read(*options, body="python train.py --max_steps 10\n"):
    head = "".join(f"#PBS {option}\n" for option in options)
    return reading_of(READER, "a.pbs", f"#!/bin/bash\n{head}{body}")


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("select=20:ncpus=32:ngpus=4", (20, 4, 80)),
        ("select=1:ncpus=10:mem=80gb:ngpus=1", (1, 1, 1)),
        ("nodes=2:ppn=8:gpus=2", (2, 2, 4)),
        ("nodes=1:ppn=8:gpus=4:shared", (1, 4, 4)),
        ("select=2:ngpus=4+1:ncpus=8", (3, None, 8)),
        ("ngpus=2", (1, 2, 2)),
    ],
)
def test_chunks_times_gpus_of_each_make_the_job(resource, expected):
    found = values(read(f"-l {resource}", "-l walltime=1:00:00").facts)
    assert tuple(found.get(n) for n in ("n_nodes", "gpus_per_node", "n_gpus")) == expected


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("24:00:00", 24.0),
        ("03:30:00", 3.5),
        ("30:00", 0.5),
        ("7200", 2.0),
        ("x", None),
        ("0", None),
    ],
)
def test_walltime_is_a_clock_or_seconds(text, hours):
    assert walltime_hours(text) == hours


def test_several_resources_stand_on_one_line_or_behind_one_option():
    found = values(read("-l select=2:ngpus=4 -l walltime=10:00:00 -l place=scatter -q prod").facts)
    assert (found["n_gpus"], found["time_limit_hours"]) == (8, 10.0)
    found = values(read("-l nodes=1:gpus=2,walltime=5:00:00").facts)
    assert (found["n_gpus"], found["time_limit_hours"]) == (2, 5.0)


@pytest.mark.parametrize(
    ("options", "gpu"),
    [
        (["-l select=1:ngpus=2:gpu_model=a100"], "a100"),
        (["-l nodes=1:ppn=4:gpus=1:v100"], "v100"),
        (["-l select=1:ngpus=1", "-q gpu_h100"], "h100"),
        (["-l select=1:ngpus=1", "-q volta_gpu"], None),
    ],
)
def test_the_type_stands_in_the_chunk_or_the_queue(options, gpu):
    assert values(read(*options).facts).get("gpu") == gpu


def test_the_command_inside_a_heredoc_of_a_container_is_read_at_its_line():
    body = (
        "singularity exec --nv torch.sif bash << EOF > out 2> err\n\nexport A=1\n"
        "python main_pretrain.py --epochs 400\nEOF\n"
    )
    found = read("-l select=1:ngpus=1", "-l walltime=1:00:00", body=body)
    assert values(found.facts)["epochs"] == 400
    assert [command.source for command in found.commands] == ["a.pbs:7"]


def test_a_heredoc_that_only_writes_a_file_starts_nothing():
    body = "cat > run.sh << EOF\npython train.py --epochs 3\nEOF\npython train.py --epochs 4\n"
    assert values(read("-l select=1:ngpus=1", body=body).facts)["epochs"] == 4


def test_a_command_built_by_appending_and_run_over_ssh_is_read():
    body = (
        'CMD="python -m torch.distributed.run --nproc_per_node=4 "\n'
        'CMD+="-m lab.main train --model_name /x/models--org--tiny-8B "\nCMD+="--batch_size 2 "\n'
        "for NODE in $(sort -u $PBS_NODEFILE); do\n  eval cd x \\&\\& $CMD &\ndone\n"
    )
    found = read("-l select=20:ngpus=4", body=body)
    assert {fact.value for fact in found.facts if fact.name == "model"} == {"org/tiny-8B"}


def test_a_batch_smaller_than_the_ranks_is_that_of_a_device():
    body = "mpirun -np 8 python train.py --batch_size 2\n"
    found = read("-l select=2:ngpus=4", "-l walltime=1:00:00", body=body)
    assert [f.layer for f in found.facts if f.name == "micro_batch_size"] == [Layer.COMMAND_LINE]
    assert found.problems == ()


def test_tasks_of_an_array_are_runs():
    assert read("-l select=1:ngpus=1", "-J 1-10").n_runs == 10
    assert read("-l nodes=1:gpus=1", "-t 0-6%2").n_runs == 7


def test_an_option_behind_the_first_command_is_told_and_not_obeyed():
    found = read("-l select=1:ngpus=1", body="cd x\n#PBS -l walltime=1:00:00\npython train.py\n")
    assert problem_texts(found) == [
        "a.pbs:4: `#PBS` behind the first command is ignored. Move it up.",
        "a.pbs: no `walltime`: the queue's own limit applies. Give `time_limit_hours`.",
    ]


def test_broken_values_are_told_with_what_is_accepted():
    found = read("-l select=x", "-l walltime=soon", "-J a")
    assert problem_texts(found) == [
        "a.pbs:2: `x` is no number of chunks. Give `n_nodes` and `n_gpus`.",
        "a.pbs:3: `walltime=soon` takes HH:MM:SS or seconds.",
        "a.pbs: no option of this job asks for GPUs. Give `n_gpus`.",
        "a.pbs: no `walltime`: the queue's own limit applies. Give `time_limit_hours`.",
        "a.pbs:4: `-J a` is no array such as `1-10`.",
    ]
