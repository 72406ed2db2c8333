"""A job's log as text: frame of the job, the Trainer's own output and progress bars together.

Each tells a part: the frame, or the scheduler's report at the end, the whole duration and the
GPUs, the Trainer its batch and steps, the bar the speed. Of two that tell the same the first in
this order counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.accounting_report import is_report, report_values
from compute_budget_planner.readers.banners import Banner, find_banner
from compute_budget_planner.readers.contract import (
    Basis,
    Layer,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.hf_results import run_values
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.progress_bars import MainBar, bar_lines, main_bar
from compute_budget_planner.readers.trainer_output import (
    TrainingBlock,
    block_values,
    metrics_line,
    training_block,
)

_NOT_LOGS = (".md", ".py", ".sh", ".ipynb", ".yaml", ".yml", ".json", ".toml", ".csv", ".jsonl")
_SETTLED_STEPS = 20


@dataclass(frozen=True)
class _Log:
    file: SourceFile
    banner: Banner | None
    block: TrainingBlock | None
    metrics: Node | None
    bar: MainBar | None
    epilogue: tuple[list[DirectValue], bool] | None

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
        if self.banner is not None:
            return self.banner.succeeded
        if self.epilogue is not None:
            return self.epilogue[1]
        if self.metrics is not None:
            return True
        if self.bar is None:
            return None
        if self.counts_steps:
            return self.bar.complete
        return None if self.bar.complete else False


class LogTextReader:
    """Standard output of a training job."""

    format = "log_text"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a frame, a training block, printed metrics or a bar stands in the text."""
        if file.name.lower().endswith(_NOT_LOGS):
            return False
        log = _parsed(file)
        return any(part is not None for part in (log.banner, log.block, log.metrics, log.bar))

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return what the log measures; a run without an end gives no duration.

        Raises:
            FormatError: never; what is missing is a problem of the reading.
        """
        log = _parsed(file)
        known: dict[str, DirectValue] = {}
        for value in _values(log):
            if value[1] is not None:
                known.setdefault(value[0], value)
        facts, problems = direct_facts(known.values(), Basis.MEASURED, Layer.CONFIG, reference)
        return Reading(
            path=file.path,
            format=self.format,
            kind="log",
            measured=facts,
            problems=(*problems, *_problems(log)),
            job_name=log.banner.job_name if log.banner else "",
            finished=log.finished,
        )


def _parsed(file: SourceFile) -> _Log:
    # Only line feeds part lines here: bars redraw themselves with carriage returns.
    lines = file.text.split("\n")
    return _Log(
        file=file,
        banner=find_banner(lines),
        block=training_block(lines),
        metrics=metrics_line(lines),
        bar=main_bar(bar_lines(lines)),
        epilogue=report_values(file, lines) if is_report(file.text) else None,
    )


def _values(log: _Log) -> Iterator[DirectValue]:
    if log.banner is not None:
        yield from _banner_values(log.file, log.banner)
    if log.epilogue is not None:
        yield from log.epilogue[0]
    if log.block is not None:
        yield from block_values(log.block, log.file.path)
        yield "n_gpus", log.block.n_gpus, log.file.path
    if log.bar is not None:
        yield from _bar_values(log, log.bar)
    if log.metrics is not None:
        steps = log.block.facts.get("max_steps") if log.block else None
        members = dict(log.metrics.mapping)
        if steps is not None:
            members.setdefault("global_step", Node(steps[0], steps[1]))
        yield from run_values(Node(members, log.metrics.line), log.file.at(log.metrics.line))
    if log.bar is not None and log.counts_steps and log.bar.complete and log.banner is None:
        yield "wall_clock_hours", log.bar.seconds / 3600, log.file.at(log.bar.line)


def _banner_values(file: SourceFile, banner: Banner) -> Iterator[DirectValue]:
    yield "wall_clock_hours", banner.duration_hours, file.at(banner.end_line)
    where = file.at(banner.gpus_line)
    yield "gpus_per_node", banner.gpus_on_node, where
    if not banner.several_nodes:
        yield "n_gpus", banner.gpus_on_node, where


def _bar_values(log: _Log, bar: MainBar) -> Iterator[DirectValue]:
    where = log.file.at(bar.line)
    seconds = bar.seconds_per_iteration
    if log.counts_steps:
        yield "steps_done", bar.done, where
        yield "max_steps", bar.total, where
        yield "step_seconds", seconds, where
    elif seconds is not None:
        accumulation = (log.block.grad_accum_steps if log.block else None) or 1
        yield "step_seconds", seconds * accumulation, where


def _problems(log: _Log) -> Iterator[Problem]:
    banner, bar = log.banner, log.bar
    if banner is not None and banner.end is None:
        text = "the job has a `Start:` but no `End:`: it failed, was stopped or still runs"
        yield Problem(log.file.at(banner.start_line), text)
    elif banner is not None and not banner.succeeded:
        text = f"the job ended with exit code {banner.exit_code}; its duration is not used"
        yield Problem(log.file.at(banner.end_line), text)
    elif banner is not None and banner.duration_hours is None:
        text = "`Start:` and `End:` cannot be compared; state `wall_clock_hours`"
        yield Problem(log.file.at(banner.end_line), text)
    if banner is not None and banner.several_nodes:
        text = "`GPUs:` counts one of several nodes; state `n_gpus`"
        yield Problem(log.file.at(banner.gpus_line or banner.start_line), text)
    if bar is None:
        return
    where = log.file.at(bar.line)
    if bar.seconds_per_iteration is None:
        yield Problem(where, "too little has passed on the progress bar for a step time")
    elif bar.iterations < _SETTLED_STEPS:
        text = f"the step time comes from {bar.iterations} iterations and includes their warm-up"
        yield Problem(where, text)
    if not log.counts_steps and not (log.block and log.block.grad_accum_steps):
        text = (
            "the progress bar counts loop iterations, taken as optimizer steps; with gradient "
            "accumulation state `step_seconds`"
        )
        yield Problem(where, text)


READER = LogTextReader()
