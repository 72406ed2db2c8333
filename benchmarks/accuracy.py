"""Judge the product against measured runs.

    python benchmarks/accuracy.py --llm CSV --runs CSV --vision CSV --other CSV

The data files are no part of the project; see benchmarks/README.md. Each row is predicted from
what it states alone, with coefficients fitted without its source (held_out.csv); measured columns
are read afterwards. `--shipped` uses the coefficients of the guide as they are.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from compute_budget_planner.guide.shipped import load_reference
from held_out import references_by_source
from llm import score as score_llm
from llm import score_calibrated
from report import (
    Line,
    Scored,
    lines,
    print_table,
    refusals,
    too_many_refused,
    write_predictions,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 when more than 5 % of the rows were refused."""
    options = _options(arguments)
    scored = _scored(options)
    found = {title: lines(rows) for title, rows in scored.items() if rows}
    everything = [row for rows in scored.values() for row in rows]
    if options.predictions:
        write_predictions(options.predictions, everything)
    if options.json:
        figures = {title: [asdict(each) for each in group] for title, group in found.items()}
        print(json.dumps(figures, indent=1))
    else:
        _print(found, everything)
    return 1 if any(too_many_refused(rows) for rows in scored.values()) else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for name, what in (
        ("llm", "speed and memory of language models"),
        ("runs", "GPU-hours of whole runs"),
        ("vision", "speed of image models on one RTX 3090"),
        ("other", "speed of everything else"),
    ):
        parser.add_argument(f"--{name}", type=Path, metavar="CSV", help=what)
    parser.add_argument("--predictions", type=Path, metavar="OUT.csv", help="write every row")
    parser.add_argument("--calibrate", choices=["one-run"], help="give one measured run as well")
    parser.add_argument("--shipped", action="store_true", help="coefficients as in the guide")
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    options = parser.parse_args(arguments)
    paths = [options.llm, options.runs, options.vision, options.other]
    if not any(paths):
        parser.error("name at least one data file; they are no part of the project")
    for path in paths:
        if path is not None and not path.is_file():
            parser.error(f"{path} does not exist; the data files are no part of the project")
    return options


def _scored(options: argparse.Namespace) -> dict[str, list[Scored]]:
    """Return the scored rows by what is scored."""
    found: dict[str, list[Scored]] = {}
    reference = load_reference()
    if options.llm and options.calibrate:
        held_out = references_by_source(reference, shipped=options.shipped)
        for title, alike in (
            ("speed, with one run of the same model and accelerator", False),
            ("speed, with one run of the same method and precision too", True),
        ):
            found[title] = score_calibrated(options.llm, held_out, alike=alike)
        return found
    if options.llm:
        from memory import score as score_memory

        held_out = references_by_source(reference, shipped=options.shipped)
        found["speed of language models and encoders"] = score_llm(options.llm, held_out)
        found["peak memory"] = score_memory(options.llm, reference)
    if options.vision or options.other:
        from vision import score as score_vision

        paths = [path for path in (options.vision, options.other) if path]
        found["models counted per sample"] = score_vision(paths, reference)
    if options.runs:
        from whole_runs import score as score_runs

        found["whole runs"] = score_runs(options.runs, reference)
    return found


def _print(found: dict[str, list[Line]], rows: Sequence[Scored]) -> None:
    for title, group in found.items():
        print_table(title, group)
    refused = refusals(rows)
    if refused:
        print(f"\nRefused {sum(refused.values())} of {len(rows)} rows:")
        for reason, count in refused.items():
            print(f"- {count} × {reason}")


if __name__ == "__main__":
    sys.exit(main())
