"""Output of Transformer-XL: a list of arguments, then `| epoch 1 step 10 | ... | tok/s 47784 |`.

`ms/batch` is one optimizer step of all devices, `tok/s` the whole job's rate, `tgt_len` the length
of a sequence. The host may have more GPUs than the `world size`. Source: train.py of
kimiyoung/transformer-xl and of NVIDIA/DeepLearningExamples.
"""

import re

from compute_budget_planner.readers.dumped_options import dashed_options
from compute_budget_planner.readers.log_lines import log_lines, number_in
from compute_budget_planner.readers.run_log import RunLog
from compute_budget_planner.readers.stdout_reader import StdoutReader
from compute_budget_planner.readers.step_speed import Stretch

_STEP = re.compile(r"\|\s?epoch\s+\d{1,9}\s+step\s+(\d{1,12})\s?\|")
_STEP_TIME = re.compile(r"\bms/batch\s+([0-9.]{1,20})")
_LOSS = re.compile(r"\|\s*loss\s+([-+0-9.a-z]{1,20})")
_EVALUATION = re.compile(
    r"\|\s*Eval\s+\d+ at step\s+(\d{1,12})\s*\|.{0,60}?valid loss\s+([-+0-9.a-z]{1,20})"
)
_WORLD = re.compile(r"^world size: (\d{1,6})\s*$")
_DEVICE = re.compile(r"^GPU \d{1,3}: (\S.{2,50}?)\s*$")
_THROUGHPUT = re.compile(r"Training throughput: ([0-9.]{1,20}) tok/s")
_TIME = re.compile(r"Training time: ([0-9.]{1,20}) minutes")
_FACTS = {
    "n_layer": "n_layers",
    "n_head": "n_heads",
    "d_model": "d_model",
    "d_inner": "d_ff",
    "d_head": "head_dim",
    "n_token": "vocab_size",
    "n_all_param": "params_total",
    "tgt_len": "seq_len",
    "batch_size": "global_batch_size",
    "max_step": "max_steps",
    "tied": "tied_embeddings",
    "dataset": "dataset",
}


def _fill(log: RunLog) -> None:
    marks = ("- ", "ms/batch", "Eval ", "world size", "GPU ", "Training t", "O2:", "O1:")
    options: dict[str, str] = {}
    devices: set[str] = set()
    for number, line in log_lines(log.file, *marks):
        if (match := _STEP.search(line)) and (time := _STEP_TIME.search(line, match.end())):
            _read_step(log, int(match[1]), number_in(time[1]) / 1000, line, number)
        elif match := _EVALUATION.search(line):
            log.validation.append((int(match[1]), number_in(match[2])))
        elif match := _WORLD.match(line):
            log.say("n_gpus", match[1], number)
        elif match := _DEVICE.match(line):
            devices.add(match[1])
            log.say("gpu", match[1] if len(devices) == 1 else None, number)
        elif match := _THROUGHPUT.search(line):
            log.say("tokens_per_second", number_in(match[1]), number)
        elif match := _TIME.search(line):
            log.say("wall_clock_hours", number_in(match[1]) / 60, number)
            log.finished = True
        for name, value, _ in dashed_options([(number, line)]):
            options[name] = value
            if name in _FACTS:
                log.say(_FACTS[name], value, number)
            elif name == "fp16" and value == "True":
                log.say("precision", "fp16", number)
    _tell_micro_batch(log, options)


def _read_step(log: RunLog, step: int, seconds: float, line: str, number: int) -> None:
    if not log.first_time(step):
        return
    earlier = log.told("steps_done")
    since = step - earlier if isinstance(earlier, int) and earlier < step else step
    log.timed.append(Stretch(since, seconds))
    if loss := _LOSS.search(line):
        log.train.append((step, number_in(loss[1])))
    log.say("steps_done", step or None, number)
    log.speed_line = number


def _tell_micro_batch(log: RunLog, options: dict[str, str]) -> None:
    """Divide the batch by devices and chunks where it goes up evenly."""
    batch, world = str(log.told("global_batch_size")), str(log.told("n_gpus"))
    chunks = options.get("batch_chunk", "1")
    if batch.isdecimal() and world.isdecimal() and chunks.isdecimal():
        parts = int(world) * int(chunks)
        if parts and int(batch) % parts == 0:
            log.say("micro_batch_size", int(batch) // parts, log.speed_line)


READER = StdoutReader("txl_stdout", "", "ms/batch", _STEP, _fill)
