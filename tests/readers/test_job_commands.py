from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.local_job import READER as LOCAL
from compute_budget_planner.readers.registry import read_file
from compute_budget_planner.readers.slurm import READER as SLURM
from file_facts import problem_texts, reading_of, values


def local(text):
    return reading_of(LOCAL, "run.sh", "#!/bin/bash\n" + text)


def test_training_in_both_branches_gives_only_what_they_agree_on():
    text = (
        'if [ "$1" = a ]; then\n  torchrun --nproc_per_node 4 train.py --lr 1e-3 --epochs 5\n'
        "else\n  torchrun --nproc_per_node 4 train.py --lr 1e-4 --epochs 5\nfi\n"
    )
    found = local(text)
    assert values(found.facts) == {"n_gpus": 4, "n_nodes": 1, "gpus_per_node": 4, "epochs": 5}
    assert problem_texts(found) == [
        (
            "run.sh:3: 2 commands train (also lines 5); the facts are those on which its branches "
            "agree."
        )
    ]


def test_a_code_block_of_a_readme_is_no_job():
    for text in (
        "# Runs\n```\n#SBATCH --nodes=4\nsrun python train.py\n```\n",
        "# Runs\n```\n#BSUB -n 4\npython train.py\n```\n",
        "# Runs\n```\nrunai submit a -g 1 -- python train.py\n```\n",
    ):
        found = read_file(SourceFile("notes.md", text), load_reference())
        assert (found.kind, found.facts) == ("unknown", ())


def test_neuron_cores_are_not_counted_as_gpus_and_a_wrapper_that_may_be_empty_is_passed_over():
    text = (
        "GPUS_PER_NODE=32\nif [ $EXTRACT -gt 0 ]; then\n  STEPS=10\n  PRE=neuron_parallel_compile\n"
        "else\n  STEPS=-1\nfi\ndeclare -a RUN=(\n  --nproc_per_node=$GPUS_PER_NODE\n"
        "  --nnodes=$SLURM_JOB_NUM_NODES\n)\ndeclare -a ARGS=(\n  --max_steps $STEPS\\\n"
        "  --tp_size 8 \\\n  --pp_size 1 \\\n  --train_batch_size 1 \\\n"
        '  --model_path "/fsx/models/llama3-8B"\n)\n'
        '$PRE torchrun "${RUN[@]}" train.py "${ARGS[@]}"\n'
    )
    found = local(text)
    assert values(found.facts) == {
        "tp": 8,
        "pp": 1,
        "micro_batch_size": 1,
        "model": "llama3-8B",
        "framework": "optimum-neuron",
    }
    assert any("NeuronCores" in text for text in problem_texts(found))


def test_a_contradiction_of_options_gives_no_count_of_either():
    head = "#SBATCH -N 2\n#SBATCH --gres=gpu:2\n#SBATCH --gpus-per-node=1\n#SBATCH -t 60\n"
    found = reading_of(SLURM, "a.sh", f"#!/bin/bash\n{head}python train.py\n")
    assert {"n_gpus", "gpus_per_node"}.isdisjoint(values(found.facts))


def test_tasks_of_an_array_of_sweep_agents_are_trials():
    head = "#!/bin/bash\n#SBATCH --array=1-50%10\n#SBATCH --gres=gpu:1\n#SBATCH -t 60\n"
    found = reading_of(SLURM, "a.sh", head + "srun wandb agent --count 2 lab/p/abc\n")
    assert values(found.facts)["tuning_trials"] == 100
    found = reading_of(SLURM, "a.sh", head + "wandb agent lab/p/abc\n")
    assert "tuning_trials" not in values(found.facts)
    assert problem_texts(found)[-1] == (
        "a.sh:5: `wandb agent` without `--count` runs until its sweep ends. Give `tuning_trials`."
    )


def test_masked_autoencoders_count_the_batch_per_gpu():
    found = local("torchrun --nproc_per_node 8 run.py --batch_size 12 --mask_ratio 0.9\n")
    assert (values(found.facts)["micro_batch_size"], found.problems) == (12, ())


def test_the_rollout_framework_shards_its_actor():
    text = (
        "python3 -m verl.trainer.main_ppo data.train_batch_size=1024 "
        "actor_rollout_ref.actor.fsdp_config.param_offload=False trainer.n_gpus_per_node=8\n"
    )
    assert values(local(text).facts)["sharding"] == "fsdp"
    assert "global_batch_size" not in values(local(text).facts)


def test_the_vocabulary_a_megatron_script_computes_with_is_read():
    text = (
        "VOCAB_SIZE=50257\ntorchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 "
        "--micro-batch-size 4 --global-batch-size 64 --dataset MMAP\n"
    )
    found = values(local(text).facts)
    assert (found["vocab_size"], found["grad_accum_steps"]) == (50257, 2)
    assert "dataset" not in found
