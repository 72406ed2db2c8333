"""Whole runs end to end: `python benchmarks/end_to_end.py CORPUS [--write]`.

From the job or config of a run, as its author published it, and the few facts its user would
state, the product predicts the wall-clock; the log of the same run says what it was. The log
stays out of the folder the product sees and is opened after it has answered. Where an early part
of the log or another run of the set shows a speed, the run is predicted once more with it.
"""

import argparse
import re
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from compute_budget_planner.errors import PlannerError
from compute_budget_planner.planner import estimate_run, open_workspace
from compute_budget_planner.requests import MeasuredRun, RunRequest
from compute_budget_planner.results.base import RangeOut
from end_to_end_sets import SETS, EndToEndSet, Log
from reading_corpus import INDEX, files_of

PAGE = Path(__file__).with_name("README.md")
_BEGIN, _END = "<!-- end-to-end:begin -->\n", "<!-- end-to-end:end -->"

_SECONDS = {"hours": 3600.0, "minutes": 60.0, "seconds": 1.0, "ms": 0.001}


@dataclass(frozen=True)
class Answer:
    """A predicted time, in the quantity the log has, or why there is none."""

    predicted: RangeOut | None = None
    refused: str = ""


@dataclass(frozen=True)
class Row:
    """A set with its answers and, in hours (or seconds of a step), the time its log shows."""

    name: str
    unit: str
    plain: Answer
    calibrated: Answer | None
    logged: float | None


def predict(corpus: Path, each: EndToEndSet, *, calibrated: bool = False) -> Answer:
    """Return what the product says of a set from its files and stated facts alone."""
    facts = {name: fact.value for name, fact in each.stated.items()}
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / ".git").mkdir()
        files = [path for unit in each.units for path in _copied(corpus, unit, root)]
        measured = []
        if calibrated and each.earlier is not None:
            earlier = each.earlier
            seen = _copied(corpus, earlier.unit, root, earlier.until) if earlier.unit else []
            said = facts | {name: fact.value for name, fact in earlier.stated.items()}
            measured = [MeasuredRun(files=[*files, *seen], facts=said)]
        request = RunRequest(files=files, facts=facts, measured_runs=measured)
        try:
            result = estimate_run(open_workspace(root), request)
        except PlannerError as error:
            return Answer(refused=error.what)
    if result.missing:
        return Answer(refused="asks for " + ", ".join(f"`{name}`" for name in result.missing))
    of_step = each.log is not None and each.log.of == "step"
    return Answer(result.step_seconds if of_step else result.wall_clock_hours)


def _copied(corpus: Path, unit: str, root: Path, until: str = "") -> list[str]:
    """Put the files of a unit into a project, each up to `until`, and return their paths."""
    paths = files_of(corpus, unit)
    for path in paths:
        content = (corpus / unit / path).read_bytes()
        if until:
            content = content[: content.index(until.encode())]
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return paths


def logged(corpus: Path, log: Log) -> float:
    """Return what a log shows: hours of the run, or seconds of one step.

    Raises:
        ValueError: the log shows no time of that form.
    """
    folder = corpus / log.unit
    text = "".join((folder / path).read_text("utf-8") for path in files_of(corpus, log.unit))
    times = [
        sum(float(value) * _SECONDS[name] for name, value in match.groupdict().items())
        for match in re.finditer(log.pattern, text)
    ]
    if not times:
        raise ValueError(f"{log.unit} shows no time like `{log.pattern}`")
    return statistics.median(times[1:] or times) if log.of == "step" else times[-1] / 3600


def judge(corpus: Path, sets: Sequence[EndToEndSet] = SETS) -> list[Row]:
    """Return a row for each set; its log is read when all has been predicted."""
    answers = [
        (each, predict(corpus, each), predict(corpus, each, calibrated=True)) for each in sets
    ]
    return [
        Row(
            name=each.name,
            unit="s" if each.log is not None and each.log.of == "step" else "h",
            plain=plain,
            calibrated=None if each.earlier is None else with_speed,
            logged=None if each.log is None else logged(corpus, each.log),
        )
        for each, plain, with_speed in answers
    ]


def table(rows: Sequence[Row], sets: Sequence[EndToEndSet] = SETS) -> str:
    """Return the rows as a table, and below it what was stated and measured for each set."""
    lines = [
        "| run | logged | predicted | off by | calibrated | off by |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        truth = "no time" if row.logged is None else f"{row.logged:.3g} {row.unit}"
        cells = [row.name, truth, *_cells(row, row.plain), *_cells(row, row.calibrated)]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "Stated beside the files:", ""]
    lines += [_stated(each) for each in sets]
    return "\n".join(lines) + "\n"


def _stated(each: EndToEndSet) -> str:
    by_source: dict[str, list[str]] = {}
    for name, fact in each.stated.items():
        value = f"{fact.value:.4g}" if isinstance(fact.value, float) else str(fact.value)
        by_source.setdefault(fact.source, []).append(f"`{name}` {value}")
    said = "; ".join(f"{', '.join(facts)} ({source})" for source, facts in by_source.items())
    calibrated = f" Calibrated with {each.earlier.what}." if each.earlier is not None else ""
    return f"- {each.name}: {said or 'nothing'}.{calibrated}"


def shown(page: str) -> str:
    """Return the table a page shows."""
    return page.partition(_BEGIN)[2].partition(_END)[0]


def renewed(page: str, text: str) -> str:
    """Return the page with another table in its place."""
    before, begin, rest = page.partition(_BEGIN)
    return before + begin + text + _END + rest.partition(_END)[2]


def _cells(row: Row, answer: Answer | None) -> list[str]:
    if answer is None:
        return ["no speed", ""]
    if answer.predicted is None:
        return [answer.refused.replace("|", "/"), ""]
    found = answer.predicted
    text = f"{found.expected:.3g} ({found.low:.3g} to {found.high:.3g}) {row.unit}"
    if row.logged is None:
        return [text, ""]
    inside = "inside" if found.low <= row.logged <= found.high else "outside"
    return [text, f"{100 * (found.expected / row.logged - 1):+.0f} %, {inside}"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or write it into README.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path, help="the folder of the public files, by unit")
    parser.add_argument("--write", action="store_true", help="renew the table of README.md")
    options = parser.parse_args(arguments)
    if not (options.corpus / INDEX).is_file():
        parser.error(f"{options.corpus} holds no {INDEX}; the corpus is no part of the project")
    text = table(judge(options.corpus))
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(renewed(page, text), encoding="utf-8")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
