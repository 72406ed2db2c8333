import pytest
from compute_budget_planner.readers import modded_nanogpt_stdout, nanogpt_stdout
from file_facts import problem_texts, reading_of, values

HEAD = (
    "Overriding: batch_size = 8\nOverriding: block_size = 512\nOverriding: max_iters = 200\n"
    "Overriding: out_dir = out-books\ntokens per iteration will be: 163,840\n"
    "number of parameters: 123.59M\n"
)


def test_nanogpt_times_are_per_optimizer_step_and_the_first_compiles():
    lines = [f"iter {n}: loss {9 - n / 100:.4f}, time 250.00ms, mfu -100.00%" for n in range(120)]
    lines[0] = "iter 0: loss 10.9000, time 45000.00ms, mfu -100.00%"
    lines.insert(100, "step 100: train loss 7.9000, val loss 8.1000")
    lines[101] = "iter 100: loss 8.0000, time 9000.00ms, mfu 31.20%"
    reading = reading_of(nanogpt_stdout.READER, "out.log", HEAD + "\n".join(lines))
    assert values(reading.measured) == {
        "global_batch_size": 320,
        "steps_done": 120,
        "step_seconds": 0.25,
        "micro_batch_size": 8,
        "seq_len": 512,
        "max_steps": 200,
    }
    assert reading.finished is False
    assert reading.losses[1].steps == (100,)
    assert float(reading.notes["mean_step_seconds"]) > 0.25


SOURCE = """\
@dataclass
class Hyperparameters:
    input_bin : str = 'data/*.bin'
    batch_size : int = 4*32 # across all devices
    device_batch_size : int = 32
    sequence_length : int = 1024
    num_iterations : int = 60
    learning_rate : float = 0.004
    token : str = open('/etc/passwd').read()
model = GPT(GPTConfig(vocab_size=num_vocab, n_layer=6, n_head=4, n_embd=512))
model = DDP(model, device_ids=[0])
ctx = torch.amp.autocast(device_type='cuda', dtype=torch.bfloat16)
"""
RULE = "=" * 100 + "\n"
SMI = """\
| NVIDIA-SMI 555.42.06              Driver Version: 555.42.06      CUDA Version: 12.5     |
|   0  NVIDIA H100 80GB HBM3          Off |   00000000:18:00.0 Off |                    0 |
|   1  NVIDIA H100 80GB HBM3          Off |   00000000:2A:00.0 Off |                    0 |
|   2  NVIDIA H100 80GB HBM3          Off |   00000000:3A:00.0 Off |                    0 |
|   3  NVIDIA H100 80GB HBM3          Off |   00000000:5D:00.0 Off |                    0 |
|    0   N/A  N/A       958      C   /usr/bin/python3                                0MiB |
|    1   N/A  N/A       959      C   /usr/bin/python3                                0MiB |
"""


def steps(last: int, total: int) -> str:
    lines = ["step:0/60 val_loss:11.0000 train_time:400ms step_avg:nanms"]
    for n in range(1, last + 1):
        time = 30_000 + 100 * n if n <= 10 else 100 * (n - 10)
        mean = "nan" if n <= 12 else "100.00"
        lines.append(f"step:{n}/{total} train_loss:{9 - n / 20:.4f} train_time:{time}ms "
                     f"step_avg:{mean}ms")  # fmt: skip
    return "\n".join(lines) + "\n"


def test_the_program_in_the_log_is_parsed_and_the_timer_set_to_zero_is_no_step():
    text = RULE + SOURCE + RULE + SMI + RULE + steps(60, 60)
    reading = reading_of(modded_nanogpt_stdout.READER, "4f2b.txt", text)
    assert values(reading.measured) == {
        "gpu": "NVIDIA H100 80GB HBM3",
        "n_gpus": 2,
        "steps_done": 60,
        "max_steps": 60,
        "wall_clock_hours": pytest.approx(5.0 / 3600),
        "step_seconds": 0.1,
        "global_batch_size": 128,
        "micro_batch_size": 32,
        "seq_len": 1024,
        "learning_rate": 0.004,
        "sharding": "ddp",
        "n_layers": 6,
        "n_heads": 4,
        "d_model": 512,
        "precision": "bf16",
    }
    assert reading.finished is True
    assert problem_texts(reading) == []


def test_of_a_hosts_devices_only_those_with_a_process_are_the_runs():
    reading = reading_of(modded_nanogpt_stdout.READER, "a.txt", SMI + steps(20, 60))
    assert values(reading.measured)["n_gpus"] == 2


def test_steps_before_a_mean_is_printed_give_no_pace():
    reading = reading_of(modded_nanogpt_stdout.READER, "a.txt", steps(12, 60))
    assert "step_seconds" not in values(reading.measured)
    assert reading.finished is False


def test_warm_up_lines_are_no_steps_and_a_run_stopped_by_its_own_clock_is_finished():
    text = (
        "train_loader:dataset:books_sp1024 train_shards:25\n"
        "model_params:17059912\nworld_size:4 grad_accum_steps:2\n"
        "attention_mode:gqa num_heads:8 num_kv_heads:4\ntie_embeddings:True embed_lr:0.05\n"
        "train_batch_tokens:262144 train_seq_len:1024 iterations:9000 warmup_steps:20\n"
        "warmup_step:1/20\nwarmup_step:20/20\n"
        "step:1/9000 train_loss:6.9 train_time:40ms step_avg:40.00ms\n"
        "step:500/9000 train_loss:3.1 train_time:20000ms step_avg:40.00ms\n"
        "step:500/9000 val_loss:3.2000 train_time:20010ms step_avg:40.02ms\n"
        "stopping_early: wallclock_cap train_time:20010ms step:500/9000\n"
        "peak memory allocated: 10240 MiB reserved: 12288 MiB\n"
    )
    reading = reading_of(modded_nanogpt_stdout.READER, "a.log", text)
    assert values(reading.measured) == {
        "dataset": "books_sp1024",
        "params_total": 17059912,
        "n_gpus": 4,
        "grad_accum_steps": 2,
        "n_heads": 8,
        "n_kv_heads": 4,
        "tied_embeddings": True,
        "seq_len": 1024,
        "max_steps": 9000,
        "steps_done": 500,
        "wall_clock_hours": pytest.approx(20.01 / 3600),
        "step_seconds": 0.04002,
        "peak_memory_gib": 12.0,
    }
    assert reading.finished is True
