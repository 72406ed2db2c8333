"""Output of timm's train.py.

    Train: 0 [  50/1251 (  4%)]  Loss: 6.92 (6.94)  Time: 0.412s, 2483.22/s  (0.5s, 2000.00/s)  ...

Epochs and updates count from 0; the first time and rate are those of the last update, the ones in
brackets a mean since the epoch began. The rate is in samples per second of all devices. Source:
train.py of huggingface/pytorch-image-models.
"""

import re
from statistics import median

from compute_budget_planner.readers.log_lines import log_lines, number_in
from compute_budget_planner.readers.run_log import RunLog
from compute_budget_planner.readers.stdout_reader import StdoutReader

_STEP = re.compile(
    r"\bTrain: (?P<epoch>\d{1,6}) \[\s{0,8}(?P<done>\d{1,9})/(?P<all>\d{1,9}) \(\s{0,4}\d{1,3}%\)\]"
)
_LOSS = re.compile(r"\bLoss:\s{1,4}([-+0-9.a-z]{1,20})")
_TIME = re.compile(r"\bTime: ([0-9.]{1,16})s,\s{1,8}([0-9.]{1,16})/s")
_MODEL = re.compile(r"\bModel (\S{1,80}) created, param count:\s?(\d{1,15})")
_WORLD = re.compile(r"\bProcess 0, total (\d{1,6}),")
_EPOCHS = re.compile(r"\bScheduled epochs: (\d{1,6})\b")


def _fill(log: RunLog) -> None:
    rates: list[float] = []
    for number, line in log_lines(log.file, "Train: ", "param count", "Process 0", "Scheduled ep"):
        if (match := _STEP.search(line)) and (time := _TIME.search(line, match.end())):
            if _read_step(log, match, line, number):
                rates.append(number_in(time[2]))
        elif match := _MODEL.search(line):
            log.say("model", match[1], number)
            log.say("params_total", match[2], number)
        elif match := _WORLD.search(line):
            log.say("n_gpus", match[1], number)
        elif match := _EPOCHS.search(line):
            log.say("epochs", match[1], number)
    settled = [rate for rate in rates[max(1, len(rates) // 10) :] if rate > 0]
    if settled:
        log.say("samples_per_second", median(settled), log.speed_line)
        log.notes["speed_scope"] = "whole job"
    epochs, per_epoch = log.told("epochs"), log.notes.get("updates_per_epoch")
    done = log.told("steps_done")
    if epochs is not None and isinstance(per_epoch, int) and isinstance(done, int):
        log.finished = done >= int(str(epochs)) * per_epoch


def _read_step(log: RunLog, match: re.Match[str], line: str, number: int) -> bool:
    """Take one update; another rank's copy is none."""
    per_epoch = int(match["all"])
    step = int(match["epoch"]) * per_epoch + int(match["done"]) + 1
    if not log.first_time(step):
        return False
    if loss := _LOSS.search(line, match.end()):
        log.train.append((step, number_in(loss[1])))
    log.say("steps_done", step, number)
    log.notes["updates_per_epoch"] = per_epoch
    log.speed_line = number
    return True


READER = StdoutReader("timm_stdout", "timm", "Train: ", _STEP, _fill)
