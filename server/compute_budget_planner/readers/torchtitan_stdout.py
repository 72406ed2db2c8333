"""Output of torchtitan: `step: 10  loss: 9.8  memory: 61.2GiB(64.1%)  tps: 6,785  mfu: 39.73%`.

`tps` are tokens per second of one device; memory is what the allocator has reserved at most. Every
rank may print the line, coloured. Source: torchtitan/components/metrics.py of pytorch/torchtitan.
"""

import re
from statistics import median

from compute_budget_planner.readers.log_lines import log_lines, number_in
from compute_budget_planner.readers.run_log import RESERVED, RunLog
from compute_budget_planner.readers.stdout_reader import StdoutReader

_STEP = re.compile(r"step:\s*(\d{1,12})\b")
_LOSS = re.compile(r"loss:\s*([-+0-9.a-z]{1,20})")
_SPEED = re.compile(r"tps:\s*([\d,]{1,20})")
_MEMORY = re.compile(r"memory:\s*([0-9.]{1,12})GiB")
_START = re.compile(
    r"Training starts at step \d+.{0,40}?local batch size (?P<micro_batch_size>\d{1,9}),"
    r" global batch size (?P<global_batch_size>\d{1,9}),"
    r".{0,80}?sequence length (?P<seq_len>\d{1,9}), total steps (?P<max_steps>\d{1,12})"
)
_SIZE = re.compile(r"size: ([\d,]{1,20}) total parameters")
_DEVICE = re.compile(r"CUDA capacity: (.{3,60}?) with [0-9.]{1,10}GiB memory")
_MESH = re.compile(r"Building \d-D device mesh with \[.{1,80}?\], \[([\d, ]{1,40})\]")
_WARM_UP_STEPS = 20


def _fill(log: RunLog) -> None:
    speeds: list[tuple[int, float]] = []
    for number, line in log_lines(log.file, "step", "size: ", "CUDA capacity", "device mesh"):
        if (match := _STEP.search(line)) and (speed := _SPEED.search(line, match.end())):
            step = int(match[1])
            if memory := _MEMORY.search(line):
                log.memory(RESERVED, number_in(memory[1]), number)
            if log.first_time(step):
                speeds.append((step, number_in(speed[1])))
                _read_step(log, step, line, number)
        elif match := _START.search(line):
            for name, text in match.groupdict().items():
                log.say(name, text, number)
        elif match := _SIZE.search(line):
            log.say("params_total", match[1], number)
        elif match := _DEVICE.search(line):
            log.say("gpu", match[1], number)
        elif match := _MESH.search(line):
            devices = 1
            for extent in match[1].split(","):
                devices *= int(extent)
            log.say("n_gpus", devices, number)
    _tell_speed(log, speeds)
    done, planned = log.told("steps_done"), log.told("max_steps")
    if "Training completed" in log.file.text:
        log.finished = True
    elif planned is not None and isinstance(done, int):
        log.finished = done >= int(str(planned))


def _read_step(log: RunLog, step: int, line: str, number: int) -> None:
    if loss := _LOSS.search(line):
        log.train.append((step, number_in(loss[1])))
    log.say("steps_done", step or None, number)
    log.speed_line = number


def _tell_speed(log: RunLog, speeds: list[tuple[int, float]]) -> None:
    """Record the median speed behind the warm-up; a first step alone is no speed."""
    first = speeds[0][0] if speeds else 0
    settled = [tps for step, tps in speeds if step >= min(first + _WARM_UP_STEPS, 10 * first + 1)]
    if first > _WARM_UP_STEPS and not settled:
        settled = [tps for _, tps in speeds]
    if settled and median(settled) > 0:
        log.say("tokens_per_second_per_gpu", median(settled), log.speed_line)
        log.notes["speed_scope"] = "per GPU"
    elif speeds:
        log.ask(log.speed_line, "only warm-up steps are logged: too little for a speed")


READER = StdoutReader("torchtitan_stdout", "torchtitan", "tps:", _STEP, _fill)
