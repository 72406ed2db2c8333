"""Output of MMEngine and of older MMCV runners.

    Epoch(train)  [1][ 50/500]  lr: 1e-02  eta: 1 day, 3:02:01  time: 0.5  memory: 9232  loss: 1.2
    Epoch [1][50/500]  lr: 1.000e-02, eta: 1:02:01, time: 0.500, data_time: 0.010, memory: 3456

`time` is seconds per iteration and includes loading (`data_time`); memory is MiB that tensors
hold. An iteration is an optimizer step unless gradients are accumulated. Source: LoggerHook in the
documentation of open-mmlab/mmengine.
"""

import re

from compute_budget_planner.readers.log_lines import log_lines, number_in
from compute_budget_planner.readers.run_log import ALLOCATED, RunLog
from compute_budget_planner.readers.stdout_reader import StdoutReader
from compute_budget_planner.readers.step_speed import Stretch

_STEP = re.compile(
    r"\b(?P<by>Epoch|Iter)(?:\(train\))?\s+\[\s?(?P<first>\d{1,12})(?:/(?P<all>\d{1,12}))?\]"
    r"(?:\[\s*(?P<inner>\d{1,12})/\s*(?P<total>\d{1,12})\])?(?=[\s,])"
)
_FIELD = re.compile(r"\b(time|memory|loss): ([-+0-9.a-z]{1,20})")
_MOST_EPOCHS = re.compile(r"max_epochs\s*=\s*(\d{1,9})\b")
_VALIDATION = re.compile(r"\bEpoch\(val\)\s+\[(\d{1,9})\]\[\s*\d+/\s*\d+\](.{0,1000})")
_DEVICES = re.compile(r"\bGPU number: (\d{1,6})\b|\bworld_size = (\d{1,6})\b")


def _fill(log: RunLog) -> None:
    planned = None
    marks = ("time: ", "max_epochs", "Epoch(val)", "GPU number", "world_size")
    for number, line in log_lines(log.file, *marks):
        if "time: " in line and (match := _STEP.search(line)):
            _read_step(log, match, line, number)
        elif match := _VALIDATION.search(line):
            if loss := re.search(r"\bloss: ([-+0-9.a-z]{1,20})", match[2]):
                done = log.told("steps_done")
                log.validation.append((int(str(done or 0)), number_in(loss[1])))
        elif match := _MOST_EPOCHS.search(line):
            planned = int(match[1])
            log.say("epochs", planned or None, number)
        elif match := _DEVICES.search(line):
            log.say("n_gpus", match[1] or match[2], number)
    per_epoch = log.notes.get("iterations_per_epoch")
    done = log.told("steps_done")
    if planned and isinstance(per_epoch, int) and isinstance(done, int):
        log.say("max_steps", planned * per_epoch, log.speed_line)
        log.finished = done + per_epoch > planned * per_epoch
    if log.steps_seen:
        text = "iterations are taken as optimizer steps; with accumulation state `step_seconds`"
        log.ask(log.speed_line, text)


def _read_step(log: RunLog, match: re.Match[str], line: str, number: int) -> None:
    if match["inner"]:
        step = (int(match["first"]) - 1) * int(match["total"]) + int(match["inner"])
        log.notes["iterations_per_epoch"] = int(match["total"])
    else:
        step = int(match["first"])
        if match["all"]:
            log.say("max_steps", int(match["all"]), number)
            log.finished = step >= int(match["all"])
    fields = {name: number_in(text) for name, text in _FIELD.findall(line, match.end())}
    log.memory(ALLOCATED, fields.get("memory", 0.0) / 1024, number)
    if step < 1 or not log.first_time(step):
        return
    earlier = log.told("steps_done")
    since = step - earlier if isinstance(earlier, int) and earlier < step else 1
    log.timed.append(Stretch(since, fields.get("time", 0.0)))
    if "loss" in fields:
        log.train.append((step, fields["loss"]))
    log.say("steps_done", step, number)
    log.speed_line = number


READER = StdoutReader("mmengine_stdout", "mmengine", "time: ", _STEP, _fill)
