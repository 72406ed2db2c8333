"""Output of modded-nanoGPT: `step:3/5100 train_loss:8.7 train_time:420ms step_avg:140ms`.

Its timer stands still during validation and is set to zero once the first steps are over, so the
last `step_avg` is the mean of training alone (`nan` before), and `train_time` its duration. The
log begins with the program's own source, where the hyperparameters stand, and `nvidia-smi`; the
source is parsed, never run. Source: train_gpt.py of KellerJordan/modded-nanogpt.
"""

import re

from compute_budget_planner.readers.log_lines import log_lines, number_in
from compute_budget_planner.readers.logged_source import source_options
from compute_budget_planner.readers.nvidia_smi import devices_in_use
from compute_budget_planner.readers.run_log import ALLOCATED, RESERVED, RunLog
from compute_budget_planner.readers.stdout_reader import StdoutReader

_STEP = re.compile(
    r"^step:(?P<done>\d{1,12})/(?P<total>\d{1,12})\s(?P<losses>.{0,200}?)"
    r"train_time:(?P<time>\d{1,15})ms\sstep_avg:(?P<mean>[0-9.]{1,20}|nan)ms",
)
_LOSS = re.compile(r"\b(train|val)_loss:([-+0-9.a-z]{1,20})")
_PEAK = re.compile(
    r"peak memory (?:consumption|allocated): (\d{1,9}) MiB(?: reserved: (\d{1,9}) MiB)?"
)
_PAIR = re.compile(r"(?<!\S)([a-z_]{1,40}):([\w.+-]{1,80})(?=\s|$)")
_FACTS = {
    "world_size": "n_gpus",
    "grad_accum_steps": "grad_accum_steps",
    "model_params": "params_total",
    "num_heads": "n_heads",
    "num_kv_heads": "n_kv_heads",
    "train_seq_len": "seq_len",
    "tie_embeddings": "tied_embeddings",
    "iterations": "max_steps",
}
_TABLE_STEPS = 13
"""Step 12 is the first with a mean: the steps before were dropped from the timer."""


def _fill(log: RunLog) -> None:
    for name, raw, line in source_options(log.file):
        log.option(name, raw, line)
    device, count, where = devices_in_use(log.file)
    log.say("gpu", device, where)
    log.say("n_gpus", count, where)
    capped = False
    for number, line_text in log_lines(log.file, ":"):
        if match := _STEP.match(line_text):
            _read_step(log, match, number)
        elif match := _PEAK.match(line_text):
            log.memory(ALLOCATED, int(match[1]) / 1024, number)
            if match[2]:
                log.memory(RESERVED, int(match[2]) / 1024, number)
        elif line_text.startswith("stopping_early"):
            capped = True
        elif not log.steps_seen:
            _read_setting(log, line_text, number)
    done, total = log.told("steps_done"), log.told("max_steps")
    log.finished = capped or done == total


def _read_step(log: RunLog, match: re.Match[str], number: int) -> None:
    done, mean = int(match["done"]), number_in(match["mean"])
    for name, text in _LOSS.findall(match["losses"]):
        (log.train if name == "train" else log.validation).append((done, number_in(text)))
    log.steps_seen.add(done)
    log.clock.append((done, int(match["time"]) / 1000))
    log.speed_line = number
    log.say("steps_done", done or None, number)
    log.say("max_steps", int(match["total"]), number)
    log.say("wall_clock_hours", int(match["time"]) / 3_600_000 or None, number)
    if mean > 0 and done >= _TABLE_STEPS:
        log.say("step_seconds", mean / 1000, number)


def _read_setting(log: RunLog, line: str, number: int) -> None:
    for name, text in _PAIR.findall(line[:1000]):
        if name in _FACTS:
            log.say(_FACTS[name], text, number)
    if match := re.search(r"\bdataset:([\w.-]{1,80})\s+train_shards:", line):
        log.say("dataset", match[1], number)
    if match := re.search(r"\btrain_batch_tokens:(\d{1,15})\b", line):
        log.notes["tokens_per_step"] = int(match[1])


READER = StdoutReader("modded_nanogpt_stdout", "nanogpt", "step_avg:", _STEP, _fill)
