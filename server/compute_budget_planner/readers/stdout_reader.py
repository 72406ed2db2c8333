"""A reader of what one framework prints while it trains."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.job_frame import job_frame
from compute_budget_planner.readers.log_lines import is_log_name, log_lines
from compute_budget_planner.readers.run_log import RunLog

_MOST_TRIED = 5_000


@dataclass(frozen=True)
class StdoutReader:
    """Recognises a log by a text that stands in it and a line of a certain form.

    `mark` is looked for first, since it is cheap; `signature` decides on the lines that hold it,
    of which the first thousands are tried. `fill` gathers what the log tells; `framework` says what
    the options in it mean.
    """

    format: str
    framework: str
    mark: str
    signature: re.Pattern[str]
    fill: Callable[[RunLog], None]

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the text holds the framework's own lines."""
        if not is_log_name(file) or self.mark not in file.text:
            return False
        tried = islice(log_lines(file, self.mark), _MOST_TRIED)
        return any(self.signature.search(line) for _, line in tried)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return configuration, speed after the warm-up, memory, losses and whether it ended.

        Raises:
            FormatError: never; what is missing is a problem of the reading.
        """
        log = RunLog(file, self.framework, frame=job_frame(file))
        self.fill(log)
        return log.reading(self.format, reference)
