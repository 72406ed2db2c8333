"""Output of Megatron-LM and its kin (Megatron-DeepSpeed, GPT-NeoX): arguments, iterations, memory.

    iteration      10/    1000 | elapsed time per iteration (ms): 1289.1 | global batch size: 512 |
    [Rank 0] (after 10 iterations) memory (MB) | allocated: 1.0 | max allocated: 2.0 | ...

Times are per optimizer step; older versions print seconds. Skipped iterations (loss scale) took
their time and count. Source: `training_log` in megatron/training/training.py of NVIDIA/Megatron-LM.
"""

import re

from compute_budget_planner.readers.dumped_options import dotted_option
from compute_budget_planner.readers.log_lines import log_lines, number_in
from compute_budget_planner.readers.run_log import ALLOCATED, RESERVED, RunLog
from compute_budget_planner.readers.stdout_reader import StdoutReader
from compute_budget_planner.readers.step_speed import Stretch

_MARK = "elapsed time per iteration ("
_ITERATION = re.compile(r"\biteration\s+(?P<done>\d{1,12})\s*/\s*(?P<total>\d{1,12})\s*\|")
_FIELD = re.compile(r"\|\s*([^|:]{1,60}?)\s*:\s*([-+0-9.eE]{1,24})(?=\s*\||\s*$)")
_VALIDATION = re.compile(
    r"validation loss at iteration\s+(\d{1,12})\b.{0,200}?lm loss value:\s*([-+0-9.eE]{1,24})"
)
_MEMORY = re.compile(r"max (allocated|reserved):\s*([0-9.]{1,20})")
_WORLD = re.compile(r"using world size:\s*(\d{1,6})\b")
_SECONDS = {
    "elapsed time per iteration (ms)": 1e-3,
    "elapsed time per iteration (s)": 1.0,
}
_LOSSES = ("lm loss", "lm-loss")
_MEANT = frozenset(
    [
        *("num_layers", "hidden_size", "ffn_hidden_size", "num_attention_heads", "seq_length"),
        *("num_query_groups", "swiglu", "padded_vocab_size", "num_experts", "moe_router_topk"),
        *("untie_embeddings_and_output_weights", "micro_batch_size", "global_batch_size"),
        *("train_iters", "train_samples", "lr", "optimizer", "bf16", "fp16", "fp8_format"),
        *("checkpoint_activations", "recompute_granularity", "recompute_activations"),
        *("tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size"),
        *("expert_model_parallel_size", "use_distributed_optimizer", "zero_stage"),
    ]
)
"""Arguments that mean a fact; paths, names and the rest of the dump are passed over."""


def _fill(log: RunLog) -> None:
    _read_arguments(log)
    marks = (_MARK, "max allocated", "validation loss at", "using world size")
    for number, line in log_lines(log.file, *marks):
        if match := _ITERATION.search(line):
            _read_iteration(log, match, line, number)
        elif match := _VALIDATION.search(line):
            log.validation.append((int(match[1]), number_in(match[2])))
        elif match := _WORLD.search(line):
            log.say("n_gpus", int(match[1]), number)
        else:
            for kind, text in _MEMORY.findall(line):
                gib = number_in(text) / 1024  # its MB are 2**20 bytes
                log.memory(ALLOCATED if kind == "allocated" else RESERVED, gib, number)
    _tell_batch(log)


def _read_arguments(log: RunLog) -> None:
    """Take the options between the rules that Megatron draws around its arguments."""
    inside = False
    for number, line in log_lines(log.file):
        if "- end of arguments -" in line:
            return
        if inside and (option := dotted_option(line)):
            name, value = option
            if name in _MEANT and value not in ("None", ""):
                log.option(name, value, number)
            elif name == "world_size" and value.isdecimal():
                log.say("n_gpus", int(value), number)
        inside = inside or "- arguments -" in line


def _read_iteration(log: RunLog, match: re.Match[str], line: str, number: int) -> None:
    done, total = int(match["done"]), int(match["total"])
    fields = {name.strip(): number_in(text) for name, text in _FIELD.findall(line)}
    if not log.first_time(done):
        return
    earlier = log.told("steps_done")
    since = done - earlier if isinstance(earlier, int) and earlier < done else 1
    for name, factor in _SECONDS.items():
        if name in fields:
            log.timed.append(Stretch(since, fields[name] * factor))
            log.speed_line = number
    for name in _LOSSES:
        if name in fields:
            log.train.append((done, fields[name]))
    log.say("steps_done", done, number)
    log.say("max_steps", total, number)
    if fields.get("global batch size", 0) >= 1:
        log.say("global_batch_size", int(fields["global batch size"]), number)
    log.finished = done >= total


def _tell_batch(log: RunLog) -> None:
    """Add what follows from the batch: samples per second, and accumulation over the ranks."""
    batch = log.told("global_batch_size")
    if not isinstance(batch, int):
        return
    speed = log.speed()
    if speed is not None and speed.settled:
        log.say("samples_per_second", batch / speed.step_seconds, log.speed_line)
    sizes = {name: int(str(raw)) for name, raw, _ in log.options if str(raw).isdecimal()}
    ranks, micro = log.told("n_gpus"), sizes.get("micro_batch_size", 0)
    held = 1
    for name in ("tensor_model_parallel_size", "pipeline_model_parallel_size"):
        held *= sizes.get(name, 1)
    held *= sizes.get("context_parallel_size", 1)
    if isinstance(ranks, int) and micro and held and ranks % held == 0:
        share = micro * (ranks // held)
        if share and batch % share == 0:
            log.say("grad_accum_steps", batch // share, log.speed_line)


READER = StdoutReader("megatron_stdout", "megatron", _MARK, _ITERATION, _fill)
