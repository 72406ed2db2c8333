"""Coefficients of the guide: read, replaced for a trial, written back, each where it stands."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest
from compute_budget_planner.guide.shipped import load_reference

ROOT = Path(__file__).parents[2]
REFERENCE = load_reference()
PAGE = """# Page

Table `step_time`. Source: a test. Checked: 2026-11-30.

| name | low | expected | high | unit | meaning |
|---|---|---|---|---|---|
| fp8_speed | 1.4 | 1.5 | 1.7 | factor | rate |
| shape_power | | 0.77 | | exponent | growth |

Text stays.
"""


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return str(ROOT / "benchmarks")


def loaded(name: str) -> ModuleType:
    return importlib.import_module(name)


def test_a_trial_value_reaches_the_reference_and_nothing_else(benchmarks: str) -> None:
    coefficients = loaded("coefficients")
    cell = coefficients.Cell("step_time", "fp8_speed", "expected")
    trial = coefficients.with_values(REFERENCE, {cell: 3.0})
    assert trial.value("fp8_speed") == 3.0
    assert trial.value("kernels_per_layer") == REFERENCE.value("kernels_per_layer")
    assert coefficients.read(REFERENCE, cell) == REFERENCE.value("fp8_speed")


def test_values_are_written_into_their_cells_and_ends_make_way(
    benchmarks: str, tmp_path: Path
) -> None:
    coefficients = loaded("coefficients")
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    values = {
        coefficients.Cell("step_time", "fp8_speed", "expected"): 1.81234,
        coefficients.Cell("step_time", "shape_power", "expected"): 0.654321,
    }
    coefficients.write(page, values)
    expected = PAGE.replace("| 1.4 | 1.5 | 1.7 |", "| 1.4 | 1.81 | 1.81 |")
    assert page.read_text(encoding="utf-8") == expected.replace("0.77", "0.654")


def test_every_coefficient_stands_in_the_guide_and_has_a_prior(benchmarks: str) -> None:
    coefficients, priors = loaded("coefficients"), loaded("priors")
    names = [each.name for each in priors.COEFFICIENTS]
    assert len(set(names)) == len(names) <= 60
    for each in priors.COEFFICIENTS:
        fitted = {coefficients.read(REFERENCE, cell) for cell in each.cells}
        assert len(fitted) == 1, each.name
        assert 0 < each.prior < 1000
        assert 0.4 < fitted.pop() / each.prior < 2.5, each.name


def test_coefficients_left_out_of_a_source_lie_near_the_shipped_ones(benchmarks: str) -> None:
    held_out, coefficients = loaded("held_out"), loaded("coefficients")
    found = held_out.read()
    assert len(found) >= 10
    for source, values in found.items():
        for cell, value in values.items():
            shipped = coefficients.read(REFERENCE, cell)
            assert 0.6 < value / shipped < 1.7, (source, cell)


def test_a_source_is_judged_by_the_coefficients_that_have_not_seen_it(benchmarks: str) -> None:
    held_out = loaded("held_out")
    judge = held_out.references_by_source(REFERENCE)
    unseen = judge("mosaicml/llm-foundry")
    assert (
        unseen.value("shape_power")
        == held_out.read()["mosaicml/llm-foundry"][("step_time", "shape_power", "expected")]
    )
    assert judge("a source of tomorrow") is REFERENCE
    assert held_out.references_by_source(REFERENCE, shipped=True)("vTrain") is REFERENCE
