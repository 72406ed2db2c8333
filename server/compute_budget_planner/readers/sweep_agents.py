"""Runs that are trials of a sweep and not repetitions of one run."""

from collections.abc import Iterator

from compute_budget_planner.readers.command_line import CommandReading
from compute_budget_planner.readers.contract import Basis, Fact, Layer, Problem


def sweep_trials(training: CommandReading | None, tasks: int) -> Iterator[Fact | Problem]:
    """Yield the trials of `wandb agent --count N` over the tasks of an array.

    Without a count an agent takes trials until the sweep is over, which this file cannot tell.
    """
    words = training.command.words if training is not None else ()
    at = words.index("agent") if "agent" in words else 0
    if training is None or not at or not words[at - 1].endswith("wandb"):
        return
    source = training.command.source
    count = _count(words[at + 1 :])
    if count is None:
        text = "`wandb agent` without `--count` runs until its sweep ends. Give `tuning_trials`."
        yield Problem(source, text)
    else:
        yield Fact("tuning_trials", count * tasks, Basis.DERIVED, source, Layer.COMMAND_LINE)


def _count(words: tuple[str, ...]) -> int | None:
    for index, word in enumerate(words):
        name, _, value = word.partition("=")
        if name == "--count":
            text = value or "".join(words[index + 1 : index + 2])
            return int(text) if text.isdecimal() and 0 < len(text) < 7 and int(text) else None
    return None
