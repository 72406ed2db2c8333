"""The report: error factors, hit rates, widths, refusals."""

import importlib
import math
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("report")


def row(report: ModuleType, expected: float, measured: float, **more: object) -> object:
    facts = {"id": "r", "quantity": "gpu_hours", "regime": "a", "source": "s"}
    facts |= {"low": expected / 1.5, "high": expected * 1.5}
    return report.Scored(**{**facts, "expected": expected, "measured": measured, **more})


def test_twice_too_fast_and_twice_too_slow_are_errors_of_the_same_size(report: ModuleType) -> None:
    assert report.error_percent([math.log(2)]) == pytest.approx(100)
    assert report.error_percent([math.log(0.5)]) == pytest.approx(100)


def test_a_line_counts_rows_sources_hits_and_baselines(report: ModuleType) -> None:
    rows = [
        row(report, 100, 100, baselines={"40 %": 200.0}),
        row(report, 100, 120, baselines={"40 %": 120.0}),
        row(report, 100, 200, source="t", baselines={"40 %": 100.0}),
        report.refusal("x", "gpu_hours", "a", "t", "missing: gpu"),
    ]
    found = report.line("a", rows)
    assert (found.rows, found.sources, found.refused) == (3, 2, 1)
    assert found.median_error == pytest.approx(20)
    # Source s: errors of 0 and ln 1.2, source t: of ln 2.
    assert found.source_mean_error == pytest.approx(((1.2**0.5 - 1) * 100 + 100) / 2)
    assert found.within_quarter == pytest.approx(200 / 3)
    assert found.inside == pytest.approx(200 / 3)
    assert found.width == pytest.approx(2.25)
    assert found.baselines["40 %"] == pytest.approx(100)


def test_rows_shown_apart_have_their_line_and_no_part_in_the_total(report: ModuleType) -> None:
    rows = [row(report, 1, 1), row(report, 1, 3, regime="b", apart=True)]
    found = report.lines(rows)
    assert [each.name for each in found] == ["a", "b", "all but those apart"]
    assert found[-1].median_error == 0
    assert len(report.table(found)) == 5


def test_more_than_one_refusal_in_twenty_is_a_failure(report: ModuleType) -> None:
    refused = report.refusal("x", "gpu_hours", "a", "t", "missing: gpu")
    assert not report.too_many_refused([row(report, 1, 1)] * 19 + [refused])
    assert report.too_many_refused([row(report, 1, 1)] * 18 + [refused])
    assert report.refusals([refused, refused]) == {"missing: gpu": 2}


def test_predictions_are_written_with_the_reason_in_place_of_missing_numbers(
    report: ModuleType, tmp_path: Path
) -> None:
    refused = report.refusal("x", "gpu_hours", "a", "t", "missing: gpu")
    report.write_predictions(tmp_path / "out.csv", [row(report, 3, 4), refused])
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines() == [
        "id,quantity,low,expected,high,measured,refused",
        "r,gpu_hours,2,3,4.5,4,",
        "x,gpu_hours,,,,,missing: gpu",
    ]
