"""Output of torchtitan, Composer, fairseq, Transformer-XL and DeepSpeed."""

import pytest
from compute_budget_planner.readers import (
    composer_stdout,
    deepspeed_stdout,
    fairseq_stdout,
    torchtitan_stdout,
    txl_stdout,
)
from file_facts import problem_texts, reading_of, values


def titan(step: int, tps: str, rank: int = 0) -> str:
    return (
        f"{rank}: 2025-03-04 00:44:44,441 - root - INFO - [36mstep: {step:2d}  [32mloss:  3.4370"
        f"  [33mmemory: 60.50GiB(86.69%)  [34mtps: {tps}  [35mmfu: 39.73%[39m\n"
    )


def test_torchtitan_tokens_per_second_are_per_gpu_and_other_ranks_repeat_them():
    text = (
        "[rank0]:INFO - CUDA capacity: NVIDIA H100 80GB HBM3 with 79.10GiB memory\n"
        "[rank0]:INFO - Building 1-D device mesh with ['dp_shard'], [16]\n"
        "[rank0]:INFO - Model llama3 8B size: 8,030,261,248 total parameters\n"
        "[rank0]:INFO - Training starts at step 1, with local batch size 2, global batch size 32,"
        " sequence length 8192, total steps 100 (warmup 20)\n"
    )
    text += titan(1, "312") + "".join(
        titan(step, "6,785", rank) for step in range(10, 101, 10) for rank in range(3)
    )
    reading = reading_of(torchtitan_stdout.READER, "train.log", text)
    assert values(reading.measured) == {
        "gpu": "NVIDIA H100 80GB HBM3",
        "n_gpus": 16,
        "params_total": 8_030_261_248,
        "micro_batch_size": 2,
        "global_batch_size": 32,
        "seq_len": 8192,
        "max_steps": 100,
        "steps_done": 100,
        "tokens_per_second_per_gpu": 6785.0,
        "peak_memory_gib": 60.5,
    }
    assert reading.notes["peak_memory_kind"] == "reserved"
    assert reading.notes["speed_scope"] == "per GPU"
    assert (reading.finished, len(reading.losses[0].steps)) == (True, 11)


def test_torchtitans_first_step_is_no_speed():
    reading = reading_of(torchtitan_stdout.READER, "train.log", titan(1, "312"))
    assert "tokens_per_second_per_gpu" not in values(reading.measured)
    assert "warm-up" in problem_texts(reading)[0]


def composer(batch: int, rate: float, extra: str = "") -> str:
    return (
        f"[batch={batch}/200]:\n\t Train throughput/batches_per_sec: {rate}\n"
        f"\t Train throughput/device/tokens_per_sec: {rate * 1000}\n"
        "\t Train memory/peak_reserved_mem: 53.6871\n"
        "\t Train trainer/device_train_microbatch_size: 4\n"
        f"\t Train loss/train/total: {10 - batch / 100:.4f}\n{extra}"
    )


def test_composers_rates_say_whether_they_are_of_a_device_and_its_memory_is_decimal():
    text = composer(10, 0.1) + "".join(composer(b, 2.0) for b in range(20, 191, 10))
    text += composer(200, 2.0, "\t Train time/total: 0.5000\n")
    reading = reading_of(composer_stdout.READER, "train.log", text)
    assert values(reading.measured) == {
        "steps_done": 200,
        "max_steps": 200,
        "micro_batch_size": 4,
        "steps_per_second": 2.0,
        "tokens_per_second_per_gpu": 2000.0,
        "wall_clock_hours": 0.5,
        "peak_memory_gib": pytest.approx(50.0, rel=1e-5),
    }
    assert reading.finished is True


def test_composers_first_batch_alone_is_no_speed():
    reading = reading_of(composer_stdout.READER, "train.log", composer(1, 0.1))
    assert "steps_per_second" not in values(reading.measured)
    assert "no throughput behind the warm-up" in problem_texts(reading)[0]


def test_composers_total_within_an_epoch_is_not_the_runs():
    text = "[epoch=0][batch=20/100]:\n\t Train throughput/batches_per_sec: 1.0\n"
    assert "max_steps" not in values(reading_of(composer_stdout.READER, "a.log", text).measured)


def update(n: int, wps: str) -> str:
    return (
        f'2021-03-08 12:00:00 | INFO | train_inner | {{"epoch": 1, "loss": "{9 - n / 100:.3f}", '
        f'"wps": "{wps}", "ups": "0.02", "wpb": "16384", "bsz": "8", "num_updates": "{n}", '
        f'"train_wall": "50", "gb_free": "9.3", "wall": "{100 + 52 * n}"}}\n'
    )


def test_fairseqs_words_are_the_whole_jobs_and_its_rounded_updates_are_not_used():
    text = "INFO | training on 4 devices (GPUs/TPUs)\n num. model params: 13,110,865,920 (x)\n"
    text += update(1, "0") + "".join(update(n, "315") for n in range(2, 31))
    text += '| valid | {"valid_loss": "8.5", "valid_num_updates": "30"}\n'
    reading = reading_of(fairseq_stdout.READER, "train.log", text)
    assert values(reading.measured) == {
        "n_gpus": 4,
        "params_total": 13_110_865_920,
        "steps_done": 30,
        "tokens_per_second": 315.0,
        "global_batch_size": 8,
        "step_seconds": 52.0,
    }
    assert reading.losses[1].values == (8.5,)
    assert reading.finished is None


TXL = """\
world size: 2
GPU 0: NVIDIA A100-SXM4-40GB
GPU 1: NVIDIA A100-SXM4-40GB
GPU 2: NVIDIA A100-SXM4-40GB
    - n_layer : 12
    - d_model : 512
    - d_inner : 2048
    - batch_size : 64
    - batch_chunk : 1
    - tgt_len : 128
    - mem_len : 192
    - eval_batch_size : 16
    - max_step : 400
    - fp16 : True
    - dataset : wt103
    - n_all_param : 191948759
"""


def test_transformer_xl_lists_its_arguments_and_the_target_length_is_the_sequences():
    text = TXL + "".join(
        f"| epoch   1 step {n:8d} | batches {n:6d} / 5170 | lr 1e-3 | ms/batch "
        f"{900.0 if n == 10 else 400.0:.1f} | tok/s   40960 | loss 10.09 | ppl  24128.12\n"
        for n in range(10, 401, 10)
    )
    text += "| Eval   0 at step      400 | time:  1.87s | valid loss 12.53 | valid ppl 277523\n"
    text += "Training time: 3.00 minutes\nTraining throughput: 40900.00 tok/s\n"
    reading = reading_of(txl_stdout.READER, "out.txt", text)
    assert values(reading.measured) == {
        "n_gpus": 2,
        "gpu": "NVIDIA A100-SXM4-40GB",
        "n_layers": 12,
        "d_model": 512,
        "d_ff": 2048,
        "global_batch_size": 64,
        "micro_batch_size": 32,
        "seq_len": 128,
        "max_steps": 400,
        "precision": "fp16",
        "dataset": "wt103",
        "params_total": 191_948_759,
        "steps_done": 400,
        "wall_clock_hours": 0.05,
        "tokens_per_second": 40900.0,
        "step_seconds": 0.4,
    }
    assert reading.finished is True
    assert reading.losses[1].values == (12.53,)


def test_deepspeeds_pipeline_lines_time_an_optimizer_step_of_the_whole_job():
    text = "".join(
        f"steps: {n} loss: 2.3100 iter time (s): 0.500 samples/sec: 64.0\n" for n in range(1, 60)
    )
    text += "MA 1.0 GB         Max_MA 20.5 GB         CA 22.0 GB         Max_CA 24 GB\n"
    reading = reading_of(deepspeed_stdout.READER, "a.log", text)
    assert values(reading.measured) == {
        "steps_done": 59,
        "samples_per_second": 64.0,
        "step_seconds": 0.5,
        "peak_memory_gib": 24.0,
    }
    assert reading.notes["peak_memory_kind"] == "reserved"


def test_deepspeeds_last_configuration_counts_and_ranks_repeat_lines():
    config = "[2021-05-26 04:51:31,919] [INFO] [config.py:752:print]   {:<28} {}\n"
    first = config.format("train_batch_size .............", 1024)
    last = "".join(
        config.format(name + " " + "." * 4, value)
        for name, value in (
            ("train_batch_size", 512),
            ("train_micro_batch_size_per_gpu", 8),
            ("gradient_accumulation_steps", 2),
            ("fp16_enabled", True),
            ("zero_optimization_stage", 2),
            ("world_size", 32),
        )
    )
    timer = "epoch=0/micro_step=20/global_step={}, RunningAvgSamplesPerSec=45.1, "
    timer += "CurrSamplesPerSec=44.0, MemAllocated=3.2GB, MaxMemAllocated=10.5GB\n"
    text = first + last + "".join(timer.format(n) * 2 for n in range(10, 200, 10))
    reading = reading_of(deepspeed_stdout.READER, "a.log", text)
    assert values(reading.measured) == {
        "steps_done": 190,
        "samples_per_second": 44.0,
        "peak_memory_gib": 10.5,
        "global_batch_size": 512,
        "micro_batch_size": 8,
        "grad_accum_steps": 2,
        "precision": "fp16",
        "sharding": "zero2",
        "n_gpus": 32,
    }
