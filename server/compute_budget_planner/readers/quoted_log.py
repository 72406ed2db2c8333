"""A page that quotes a log in a code block: a hint at what a run looked like, no measurement.

Whose run it was, and on what, the page may or may not say, so speeds, memory and durations are
named in a problem and given no value. What all quoted logs of the page agree on is kept.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers import (
    composer_stdout,
    fairseq_stdout,
    megatron_stdout,
    mmengine_stdout,
    nanogpt_stdout,
    torchtitan_stdout,
)
from compute_budget_planner.readers.contract import Problem, Reading, SourceFile
from compute_budget_planner.readers.stdout_reader import StdoutReader
from compute_budget_planner.workload.vocabulary import VOCABULARY

_LOGS = (
    megatron_stdout.READER,
    torchtitan_stdout.READER,
    composer_stdout.READER,
    fairseq_stdout.READER,
    nanogpt_stdout.READER,
    mmengine_stdout.READER,
)
_BLOCK = re.compile(
    r"^ {0,8}(?P<fence>```+|~~~+)[^\n`]{0,80}\n(?P<body>.*?)^ {0,8}(?P=fence)", re.M | re.S
)
_PAGES = (".md", ".rst", ".markdown")
_MOST_BLOCKS = 200
_KEPT = {"steps_done"}


class QuotedLogReader:
    """A Markdown page with the output of a training run in it."""

    format = "quoted_log"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a code block of the page is a log that a reader knows."""
        if not file.name.lower().endswith(_PAGES):
            return False
        if not any(reader.mark in file.text for reader in _LOGS):
            return False
        return next(_quoted(file), None) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the configuration all quoted logs agree on.

        Raises:
            FormatError: never; what is missing is a problem of the reading.
        """
        readings = [reader.read(block, reference) for reader, block, _ in _quoted(file)]
        lines = [line for _, _, line in _quoted(file)]
        told = [{(fact.name, fact.value) for fact in r.measured} for r in readings]
        common = tuple(
            fact
            for fact in readings[0].measured
            if _is_configuration(fact.name)
            and all((fact.name, fact.value) in facts for facts in told)
        )
        hints = sorted(
            {
                f"{fact.name} {fact.value:.6g}"
                for reading in readings
                for fact in reading.measured
                if not _is_configuration(fact.name) and isinstance(fact.value, int | float)
            }
        )
        text = "a log quoted in a page is a hint, no measurement"
        if hints:
            text += f" ({', '.join(hints[:8])})"
        if len(readings) > 1:
            text += f"; {len(readings)} runs are quoted"
        text += "; pass the log itself, or state the run in `measured_runs`"
        return Reading(
            path=file.path,
            format=self.format,
            kind="log",
            measured=common,
            problems=(Problem(file.at(lines[0]), text),),
        )


def _is_configuration(name: str) -> bool:
    return name in _KEPT or VOCABULARY[name].group != "measured"


def _quoted(file: SourceFile) -> Iterator[tuple[StdoutReader, SourceFile, int]]:
    """Yield the reader, the text and the first line of every quoted log."""
    for count, match in enumerate(_BLOCK.finditer(file.text)):
        if count >= _MOST_BLOCKS:
            return
        line = file.text.count("\n", 0, match.start("body")) + 1
        # Blank lines before the block keep its line numbers those of the page.
        block = replace(file, text="\n" * (line - 1) + match["body"])
        as_log = SourceFile("quoted.log", match["body"])
        for reader in _LOGS:
            if reader.matches(as_log):
                yield reader, block, line
                break


READER = QuotedLogReader()
