"""Output of Composer and LLM Foundry on a console: `[batch=20/4800]:` and the metrics below it.

    [batch=20/4800]:
             Train throughput/tokens_per_sec: 81920.0
             Train memory/peak_reserved_mem: 60.1

`throughput/...` counts the whole job, `throughput/device/...` one device; memory is in units of
10**9 bytes, `time/...` in hours. In `[epoch=0][batch=20/100]` the total is that of one epoch.
Source: the SpeedMonitor and MemoryMonitor callbacks in the documentation of mosaicml/composer.
"""

import re
from statistics import median

from compute_budget_planner.readers.log_lines import log_lines, number_in
from compute_budget_planner.readers.run_log import ALLOCATED, RESERVED, RunLog
from compute_budget_planner.readers.stdout_reader import StdoutReader

_BATCH = re.compile(
    r"(?P<epoch>\[epoch=\d{1,9}(?:/\d{1,9})?\])?"
    r"\[batch=(?P<done>\d{1,15})(?:/(?P<total>\d{1,15}))?\]:"
)
_METRIC = re.compile(r"\s*(Train|Eval)\s+([\w/]{1,80}):\s*([-+0-9.a-z]{1,24})\s*$")
_RATES = {
    "throughput/batches_per_sec": "steps_per_second",
    "throughput/samples_per_sec": "samples_per_second",
    "throughput/tokens_per_sec": "tokens_per_second",
    "throughput/device/tokens_per_sec": "tokens_per_second_per_gpu",
}
_MEMORY = {
    "memory/peak_allocated_mem": ALLOCATED,
    "memory/peak_reserved_mem": RESERVED,
    "memory/allocated_mem": ALLOCATED,
    "memory/reserved_mem": RESERVED,
}
_GB = 1e9 / 2**30


def _fill(log: RunLog) -> None:
    rates: dict[str, list[float]] = {}
    done = 0
    for number, line in log_lines(log.file, "[batch=", "Train ", "Eval "):
        if match := _BATCH.search(line):
            done = max(done, int(match["done"]))
            log.say("steps_done", done or None, number)
            if match["total"] and not match["epoch"]:
                log.say("max_steps", int(match["total"]), number)
                log.finished = done >= int(match["total"])
        elif match := _METRIC.match(line):
            _read_metric(log, rates, match, done, number)
    _tell_rates(log, rates)


def _read_metric(
    log: RunLog, rates: dict[str, list[float]], match: re.Match[str], done: int, number: int
) -> None:
    name, value = match[2], number_in(match[3])
    if match[1] == "Eval":
        if name.endswith("LanguageCrossEntropy"):
            log.validation.append((done, value))
    elif name in _RATES:
        rates.setdefault(_RATES[name], []).append(value)
        log.speed_line = number
    elif name in _MEMORY:
        log.memory(_MEMORY[name], value * _GB, number)
    elif name == "loss/train/total":
        log.train.append((done, value))
    elif name == "trainer/device_train_microbatch_size":
        log.say("micro_batch_size", match[3], number)
    elif name == "time/total" and value > 0 and log.finished:
        log.say("wall_clock_hours", value, number)


def _tell_rates(log: RunLog, rates: dict[str, list[float]]) -> None:
    """Record the median of each rate after its first tenth."""
    for fact, values in rates.items():
        settled = [value for value in values[max(1, len(values) // 10) :] if value > 0]
        if settled:
            log.say(fact, median(settled), log.speed_line)
    if not any(len(values) > 1 for values in rates.values()):
        log.ask(log.speed_line, "the log holds no throughput behind the warm-up; state the speed")


READER = StdoutReader("composer_stdout", "composer", "[batch=", _BATCH, _fill)
