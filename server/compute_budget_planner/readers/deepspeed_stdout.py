"""Output of a DeepSpeed training loop without the Trainer's or Megatron's own lines.

    steps: 10 loss: 2.3100 iter time (s): 0.512 samples/sec: 31.2
    epoch=0/micro_step=20/global_step=10, RunningAvgSamplesPerSec=45.1, CurrSamplesPerSec=44.9, ...

The first comes from the pipeline engine, a step being an optimizer step; the second from the
throughput timer. Samples per second are those of the whole job. `MemAllocated` is what tensors hold
now, `MaxMemAllocated` and `Max_MA` at most. Source: deepspeed/runtime/pipe/engine.py, and
utils/timer.py.
"""

import re
from statistics import median

from compute_budget_planner.readers.deepspeed_output import engine_values
from compute_budget_planner.readers.log_lines import log_lines, number_in
from compute_budget_planner.readers.run_log import ALLOCATED, RESERVED, RunLog
from compute_budget_planner.readers.stdout_reader import StdoutReader
from compute_budget_planner.readers.step_speed import Stretch

_PIPELINE = re.compile(
    r"\bsteps: (?P<step>\d{1,12}) loss: (?P<loss>[-+0-9.a-z]{1,20}) "
    r"iter time \(s\): (?P<time>[0-9.]{1,20}) samples/sec: (?P<rate>[0-9.]{1,20})"
)
_TIMER = re.compile(
    r"\bglobal_step=(?P<step>\d{1,12}), RunningAvgSamplesPerSec=(?P<mean>[0-9.]{1,24}), "
    r"CurrSamplesPerSec=(?P<rate>[0-9.]{1,24})"
)
_SIGNATURE = re.compile(
    r"\bsteps: \d{1,12} loss: \S{1,20} iter time \(s\): |\bRunningAvgSamplesPerSec=[0-9.]{1,24}, "
)
_MEMORY = re.compile(r"\b(?:MaxMemAllocated=|Max_MA )\s?([0-9.]{1,16})\s?GB")
_CACHED = re.compile(r"\bMax_CA ([0-9.]{1,16}) GB")


def _fill(log: RunLog) -> None:
    rates: list[float] = []
    for number, line in log_lines(log.file, "amples", "Max_MA"):
        match = _PIPELINE.search(line) or _TIMER.search(line)
        if match is not None and log.first_time(int(match["step"])):
            step = int(match["step"])
            rates.append(number_in(match["rate"]))
            if "time" in match.re.groupindex:
                earlier = log.told("steps_done")
                since = step - earlier if isinstance(earlier, int) and earlier < step else 1
                log.timed.append(Stretch(since, number_in(match["time"])))
                log.train.append((step, number_in(match["loss"])))
            log.say("steps_done", step or None, number)
            log.speed_line = number
        for pattern, kind in ((_MEMORY, ALLOCATED), (_CACHED, RESERVED)):
            if memory := pattern.search(line):
                log.memory(kind, number_in(memory[1]), number)
    settled = [rate for rate in rates[max(1, len(rates) // 10) :] if rate > 0]
    if settled:
        log.say("samples_per_second", median(settled), log.speed_line)
        log.notes["speed_scope"] = "whole job"
    for name, value, source in engine_values(log.file, log_lines(log.file, "[config.py:")):
        if value is not None:
            log.values.setdefault(name, (name, value, source))


READER = StdoutReader("deepspeed_stdout", "deepspeed", "amples", _SIGNATURE, _fill)
