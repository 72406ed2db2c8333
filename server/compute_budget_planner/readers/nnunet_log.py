"""What nnU-Net prints while it trains: configuration, epochs, times (format `nnunet_log`).

An epoch is 250 iterations of training and 50 of validation whatever the size of the data set
(nnU-Net, Isensee et al. 2021, doi:10.1038/s41592-020-01008-z; `nnUNetTrainer` in its repository).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Basis, Layer, Problem, Reading, SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts

_ITERATIONS = 250
_BATCH = re.compile(r"'batch_size': (\d{1,6})\b")
_PATCH = re.compile(r"'patch_size': \[(\d{1,5}(?:, \d{1,5}){1,2})\]")
_EPOCH = re.compile(r"^[\d: .-]+: Epoch (\d{1,7})\s*$")
_SECONDS = re.compile(r"Epoch time: (\d{1,7}(?:\.\d{1,4})?) s")
_CASES = re.compile(r"This split has (\d{1,9}) training and \d+ validation cases")
_DONE = re.compile(r"^[\d: .-]+: Training done\.")
_WARM_UP_EPOCHS = 5
_MARK = "This is the configuration used by this training"


@dataclass(frozen=True)
class NnunetLog:
    """Facts of a log as (name, value, place), and whether the training came to its end."""

    values: tuple[DirectValue, ...]
    finished: bool
    seconds_at: str


def is_nnunet(text: str) -> bool:
    """Tell whether nnU-Net wrote the text."""
    return _MARK in text and "nnU-Net" in text


def nnunet_log(file: SourceFile) -> NnunetLog:
    """Return what the lines of nnU-Net say; whole epochs count, the last line may be cut off."""
    found: dict[str, tuple[float, str]] = {}
    seconds: list[float] = []
    done, last, at = False, -1, ""
    for number, line in enumerate(file.lines, start=1):
        if match := _BATCH.search(line):
            found.setdefault("micro_batch_size", (int(match[1]), file.at(number)))
            if patch := _PATCH.search(line):
                size = int(patch[1].rsplit(", ", maxsplit=1)[-1])
                found.setdefault("image_size", (size, file.at(number)))
        elif match := _EPOCH.match(line):
            last = int(match[1])
        elif match := _SECONDS.search(line):
            seconds.append(float(match[1]))
            at = file.at(number)
            found["steps_done"] = ((last + 1) * _ITERATIONS, at)
            if done or last < 0:
                found.pop("steps_done")
        elif match := _CASES.search(line):
            found.setdefault("dataset_examples", (int(match[1]), file.at(number)))
        done = done or _DONE.match(line) is not None
    settled = seconds[_WARM_UP_EPOCHS:] or seconds
    if settled:
        found["step_seconds"] = (median(settled) / _ITERATIONS, at)
    if done and last >= 0:
        found["epochs"] = (last + 1, at)
    values = tuple((name, value, place) for name, (value, place) in found.items())
    return NnunetLog(values, done, at)


def nnunet_problems(log: NnunetLog) -> Iterator[Problem]:
    """Yield what a reader of the facts should know."""
    if log.seconds_at:
        text = "an nnU-Net epoch is 250 steps; the step time holds its 50 validation steps too"
        yield Problem(log.seconds_at, text)
    if not log.finished:
        yield Problem(log.seconds_at, "the log ends before the training does")


class NnunetLogReader:
    """Reader of the standard output and of the log files of nnU-Net."""

    format = "nnunet_log"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether nnU-Net wrote the text."""
        return not file.name.endswith((".md", ".py")) and is_nnunet(file.text)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return batch, patch, epochs done and the time of a step."""
        log = nnunet_log(file)
        values = [("framework", "nnu-net", file.path), *log.values]
        facts, problems = direct_facts(values, Basis.MEASURED, Layer.CONFIG, reference)
        return Reading(
            path=file.path,
            format=self.format,
            kind="log",
            measured=facts,
            problems=(*problems, *nnunet_problems(log)),
            finished=log.finished,
        )


READER = NnunetLogReader()
