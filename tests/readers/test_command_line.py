import shlex

import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.command_line import read_command, script_options
from compute_budget_planner.readers.contract import Command, Layer
from hypothesis import given
from hypothesis import strategies as st


def reading(text):
    return read_command(shlex.split(text), "job.sh:9", load_reference())


def counts(text):
    names = ("n_gpus", "n_nodes", "gpus_per_node")
    return {f.name: f.value for f in reading(text).facts if f.name in names}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("torchrun --nnodes=2 --nproc_per_node 8 t.py", (16, 2, 8)),
        ("torchrun --standalone --nproc-per-node=4 t.py", (4, 1, 4)),
        ("python -u -m torch.distributed.launch --nproc_per_node=8 --use_env t.py", (8, 1, 8)),
        ("accelerate launch --num_processes 4 --num_machines 2 -m pkg.train", (4, 2, 2)),
        ("deepspeed --num_nodes 2 --num_gpus=4 t.py", (8, 2, 4)),
        ("composer -n 8 t.py a.yaml", (8, 1, 8)),
        ("mpirun -np 16 --host a:8,b:8 -x PATH ./train_gpt2cu -b 64", (16, 2, 8)),
        ("srun --kill-on-bad-exit=1 -u torchrun --nnodes 2 --nproc_per_node 4 t.py", (8, 2, 4)),
    ],
)
def test_every_launcher_counts_its_processes(command, expected):
    names = ("n_gpus", "n_nodes", "gpus_per_node")
    assert counts(command) == dict(zip(names, expected, strict=True))


def test_included_devices_of_deepspeed_are_counted():
    assert counts("deepspeed --include localhost:0,3 t.py") == {"n_gpus": 2, "n_nodes": 1}


@pytest.mark.parametrize(
    "command",
    [
        "deepspeed t.py",
        "torchrun --nproc_per_node gpu t.py",
        "torchrun --nnodes 1:4 --nproc_per_node $G t.py",
        "accelerate launch --gpu_ids=5 t.py",
        "python t.py --gpu_id 3",
    ],
)
def test_launchers_that_take_what_they_find_give_no_count(command):
    assert counts(command) == {}


def test_elastic_nodes_leave_only_the_processes_per_node():
    assert counts("torchrun --nnodes 1:4 --nproc_per_node 8 t.py") == {"gpus_per_node": 8}


def test_script_options_become_facts_of_the_command_line():
    found = reading(
        "python train.py --lr=1e-4 --max_seq_length 512 +trainer.max_steps=9 --no-compile"
    )
    assert {(f.name, f.value, f.source, f.layer) for f in found.facts} == {
        ("learning_rate", 1e-4, "job.sh:9", Layer.COMMAND_LINE),
        ("seq_len", 512, "job.sh:9", Layer.COMMAND_LINE),
        ("max_steps", 9, "job.sh:9", Layer.COMMAND_LINE),
        ("compile", False, "job.sh:9", Layer.COMMAND_LINE),
    }


def test_options_are_split_from_loose_words():
    options, loose = script_options(
        ["a.yaml", "--flag", "--x", "-1", "-b", "64", "k=v", "~d=1", "--m=a=b"], "s:1"
    )
    assert options == [
        ("--flag", True, "s:1"),
        ("--x", "-1", "s:1"),
        ("-b", "64", "s:1"),
        ("k", "v", "s:1"),
        ("--m", "a=b", "s:1"),
    ]
    assert loose == ["a.yaml"]


def test_named_files_are_references_by_their_role():
    found = reading(
        "accelerate launch --config_file acc.yaml src/train.py conf/base.yaml --config run.yaml "
        "--deepspeed ds/zero3.json --train_file data/a.jsonl --vocab_file v.json"
    )
    assert [(r.path, r.role) for r in found.references] == [
        ("src/train.py", "script"),
        ("acc.yaml", "accelerate"),
        ("run.yaml", "config"),
        ("ds/zero3.json", "deepspeed"),
        ("data/a.jsonl", "data"),
        ("conf/base.yaml", "config"),
    ]


def test_hydra_config_names_are_files_in_their_folder():
    found = reading("python src/train.py --config-path ../conf --config-name=exp1")
    assert [r.path for r in found.references] == ["src/train.py", "src/../conf/exp1.yaml"]


def test_a_variable_in_front_of_a_path_is_some_folder_above():
    found = reading("torchrun '$ROOT/tasks/train.py' '$(cd \"$D\" && pwd)/conf/a.yaml'")
    assert [r.path for r in found.references] == ["tasks/train.py", "conf/a.yaml"]
    assert found.problems == ()


def test_arguments_of_the_call_are_named_as_missing():
    found = reading("python train.py $@ $EXTRA")
    assert [p.text for p in found.problems] == [
        "`$@`: arguments given at the call are not in this file; give them as facts.",
        "`$EXTRA` may hold options that this file does not show.",
    ]


@pytest.mark.parametrize(
    ("command", "trains", "doubtful"),
    [
        ("python scripts/train_student.py", True, False),
        ("python run_clm.py", True, False),
        ("python -m pkg.finetune", True, False),
        ("llamafactory-cli train a.yaml", True, False),
        ("wandb agent --count 1 me/p/abc", True, False),
        ("trl vllm-serve --model x", False, False),
        ("python generate_data.py", False, False),
        ("python eval/evaluate.py", False, False),
        ("python main_pose_test.py --epochs 100", False, False),
        ("python train.py --eval_only", False, False),
        ("python main.py", False, True),
        ("bash run_train.sh", False, False),
    ],
)
def test_training_is_told_from_other_programs(command, trains, doubtful):
    found = reading(command)
    assert (found.command.trains, found.doubtful) == (trains, doubtful)


@pytest.mark.parametrize("command", ["module load cuda", "cd x", "echo python", "python -c 'x'"])
def test_commands_that_start_no_program_are_none(command):
    assert reading(command) is None


def test_wrappers_are_peeled_off():
    found = reading("singularity exec --nv -B /a:/b img.sif uv run python -u code/exp.py --lr 1")
    assert found.command == Command(
        words=found.command.words,
        launcher="python",
        script="code/exp.py",
        trains=False,
        source="job.sh:9",
    )


@pytest.mark.parametrize(
    ("command", "framework"),
    [
        ("python t.py --per_device_train_batch_size 1", "transformers"),
        ("python pretrain_gpt.py --micro-batch-size 1 --num-layers 2", "megatron-lm"),
        ("python -m verl.trainer.main_ppo", "verl"),
        ("tune run --nproc_per_node 2 full", "torchtune"),
    ],
)
def test_the_framework_shows_in_options_and_program(command, framework):
    assert {f.name: f.value for f in reading(command).facts}["framework"] == framework


def test_a_multirun_is_the_product_of_its_lists():
    found = reading("python train.py -m lr=0.1,0.2,0.3 n_layers=2,4 epochs=5")
    assert found.n_runs == 6
    assert {f.name: f.value for f in found.facts} == {"epochs": 5.0}


_WORDS = st.sampled_from(
    ["srun", "torchrun", "python", "-m", "accelerate", "launch", "deepspeed", "mpirun", "composer",
     "--nnodes", "--nproc_per_node=2", "--num_processes", "-np", "t.py", "a.yaml", "--lr", "k=v",
     "--", "-n4", "torch.distributed.run", "bash", "uv", "A=1", "$@", "x.sh", "--include", "a:0@b"]
) | st.text(max_size=8)  # fmt: skip


@given(st.lists(_WORDS, max_size=12))
def test_no_words_break_the_reading(words):
    found = read_command(words, "j:1", load_reference())
    assert found is None or found.n_runs >= 1
