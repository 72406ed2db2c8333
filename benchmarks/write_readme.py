"""Renew the figures of benchmarks/README.md: `python benchmarks/write_readme.py CSV`."""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from coefficients import with_values
from compute_budget_planner.guide.shipped import load_reference
from held_out import references_by_source
from llm import score, score_calibrated
from priors import COEFFICIENTS
from report import Line, Scored, line, lines, table

PAGE = Path(__file__).with_name("README.md")


def figures(path: Path) -> dict[str, str]:
    """Return the tables of the page by the name of their place."""
    reference = load_reference()
    unseen = references_by_source(reference)
    rows = score(path, unseen)
    priors = {cell: each.prior for each in COEFFICIENTS for cell in each.cells}
    unfitted = with_values(reference, priors)
    short = {
        "whole sources left out of the fit": rows,
        "no fit at all": score(path, lambda _: unfitted),
        "one run of the same model and accelerator": score_calibrated(path, unseen, alike=False),
        "… of the same method and precision too": score_calibrated(path, unseen, alike=True),
    }
    return {"speed": _text(lines(rows)), "short": _text(_short_lines(short))}


def stated(page: str) -> dict[str, str]:
    """Return the tables a page shows by the name of their place."""
    return {m.group(2): m.group(3) for m in _places(page)}


def renewed(page: str, tables: Mapping[str, str]) -> str:
    """Return the page with other tables in their places."""
    for match in reversed(_places(page)):
        page = page[: match.start(3)] + tables[match.group(2)] + page[match.end(3) :]
    return page


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="llm_throughput.csv")
    options = parser.parse_args(arguments)
    if not options.data.is_file():
        parser.error(f"{options.data} does not exist; the data files are no part of the project")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(renewed(page, figures(options.data)), encoding="utf-8")
    return 0


def _short_lines(groups: Mapping[str, Sequence[Scored]]) -> list[Line]:
    found = []
    for name, rows in groups.items():
        for group, of in (("all but vTrain", False), ("vTrain", True)):
            kept = [row for row in rows if row.apart is of]
            found.append(replace(line(name, kept), name=f"{name}: {group}"))
    return found


def _places(page: str) -> list[re.Match[str]]:
    return list(re.finditer(r"(<!-- (\w+):begin -->\n)(.*?)<!-- \2:end -->", page, re.S))


def _text(found: Sequence[Line]) -> str:
    return "\n".join(table(found)) + "\n"


if __name__ == "__main__":
    sys.exit(main())
