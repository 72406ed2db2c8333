"""A job's log as text: the Trainer's own output, progress bars and home-made lines together.

Each tells a part: what frames the log the whole duration and the GPUs, the Trainer, DeepSpeed and
Accelerate the configuration, the bar or the lines of the loop the speed. Of two that tell the same
the first in this order counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers import accelerate_output
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.deepspeed_output import engine_values
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.hf_results import run_values
from compute_budget_planner.readers.job_frame import JobFrame, job_frame
from compute_budget_planner.readers.log_lines import is_log_name, log_lines, split_lines
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.progress_bars import BarLine, MainBar, bar_lines, main_bar
from compute_budget_planner.readers.run_log import RunLog
from compute_budget_planner.readers.step_lines import StepLines, step_lines
from compute_budget_planner.readers.trainer_output import (
    TrainingBlock,
    block_values,
    logged_losses,
    metrics_line,
    printed_examples,
    training_block,
)

_SETTLED_STEPS = 20
_SETTLED_SECONDS = 60


@dataclass(frozen=True)
class _Log:
    file: SourceFile
    frame: JobFrame
    block: TrainingBlock | None
    metrics: Node | None
    states: list[BarLine]
    bar: MainBar | None
    steps: StepLines | None

    @property
    def counts_steps(self) -> bool:
        """Whether one tick of the bar is one optimizer step."""
        bar = self.bar
        if bar is None:
            return False
        if self.block is not None and "max_steps" in self.block.facts:
            return self.block.facts["max_steps"][0] == bar.total
        return bar.rounds == 1 and "epoch" not in bar.description.lower()

    @property
    def finished(self) -> bool | None:
        """Whether the run ended by itself, as far as the log tells."""
        if self.metrics is not None:
            return True
        if self.bar is None:
            steps = self.steps
            return steps.done >= steps.total if steps is not None and steps.total else None
        if self.counts_steps:
            return self.bar.complete
        return None if self.bar.complete else False


class LogTextReader:
    """Standard output of a training job."""

    format = "log_text"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a frame, a training block, printed metrics, a bar or steps stand in it."""
        if not is_log_name(file):
            return False
        log = _parsed(file)
        parts = (log.block, log.metrics, log.bar, log.steps)
        return log.frame.job_ran or any(part is not None for part in parts)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return what the log measures; a run without an end gives no duration.

        Raises:
            FormatError: never; what is missing is a problem of the reading.
        """
        parsed = _parsed(file)
        log = RunLog(file, frame=parsed.frame)
        for name, value, source in _values(parsed):
            if value is not None:
                log.values.setdefault(name, (name, value, source))
        log.finished = parsed.finished
        _tell_bar(log, parsed)
        if parsed.steps is not None and parsed.bar is None:
            _tell_steps(log, parsed.steps)
        else:
            log.train, log.validation = logged_losses(split_lines(file))
            log.loss_unit = "thousandths of an epoch"
        return log.reading(self.format, reference)


@lru_cache(maxsize=2)
def _parsed(file: SourceFile) -> _Log:
    # Only line feeds part lines here: bars redraw themselves with carriage returns.
    lines = split_lines(file)
    states = bar_lines(lines) if "%|" in file.text else []
    return _Log(
        file=file,
        frame=job_frame(file),
        block=training_block(lines) if "Running training" in file.text else None,
        metrics=metrics_line(lines) if "train_runtime" in file.text else None,
        states=states,
        bar=main_bar(states),
        steps=step_lines(file),
    )


def _values(log: _Log) -> Iterator[DirectValue]:
    if log.block is not None:
        yield from block_values(log.block, log.file)
        yield "n_gpus", log.block.n_gpus, log.file.path
    if "[config.py:" in log.file.text:
        yield from engine_values(log.file, log_lines(log.file, "[config.py:"))
    if "Num processes:" in log.file.text:
        marks = (*accelerate_output.MARKS, "ds_config:")
        yield from accelerate_output.state_values(log.file, log_lines(log.file, *marks))
    if log.bar is not None:
        yield from _bar_values(log, log.bar)
    if log.metrics is not None:
        steps = log.block.facts.get("max_steps") if log.block else None
        members = dict(log.metrics.mapping)
        if steps is not None:
            members.setdefault("global_step", Node(steps[0], steps[1]))
        yield from run_values(Node(members, log.metrics.line), log.file.at(log.metrics.line))
    if "num_rows" in log.file.text:
        yield from printed_examples(log.file)
    if log.bar is not None and log.counts_steps and log.bar.complete and not log.frame.job_ran:
        yield "wall_clock_hours", log.bar.seconds / 3600, log.file.at(log.bar.line)


def _bar_values(log: _Log, bar: MainBar) -> Iterator[DirectValue]:
    where = log.file.at(bar.line)
    seconds = bar.seconds_per_iteration if _settled(bar) else None
    if log.counts_steps:
        yield "steps_done", bar.done, where
        yield "max_steps", bar.total, where
        yield "step_seconds", seconds, where
    elif seconds is not None:
        accumulation = (log.block.grad_accum_steps if log.block else None) or 1
        yield "step_seconds", seconds * accumulation, where


def _settled(bar: MainBar) -> bool:
    return bar.iterations >= _SETTLED_STEPS or bar.seconds >= _SETTLED_SECONDS


def _tell_bar(log: RunLog, parsed: _Log) -> None:
    """Say what a bar leaves open, and note the speed between its states."""
    bar = parsed.bar
    if bar is None:
        return
    if bar.seconds_per_iteration is None:
        log.ask(bar.line, "too little has passed on the progress bar for a step time")
    elif not _settled(bar):
        text = (
            f"{bar.iterations} iterations in {bar.seconds:.0f} s are the warm-up: too little for "
            "a step time; state `step_seconds`"
        )
        log.ask(bar.line, text)
    elif bar.iterations < _SETTLED_STEPS:
        text = f"the step time comes from {bar.iterations} iterations and includes their warm-up"
        log.ask(bar.line, text)
    if parsed.counts_steps:
        log.clock = [(s.done, s.seconds) for s in parsed.states if s.total == bar.total]
        log.clock_seconds = 10.0
        if not _settled(bar):
            log.clock = []
    elif not (parsed.block and parsed.block.grad_accum_steps):
        text = (
            "the progress bar counts loop iterations, taken as optimizer steps; with gradient "
            "accumulation state `step_seconds`"
        )
        log.ask(bar.line, text)


def _tell_steps(log: RunLog, steps: StepLines) -> None:
    """Take a home-made loop's lines."""
    log.train, log.validation = steps.train, steps.validation
    log.timed, log.clock, log.clock_seconds = steps.timed, steps.clock, steps.clock_seconds
    log.speed_line = steps.line
    log.values.setdefault("steps_done", ("steps_done", steps.done or None, log.file.at(steps.line)))
    log.say("max_steps", steps.total, steps.line)
    if steps.unclear_times and not steps.timed and not steps.clock:
        text = "the lines give a time but not of how many steps; state `step_seconds`"
        log.ask(steps.line, text)
    elif steps.timed or steps.clock:
        text = (
            "the steps of these lines are taken as optimizer steps; with gradient accumulation "
            "state `step_seconds`"
        )
        log.ask(steps.line, text)


READER = LogTextReader()
