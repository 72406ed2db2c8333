"""Logs of one JSON object a line: LLaMA-Factory's `trainer_log.jsonl`, MMEngine's `vis_data`.

    {"current_steps": 10, "total_steps": 180, "loss": 1.2, "elapsed_time": "0:01:40", ...}
    {"lr": 0.01, "data_time": 0.01, "loss": 1.1, "time": 0.5, "memory": 9232, "step": 50}

LLaMA-Factory's `elapsed_time` counts from the start of this session, its `remaining_time` is an
estimate. MMEngine's `time` is seconds per iteration, its `memory` MiB. Source: LogCallback in
hiyouga/LLaMA-Factory; LoggerHook in open-mmlab/mmengine.
"""

import json
from collections.abc import Iterator, Mapping

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.durations import elapsed_hours
from compute_budget_planner.readers.log_lines import MAX_LINE
from compute_budget_planner.readers.run_log import ALLOCATED, RunLog
from compute_budget_planner.readers.step_speed import Stretch

_ENDINGS = (".jsonl", ".ndjson", ".json", ".log")
_LLAMAFACTORY = {"current_steps", "total_steps", "elapsed_time"}
_MMENGINE = {"time", "data_time", "loss", "memory"}


class JsonLineLogReader:
    """A log with a JSON object a line."""

    format = "json_line_log"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the first object that speaks of training has the keys of a known kind."""
        if not file.name.lower().endswith(_ENDINGS) or file.text.lstrip()[:1] != "{":
            return False
        head = file.text[:20_000]
        return any(
            entry.keys() >= _LLAMAFACTORY or entry.keys() >= _MMENGINE
            for _, entry in _entries(head)
        )

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return steps, speed behind the warm-up, memory and losses.

        Raises:
            FormatError: never; lines that are no JSON are passed over.
        """
        log = RunLog(file)
        for number, entry in _entries(file.text):
            if "current_steps" in entry:
                _read_llamafactory(log, entry, number)
            elif entry.keys() >= _MMENGINE:
                _read_mmengine(log, entry, number)
        done, total = log.told("steps_done"), log.told("max_steps")
        if total is not None:
            log.finished = done == total
            if log.finished and log.clock and log.clock[-1][1] > 0:
                log.say("wall_clock_hours", log.clock[-1][1] / 3600, log.speed_line)
        return log.reading(self.format, reference)


def _entries(text: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("{") and len(line) <= MAX_LINE:
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(entry, dict):
                yield number, entry


def _number(entry: Mapping[str, object], key: str) -> float | None:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e15 else None


def _read_llamafactory(log: RunLog, entry: Mapping[str, object], number: int) -> None:
    step, total = _number(entry, "current_steps"), _number(entry, "total_steps")
    if step is None or step < 0:
        return
    loss, evaluation = _number(entry, "loss"), _number(entry, "eval_loss")
    if loss is not None:
        log.train.append((step, loss))
    if evaluation is not None:
        log.validation.append((step, evaluation))
    log.say("steps_done", int(step) or None, number)
    log.say("max_steps", int(total) if total else None, number)
    try:
        seconds = elapsed_hours(str(entry.get("elapsed_time", ""))) * 3600
    except ValueError:
        return
    log.clock.append((int(step), seconds))
    log.speed_line = number


def _read_mmengine(log: RunLog, entry: Mapping[str, object], number: int) -> None:
    step = _number(entry, "step") or _number(entry, "iter")
    seconds, loss = _number(entry, "time"), _number(entry, "loss")
    log.memory(ALLOCATED, (_number(entry, "memory") or 0.0) / 1024, number)
    if step is None or step < 1 or seconds is None or not log.first_time(int(step)):
        return
    earlier = log.told("steps_done")
    since = int(step) - earlier if isinstance(earlier, int) and earlier < step else 1
    log.timed.append(Stretch(since, seconds))
    if loss is not None:
        log.train.append((step, loss))
    log.say("steps_done", int(step), number)
    log.speed_line = number


READER = JsonLineLogReader()
