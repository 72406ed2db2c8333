#!/bin/bash
SIZE=$1
if [ $SIZE = small ]; then
    LAYERS=12
    WIDTH=768
    VOCAB=32000
elif [ $SIZE = large ]; then
    LAYERS=24
    WIDTH=1024
    VOCAB=32000
fi
if [ "$2" = half ]; then precision="--fp16"; else precision="--bf16"; fi
torchrun --nproc_per_node 4 train_lm.py --num_layers $LAYERS --hidden_size $WIDTH \
    --vocab_size $VOCAB --micro_batch_size 8 $precision --train_iters 900
