#!/usr/bin/env bash
# Project: imagenet-lite
# Env: local (Workstation)
# Created: 2026-11-20
# Commit: 7be01c4
set -euo pipefail

JOB_NAME="vit-b16"
LOG_DIR="outputs/logs/vit-b16"
OUTPUT_DIR="outputs/vit-b16"
LOG_FILE="$LOG_DIR/${JOB_NAME}-$(date +%Y%m%d-%H%M%S).log"
export CUDA_VISIBLE_DEVICES=0

source .venv/bin/activate
mkdir -p "$LOG_DIR" "$OUTPUT_DIR"

echo "Job:    $JOB_NAME"
echo "Start:  $(date)"
echo "Commit: 7be01c4"
echo "Log:    $LOG_FILE"

# The configuration's 256 images at once come from a larger card.
nohup python train.py \
    --config experiments/configs/vit-b16.yaml \
    --batch-size-per-gpu 128 \
    --grad-accum-steps 4 \
    --output_dir "$OUTPUT_DIR" > "$LOG_FILE" 2>&1
EXIT_CODE=$?

echo "End:    $(date)"
echo "Exit:   $EXIT_CODE"
exit $EXIT_CODE
