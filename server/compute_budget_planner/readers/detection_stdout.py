"""Output of maskrcnn-benchmark and Detectron2: `eta: ...  iter: 20  loss: 1.2 (1.4)  time: 0.32`.

Of `time: median (mean)` the first is the median of recent iterations; the mean of the whole run
stands at its end (`2.2089 s / it`). Memory is in MiB, as tensors hold it. maskrcnn counts
iterations from 1, Detectron2 from 0. The configuration printed at the start has one batch size
for training (SOLVER) and one for testing. Source: trainer.py of
facebookresearch/maskrcnn-benchmark, detectron2/utils/events.py.
"""

import re

from compute_budget_planner.readers.durations import elapsed_hours
from compute_budget_planner.readers.log_lines import log_lines, number_in
from compute_budget_planner.readers.run_log import ALLOCATED, RunLog
from compute_budget_planner.readers.stdout_reader import StdoutReader
from compute_budget_planner.readers.step_speed import Stretch

_STEP = re.compile(r"\b(?:iter|Iteration)\s?: (\d{1,12})\b")
_TIME = re.compile(r"\btime\s?: ([0-9.]{1,20})\b")
_HALLMARK = re.compile(
    r"\beta\s?: [\d:, day]{4,30}\b(?:iter|Iteration)\s?: \d{1,12}\b"
    r"|\bIteration: \d{1,12}\s+eta\s?: \d"
)
_LOSS = re.compile(r"\b(?:total_loss|loss)\s?: ([-+0-9.a-z]{1,20})")
_MEMORY = re.compile(r"\b(?:max[ _]mem|memory)\s?: ([0-9.]{1,20})")
_TOTAL = re.compile(
    r"(?:Total training time: (?P<whole>.{5,40}?) \((?P<mean>[0-9.]{1,20}) s / it\)"
    r"|Overall training speed: \d+ iterations in .{5,40}? \((?P<speed>[0-9.]{1,20}) s / it\)"
    r"|Total training time: (?P<wall>[\d:.]{5,40}|\d+ days?, [\d:.]{5,30}))"
)
_RATE = re.compile(r"(?:Training perf is: |train_perf_fps : )([0-9.]{1,24})")
_DEVICES = re.compile(r"\bgpu_count : (\d{1,6})\b|\bUsing (\d{1,6}) GPUs\b")
_SECTION = re.compile(r"^(?:.{0,120}\bconfig : )?([A-Z][A-Z_]{2,30}):\s*(.*)$")
_MEMBER = re.compile(r"^  ([A-Z][A-Z_]{2,40}): (.{1,200}?)\s*$")
_CONFIGURED = {
    ("SOLVER", "IMS_PER_BATCH"): "global_batch_size",
    ("SOLVER", "MAX_ITER"): "max_steps",
    ("SOLVER", "BASE_LR"): "learning_rate",
    ("DATASETS", "TRAIN"): "dataset",
}


def _fill(log: RunLog) -> None:
    section = ""
    counts_from_zero = "max_mem:" in log.file.text
    for number, line in log_lines(log.file):
        if (match := _STEP.search(line)) and (time := _TIME.search(line, match.end())):
            step = int(match[1]) + int(counts_from_zero)
            _read_step(log, step, number_in(time[1]), line, number)
        elif match := _TOTAL.search(line):
            _read_end(log, match, number)
        elif match := _DEVICES.search(line):
            log.say("n_gpus", match[1] or match[2], number)
        elif match := _SECTION.match(line):
            section = match[1]
            if section == "DTYPE":
                log.say("precision", match[2].strip(), number)
        elif match := _MEMBER.match(line):
            _read_member(log, section, match, number)
        if rate := _RATE.search(line):
            log.say("samples_per_second", number_in(rate[1]), number)
    done, planned = log.told("steps_done"), log.told("max_steps")
    if log.finished is None and isinstance(done, int) and str(planned).isdecimal():
        log.finished = done >= int(str(planned))


def _read_step(log: RunLog, step: int, seconds: float, line: str, number: int) -> None:
    if memory := _MEMORY.search(line):
        log.memory(ALLOCATED, number_in(memory[1]) / 1024, number)
    if not log.first_time(step):
        return
    earlier = log.told("steps_done")
    since = step - earlier if isinstance(earlier, int) and earlier < step else max(step, 1)
    log.timed.append(Stretch(since, seconds))
    if loss := _LOSS.search(line):
        log.train.append((step, number_in(loss[1])))
    log.say("steps_done", step or None, number)
    log.speed_line = number


def _read_end(log: RunLog, match: re.Match[str], number: int) -> None:
    mean = number_in(match["mean"] or match["speed"] or "")
    if mean > 0:
        log.say("step_seconds", mean, number)
    try:
        hours = elapsed_hours(match["whole"] or match["wall"] or "")
    except ValueError:
        return
    log.say("wall_clock_hours", hours or None, number)
    log.finished = True


def _read_member(log: RunLog, section: str, match: re.Match[str], number: int) -> None:
    fact = _CONFIGURED.get((section, match[1]))
    if fact == "dataset":
        names = re.findall(r"[\w.-]+", match[2])
        log.say("dataset", " + ".join(names)[:200] or None, number)
    elif fact is not None:
        log.say(fact, match[2], number)


READER = StdoutReader("detection_stdout", "detectron2", "eta", _HALLMARK, _fill)
