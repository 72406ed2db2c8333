#!/bin/bash
# Project: gpt2-ablation
# Env: cluster (GPU cluster)
# Created: 2026-11-16
# Commit: 4f1c2e9
#SBATCH --job-name=gpt2-small-main
#SBATCH --partition=gpu
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=64
#SBATCH --gres=gpu:a100-sxm4-40gb:8
#SBATCH --mem=480G
#SBATCH --time=24:00:00
#SBATCH --output=outputs/logs/gpt2-small-main/slurm-%j.out
#SBATCH --error=outputs/logs/gpt2-small-main/slurm-%j.err
#SBATCH --mail-type=END,FAIL
# #SBATCH --array=0-2%1

set -euo pipefail

echo "Job ID:    $SLURM_JOB_ID"
echo "Job name:  $SLURM_JOB_NAME"
echo "GPUs:      $SLURM_GPUS_ON_NODE"
echo "Start:     $(date)"
echo "Project:   gpt2-ablation"
echo "Commit:    4f1c2e9"

source .venv/bin/activate
mkdir -p outputs/gpt2-small-main

echo "Running: train.py"
echo "----------------------------------------"
torchrun --standalone --nproc_per_node=8 train.py \
    --config experiments/configs/gpt2-small.yaml \
    --output_dir outputs/gpt2-small-main
EXIT_CODE=$?
echo "----------------------------------------"
echo "End:       $(date)"
echo "Exit:      $EXIT_CODE"
exit $EXIT_CODE
