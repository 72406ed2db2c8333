"""How much of what real files say is read: right, wrong, missing and invented facts by format.

    python benchmarks/reading.py CORPUS EXPECTED.jsonl [--json] [--unit NAME] [--verbose] [--report]

CORPUS holds a folder for each unit of EXPECTED.jsonl (see reading_corpus.py). Units without a
folder are counted apart. The exit status is 1 when more than 1 % of the expected facts are wrong
or a value is given for one that the line leaves open, unless --report is given.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from compute_budget_planner.guide.shipped import load_reference
from reading_corpus import expected_lines, files_of, read_unit
from reading_verdicts import (
    BESIDE,
    INVENTED,
    MISSING,
    RIGHT,
    UNKNOWN_WORD,
    WEAKER_RIGHT,
    WEAKER_WRONG,
    WRONG,
    Verdict,
    verdicts,
)

MOST_WRONG = 0.01
"""A larger share of wrong facts among the expected ones is a failure."""


@dataclass(frozen=True)
class Score:
    """Counts of facts of some lines; `expected` is right + wrong + missing."""

    name: str
    lines: int
    expected: int
    right: int
    wrong: int
    missing: int
    invented: int

    @property
    def passes(self) -> bool:
        """Whether wrong facts are few and nothing is invented."""
        return self.wrong <= MOST_WRONG * self.expected and self.invented == 0


@dataclass(frozen=True)
class Judged:
    """Every verdict, and the units and problems met on the way."""

    verdicts: Sequence[Verdict]
    units: Sequence[tuple[str, str]]
    absent: Sequence[str]
    refused: Sequence[str]


def judge(corpus: Path, expected: Path, unit: str = "") -> Judged:
    """Read and judge every unit whose name contains `unit`."""
    reference = load_reference()
    found: list[Verdict] = []
    units, absent, refused = [], [], []
    for line in expected_lines(expected):
        if unit not in line.unit:
            continue
        folder = corpus / line.unit
        files = files_of(corpus, line.unit)
        if not files:
            absent.append(line.unit)
            continue
        units.append((line.unit, line.format))
        reading = read_unit(folder, files, reference)
        if reading.refused:
            refused.append(f"{line.unit}: {reading.refused}")
        found += verdicts(line, reading, folder, reference)
    return Judged(found, units, absent, refused)


def scores(judged: Judged) -> list[Score]:
    """Return a score per format and one in all, which stands last."""
    formats = list(dict.fromkeys(format_ for _, format_ in judged.units))
    return [_score(name, judged, {name}) for name in formats] + [
        _score("all", judged, set(formats))
    ]


def _score(name: str, judged: Judged, formats: set[str]) -> Score:
    count = Counter(v.verdict for v in judged.verdicts if v.format in formats)
    lines = sum(format_ in formats for _, format_ in judged.units)
    right, wrong, missing = count[RIGHT], count[WRONG], count[MISSING]
    return Score(
        name, lines, right + wrong + missing, right, wrong, missing, invented=count[INVENTED]
    )


def _print_scores(found: Iterable[Score]) -> None:
    print("| format | lines | expected | right | wrong | missing | invented | right % |")
    print("|---|---|---|---|---|---|---|---|")
    for score in found:
        share = f"{100 * score.right / score.expected:.0f}" if score.expected else ""
        cells = [score.name, score.lines, score.expected, score.right, score.wrong]
        print("|", " | ".join(map(str, [*cells, score.missing, score.invented, share])), "|")


def _print_verdicts(title: str, found: Sequence[Verdict]) -> None:
    print(f"\n### {title}: {len(found)}\n")
    for each in found:
        got = f" got `{each.got}` ({each.source}; {each.reader})" if each.got else ""
        why = f" – {each.why}" if each.why else ""
        print(f"- {each.unit} `{each.fact}` expected `{each.expected}`{got}{why}")


def _print_reasons(missing: Sequence[Verdict]) -> None:
    print(f"\n### {MISSING}: {len(missing)}, by likely reason\n")
    reasons = Counter(each.why for each in missing)
    for reason, number in reasons.most_common():
        formats = Counter(each.format for each in missing if each.why == reason)
        named = ", ".join(f"{name} {n}" for name, n in formats.most_common())
        print(f"- {number} {reason}: {named}")


def _print_all(judged: Judged, *, verbose: bool) -> None:
    _print_scores(scores(judged))
    by_verdict: dict[str, list[Verdict]] = {}
    for each in judged.verdicts:
        by_verdict.setdefault(each.verdict, []).append(each)
    for verdict in (WRONG, INVENTED, UNKNOWN_WORD):
        if verdict in by_verdict:
            _print_verdicts(verdict, by_verdict[verdict])
    if MISSING in by_verdict:
        _print_reasons(by_verdict[MISSING])
    for verdict in (MISSING, WEAKER_RIGHT, WEAKER_WRONG, BESIDE):
        if verbose and verdict in by_verdict:
            _print_verdicts(verdict, by_verdict[verdict])
    for title, names in (("refused", judged.refused), ("not in the corpus", judged.absent)):
        if names:
            print(f"\n### {title}: {len(names)}\n")
            print("\n".join(f"- {name}" for name in names))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and return its exit status."""
    parser = argparse.ArgumentParser(description="Score what is read from a corpus of files.")
    parser.add_argument("corpus", type=Path, help="folder with a folder for each unit")
    parser.add_argument("expected", type=Path, help="what should be read, a JSON line a unit")
    parser.add_argument("--json", action="store_true", help="print scores and verdicts as JSON")
    parser.add_argument("--unit", default="", help="only units whose name contains this")
    parser.add_argument("--verbose", action="store_true", help="list missing and further facts")
    parser.add_argument("--report", action="store_true", help="exit 0 whatever the score")
    options = parser.parse_args(arguments)
    judged = judge(options.corpus, options.expected, options.unit)
    found = scores(judged)
    if options.json:
        body = {
            "scores": [asdict(score) for score in found],
            "verdicts": [asdict(each) for each in judged.verdicts],
            "absent": list(judged.absent),
            "refused": list(judged.refused),
        }
        print(json.dumps(body, indent=1))
    else:
        _print_all(judged, verbose=options.verbose or bool(options.unit))
    return 0 if options.report or found[-1].passes else 1


if __name__ == "__main__":
    sys.exit(main())
