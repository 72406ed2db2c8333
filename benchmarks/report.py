"""Predictions beside measurements: error, hit rate and width by regime.

The error of a row is a factor, exp(|ln(expected / measured)|) − 1, so that twice too fast and
twice too slow weigh the same. A refused row has no prediction and is counted.
"""

import csv
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CLOSE = 1.25
"""A prediction within this factor of the measurement counts as close."""

MOST_REFUSED = 0.05
"""More refusals than this share of the rows is a failure of the benchmark."""

REFUSED = math.nan
"""The place of a number that a refused row does not have; it is never printed."""


@dataclass(frozen=True)
class Scored:
    """One measured row and what was predicted for it.

    `quantity` is tokens_per_second_per_gpu, samples_per_second, peak_memory_gib or gpu_hours;
    `low`, `expected`, `high` and `measured` are in its unit. `refused` holds the reason where
    the product gave no prediction. `baselines` are the answers of simpler rules on the same row.
    `apart` rows are shown in their own regime but not counted in the total.
    """

    id: str
    quantity: str
    regime: str
    source: str
    low: float
    expected: float
    high: float
    measured: float
    refused: str = ""
    baselines: Mapping[str, float] = field(default_factory=dict)
    apart: bool = False

    @property
    def log_error(self) -> float:
        """Natural logarithm of expected over measured."""
        return math.log(self.expected / self.measured)

    @property
    def inside(self) -> bool:
        """Whether the measurement lies in the 80 % range."""
        return self.low <= self.measured <= self.high


@dataclass(frozen=True)
class Line:
    """Figures of a group of rows; errors and shares in percent, `width` high over low."""

    name: str
    rows: int
    sources: int
    refused: int
    median_error: float
    source_mean_error: float
    within_quarter: float
    inside: float
    width: float
    baselines: Mapping[str, float]


def refusal(
    row_id: str, quantity: str, regime: str, source: str, reason: str, *, apart: bool = False
) -> Scored:
    """Return the scored row of a prediction that was refused."""
    return Scored(
        row_id, quantity, regime, source, REFUSED, REFUSED, REFUSED, REFUSED, reason, {}, apart
    )


def error_percent(log_errors: Iterable[float]) -> float:
    """Return the median error factor less one, in percent."""
    return 100 * (math.exp(statistics.median(abs(e) for e in log_errors)) - 1)


def line(name: str, rows: Sequence[Scored]) -> Line:
    """Return the figures of some rows; at least one of them must be predicted."""
    kept = [row for row in rows if not row.refused]
    logs = {source: [r.log_error for r in kept if r.source == source] for source in _sources(kept)}
    baselines = {
        rule: error_percent(math.log(r.baselines[rule] / r.measured) for r in kept)
        for rule in kept[0].baselines
    }
    return Line(
        name=name,
        rows=len(kept),
        sources=len(logs),
        refused=len(rows) - len(kept),
        median_error=error_percent(e for errors in logs.values() for e in errors),
        source_mean_error=statistics.fmean(error_percent(errors) for errors in logs.values()),
        within_quarter=_percent(abs(r.log_error) <= math.log(CLOSE) for r in kept),
        inside=_percent(r.inside for r in kept),
        width=statistics.median(r.high / r.low for r in kept),
        baselines=baselines,
    )


def lines(
    rows: Sequence[Scored], by: Callable[[Scored], str] = lambda row: row.regime
) -> list[Line]:
    """Return one line per group, then the total of all rows that are not shown apart."""
    groups: dict[str, list[Scored]] = {}
    for row in rows:
        groups.setdefault(by(row), []).append(row)
    found = [line(name, group) for name, group in sorted(groups.items()) if _any_predicted(group)]
    together = [row for row in rows if not row.apart]
    if len(groups) > 1 and _any_predicted(together):
        found.append(line("all" if len(together) == len(rows) else "all but those apart", together))
    return found


def print_table(title: str, found: Sequence[Line]) -> None:
    """Print figures as a markdown table."""
    print(f"\n### {title}\n")
    print("\n".join(table(found)))


def table(found: Sequence[Line]) -> list[str]:
    """Return the lines of a markdown table of figures."""
    rules = list(found[0].baselines) if found else []
    head = ["regime", "rows", "sources", "refused", "error %", "source mean %", "within 25 %"]
    head += ["in range %", "width", *(f"{rule} %" for rule in rules)]
    text = [_cells(head), _cells(["---"] * len(head))]
    for each in found:
        figures = [each.median_error, each.source_mean_error, each.within_quarter, each.inside]
        text.append(
            _cells(
                [
                    each.name,
                    str(each.rows),
                    str(each.sources),
                    str(each.refused),
                    f"{figures[0]:.1f}",
                    f"{figures[1]:.1f}",
                    f"{figures[2]:.0f}",
                    f"{figures[3]:.0f}",
                    f"{each.width:.2f}",
                    *(f"{each.baselines[rule]:.0f}" for rule in rules if rule in each.baselines),
                ]
            )
        )
    return text


def refusals(rows: Sequence[Scored]) -> dict[str, int]:
    """Return how often each reason was given, most frequent first."""
    counts: dict[str, int] = {}
    for row in rows:
        if row.refused:
            counts[row.refused] = counts.get(row.refused, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def too_many_refused(rows: Sequence[Scored]) -> bool:
    """Tell whether more rows were refused than a benchmark may refuse."""
    return sum(bool(row.refused) for row in rows) > MOST_REFUSED * len(rows)


def write_predictions(path: Path, rows: Iterable[Scored]) -> None:
    """Write id, quantity, low, expected, high, measured and refused as csv."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["id", "quantity", "low", "expected", "high", "measured", "refused"])
        for row in rows:
            numbers = [row.low, row.expected, row.high, row.measured]
            cells = ["" if math.isnan(n) else f"{n:.6g}" for n in numbers]
            writer.writerow([row.id, row.quantity, *cells, row.refused])


def _sources(rows: Iterable[Scored]) -> list[str]:
    return sorted({row.source for row in rows})


def _any_predicted(rows: Iterable[Scored]) -> bool:
    return any(not row.refused for row in rows)


def _percent(hits: Iterable[bool]) -> float:
    return 100 * statistics.fmean(hits)


def _cells(words: Iterable[str]) -> str:
    return "| " + " | ".join(words) + " |"
