"""Made-up projects in the shapes people have; each function fills a folder and returns it."""

import json
from pathlib import Path

GPT2_CONFIG = {
    "model_type": "gpt2",
    "n_layer": 12,
    "n_embd": 768,
    "n_head": 12,
    "n_positions": 1024,
    "vocab_size": 50257,
}
LLAMA_CONFIG = {
    "model_type": "llama",
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "num_hidden_layers": 22,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "vocab_size": 32000,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": False,
}
SECRETS = ("jdoe", "login7", "cluster.edu", "a1b2c3d4e5f6a7b8c9d0", "/scratch/", "/home/")


def write_files(root: Path, files: dict[str, str]) -> Path:
    """Write texts by path, folders included."""
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return root


def snapshot(root: Path) -> dict[str, bytes]:
    """Return every file's bytes, the lock of the writer left out."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


def control_root(root: Path) -> Path:
    """Fill a control root: memory/, and code/ with a Slurm job, its config and the model's."""
    return write_files(
        root,
        {
            "memory/project.yaml": "project:\n  name: tiny-control\n",
            "memory/risk-board.md": "# Risk Board\n",
            "environments.yaml": (
                "ibex:\n"
                "  type: slurm\n"
                "  display_name: Ibex\n"
                "  login_node: login7.cluster.edu\n"
                "  defaults: {gpus: 1, walltime: '12:00:00', max_walltime: '24:00:00'}\n"
            ),
            "code/jobs/gpt2-main.sh": (
                "#!/bin/bash\n"
                "# Project: tiny-control\n"
                "# Env: ibex (Ibex)\n"
                "#SBATCH --job-name=gpt2-main\n"
                "#SBATCH --cpus-per-task=32\n"
                "#SBATCH --gres=gpu:a100-sxm4-80gb:4\n"
                "#SBATCH --mem=240G\n"
                "#SBATCH --time=12:00:00\n"
                "#SBATCH --mail-user=jdoe@login7.cluster.edu\n"
                "#SBATCH --output=/scratch/jdoe/logs/slurm-%j.out\n"
                "export WANDB_API_KEY=a1b2c3d4e5f6a7b8c9d0\n"
                "export HF_HOME=/home/jdoe/.cache/huggingface\n"
                "conda activate /home/jdoe/envs/lab\n"
                "rsync -a jdoe@login7.cluster.edu:/scratch/jdoe/data/ data/\n"
                "torchrun --standalone --nproc_per_node=4 train.py"
                " --config experiments/configs/gpt2.yaml"
                " --data_dir /scratch/jdoe/openwebtext"
                " --output_dir outputs/gpt2-main\n"
            ),
            "code/experiments/configs/gpt2.yaml": (
                "model: models/gpt2/config.json\n"
                "dataset: openwebtext\n"
                "per_device_train_batch_size: 16\n"
                "gradient_accumulation_steps: 2\n"
                "seq_len: 1024\n"
                "max_steps: 20000\n"
                "bf16: true\n"
            ),
            "code/models/gpt2/config.json": json.dumps(GPT2_CONFIG),
        },
    )


def plain_repo(root: Path) -> Path:
    """Fill a repository with jobs/ and configs/ and two main runs of three seeds and one."""
    job = (
        "#!/bin/bash\n"
        "#SBATCH --job-name={name}\n"
        "#SBATCH --gres=gpu:a100-sxm4-80gb:{gpus}\n"
        "#SBATCH --time=48:00:00\n"
        "torchrun --nproc_per_node={gpus} train.py --config configs/{name}.yaml\n"
    )
    config = (
        "model: {model}\n"
        "per_device_train_batch_size: 8\n"
        "seq_len: 1024\n"
        "max_steps: {steps}\n"
        "bf16: true\n"
        "num_seeds: {seeds}\n"
    )
    (root / ".git").mkdir()
    return write_files(
        root,
        {
            ".git/HEAD": "ref: refs/heads/main\n",
            ".gitignore": ".agent/\noutputs/\n",
            "jobs/small.sh": job.format(name="small", gpus=2),
            "jobs/medium.sh": job.format(name="medium", gpus=8),
            "configs/small.yaml": config.format(model="gpt2", steps=5000, seeds=3),
            "configs/medium.yaml": config.format(model="gpt2-medium", steps=20000, seeds=1),
        },
    )


def lone_config(root: Path) -> Path:
    """Fill a folder with one config and nothing else, not even a job."""
    return write_files(
        root,
        {
            "experiments/configs/base.yaml": (
                "seed: 42\nbatch_size: 32\nmax_epochs: 100\nlearning_rate: 1.0e-4\n"
            )
        },
    )


def local_3090(root: Path) -> Path:
    """Fill a folder with a local script for one RTX 3090."""
    return write_files(
        root,
        {
            "jobs/resnet-local.sh": (
                "#!/bin/bash\n"
                "JOB_NAME=resnet\n"
                "LOG_DIR=outputs/logs/resnet\n"
                "OUTPUT_DIR=outputs/resnet\n"
                "export CUDA_VISIBLE_DEVICES=0  # RTX 3090\n"
                "python train.py --model resnet50 --batch-size 64 --epochs 90 --amp"
                " --output-dir outputs/resnet\n"
            )
        },
    )


def hf_deepspeed(root: Path) -> Path:
    """Fill a folder with HF arguments, a DeepSpeed JSON and an accelerate YAML."""
    return write_files(
        root,
        {
            "jobs/sft.sh": (
                "#!/bin/bash\n"
                "#SBATCH -J sft\n"
                "#SBATCH -N 1\n"
                "#SBATCH --gpus-per-node=h100:8\n"
                "#SBATCH -t 1-00:00:00\n"
                "accelerate launch --config_file configs/accelerate.yaml \\\n"
                "  finetune.py configs/sft.yaml\n"
            ),
            "configs/accelerate.yaml": (
                "compute_environment: LOCAL_MACHINE\n"
                "distributed_type: DEEPSPEED\n"
                "deepspeed_config:\n"
                "  deepspeed_config_file: configs/zero3.json\n"
                "mixed_precision: bf16\n"
                "num_machines: 1\n"
                "num_processes: 8\n"
            ),
            "configs/zero3.json": json.dumps(
                {
                    "zero_optimization": {"stage": 3},
                    "bf16": {"enabled": True},
                    "train_micro_batch_size_per_gpu": "auto",
                    "gradient_accumulation_steps": "auto",
                }
            ),
            "configs/sft.yaml": (
                "model_name_or_path: meta-llama/Llama-2-7b-hf\n"
                "dataset_name: HuggingFaceH4/ultrachat_200k\n"
                "per_device_train_batch_size: 4\n"
                "gradient_accumulation_steps: 4\n"
                "num_train_epochs: 3\n"
                "learning_rate: 2.0e-5\n"
                "max_seq_length: 2048\n"
                "gradient_checkpointing: true\n"
            ),
        },
    )


def lightning_like(root: Path) -> Path:
    """Fill a folder with a Lightning-like YAML beside a job that names it."""
    return write_files(
        root,
        {
            "jobs/vit.sh": (
                "#!/bin/bash\n"
                "#SBATCH --job-name=vit\n"
                "#SBATCH --gres=gpu:v100:4\n"
                "#SBATCH --time=08:00:00\n"
                "srun python -m train fit --config configs/vit.yaml --trainer.devices 4\n"
            ),
            "configs/vit.yaml": (
                "seed_everything: 42\n"
                "trainer:\n"
                "  max_epochs: 300\n"
                "  accelerator: gpu\n"
                "  devices: 4\n"
                "  precision: 16-mixed\n"
                "  accumulate_grad_batches: 2\n"
                "model:\n"
                "  class_path: lab.models.ViT\n"
                "  init_args:\n"
                "    name: vit_base_patch16_224\n"
                "data:\n"
                "  class_path: lab.data.ImageNet\n"
                "  init_args:\n"
                "    batch_size: 128\n"
            ),
        },
    )


def models_by_datasets(root: Path) -> Path:
    """Fill a folder with two models × two data sets, each a job of its own, with three seeds."""
    files = {}
    for model in ("bert-base-uncased", "roberta-large"):
        for dataset, examples in (("mnli", 392_702), ("qnli", 104_743)):
            name = f"{model.split('-')[0]}-{dataset}"
            files[f"jobs/{name}.sh"] = (
                "#!/bin/bash\n"
                f"#SBATCH --job-name={name}\n"
                "#SBATCH --gres=gpu:a100-sxm4-80gb:1\n"
                "#SBATCH --time=24:00:00\n"
                "#SBATCH --array=0-2\n"
                f"python run_glue.py --config configs/{name}.yaml --seed $SLURM_ARRAY_TASK_ID\n"
            )
            files[f"configs/{name}.yaml"] = (
                f"model_name_or_path: {model}\n"
                f"dataset: {dataset}\n"
                f"dataset_examples: {examples}\n"
                "per_device_train_batch_size: 32\n"
                "num_train_epochs: 3\n"
                "max_seq_length: 128\n"
                "objective: classification\n"
                "fp16: true\n"
            )
    return write_files(root, files)


def two_nodes(root: Path) -> Path:
    """Fill a folder with a job over two machines that writes outside the project."""
    return write_files(
        root,
        {
            "jobs/train.sh": (
                "#!/bin/bash\n"
                "#SBATCH --job-name=train\n"
                "#SBATCH --nodes=2\n"
                "#SBATCH --gpus-per-node=a100-sxm4-80gb:8\n"
                "#SBATCH --ntasks-per-node=1\n"
                "#SBATCH --time=24:00:00\n"
                "srun --nodes=2 torchrun --nnodes=2 --nproc_per_node=8 src/train/main.py"
                " --config configs/train/base.yaml --output_dir /scratch/jdoe/runs/train"
                ' --seed "$SEED"\n'
            ),
            "configs/train/base.yaml": (
                "model: gpt2-xl\n"
                "per_device_train_batch_size: 8\n"
                "seq_len: 1024\n"
                "max_steps: 50000\n"
                "bf16: true\n"
            ),
        },
    )


def linked_worktree(root: Path) -> Path:
    """Fill a control root with a linked worktree of its code, and return the worktree."""
    control_root(root)
    worktree = root / "code-worktrees" / "exp-short"
    gitdir = root / "code" / ".git" / "worktrees" / "exp-short"
    gitdir.mkdir(parents=True)
    write_files(
        root,
        {
            "code/.git/HEAD": "ref: refs/heads/main\n",
            "code-worktrees/exp-short/.git": f"gitdir: {gitdir.as_posix()}\n",
            "code-worktrees/exp-short/jobs/short.sh": (
                "#!/bin/bash\n"
                "#SBATCH --job-name=short\n"
                "#SBATCH --gres=gpu:a100-sxm4-80gb:1\n"
                "#SBATCH --time=02:00:00\n"
                "python train.py --model gpt2 --max_steps 3000 --seq_len 1024"
                " --per_device_train_batch_size 8 --bf16\n"
            ),
        },
    )
    return worktree
