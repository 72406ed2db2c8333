"""Output of fairseq with `--log-format json`: JSON behind the last `|` of a line.

    2021-03-08 12:41:04 | INFO | train_inner | {"wps": "311.8", "num_updates": "10", "wall": "673"}

`wps` are tokens per second of all devices, `wpb` tokens per update, `bsz` sequences per update;
`ups` is rounded too coarsely to be used, and the first update says 0. Numbers are texts. Source:
fairseq/logging of facebookresearch/fairseq.
"""

import json
import re
from statistics import median

from compute_budget_planner.readers.log_lines import log_lines, number_in
from compute_budget_planner.readers.run_log import RunLog
from compute_budget_planner.readers.stdout_reader import StdoutReader

_ENTRY = re.compile(r"\| (train_inner|train|valid) \| (?=\{)")
_PARAMETERS = re.compile(r"num\. (?:shared )?model params: ([\d,]{1,20})")
_DEVICES = re.compile(r"training on (\d{1,6}) devices")
_DONE = re.compile(r"done training in ([0-9.]{1,15}) seconds")


def _fill(log: RunLog) -> None:
    speeds: list[float] = []
    sequences: set[float] = set()
    for number, line in log_lines(log.file, "| {", "model params", "training on", "done training"):
        if match := _ENTRY.search(line):
            entry = _entry(line[match.end() :])
            if match[1] == "train_inner" and _read_update(log, entry, number):
                sequences.add(number_in(entry.get("bsz", "")))
                if (wps := number_in(entry.get("wps", ""))) > 0:
                    speeds.append(wps)
            elif match[1] == "valid":
                step = number_in(entry.get("valid_num_updates", ""))
                log.validation.append((step, number_in(entry.get("valid_loss", ""))))
        elif match := _PARAMETERS.search(line):
            log.say("params_total", match[1], number)
        elif match := _DEVICES.search(line):
            log.say("n_gpus", match[1], number)
        elif match := _DONE.search(line):
            log.say("wall_clock_hours", number_in(match[1]) / 3600, number)
            log.finished = True
    settled = speeds[max(1, len(speeds) // 10) :]
    if settled:
        log.say("tokens_per_second", median(settled), log.speed_line)
        log.notes["speed_scope"] = "whole job"
    if len(sequences) == 1 and (batch := sequences.pop()) >= 1:
        log.say("global_batch_size", batch, log.speed_line)


def _entry(text: str) -> dict[str, str]:
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {str(k): str(v) for k, v in loaded.items()} if isinstance(loaded, dict) else {}


def _read_update(log: RunLog, entry: dict[str, str], number: int) -> bool:
    """Take one logged update; another rank's copy is none."""
    step = number_in(entry.get("num_updates", ""))
    if not 0 < step < 1e12 or not log.first_time(int(step)):
        return False
    log.clock.append((int(step), number_in(entry.get("wall", ""))))
    log.train.append((step, number_in(entry.get("loss", ""))))
    log.say("steps_done", int(step), number)
    log.speed_line = number
    return True


READER = StdoutReader("fairseq_stdout", "fairseq", '"num_updates"', _ENTRY, _fill)
