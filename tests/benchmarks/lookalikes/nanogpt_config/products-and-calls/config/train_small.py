# 6 * 512 * 4 accumulation * 3 GPUs, about 9 hours
import time

out_dir = 'out-' + str(time.time())
dataset = 'tinystories'
batch_size = 6
block_size = 512
gradient_accumulation_steps = 4 * 3
max_iters = 40_000
lr_decay_iters = 30_000
learning_rate = 5e-4
