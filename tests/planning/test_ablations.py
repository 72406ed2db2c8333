"""Priorities with their reasons, and what is kept or cut under the hours at hand."""

import math

import pytest
from compute_budget_planner.estimation.ranges import Range, total
from compute_budget_planner.planning.ablations import (
    Portion,
    Priority,
    Ranked,
    claims_hit,
    elapsed_hours,
    rank,
    select,
    totals_by_priority,
)
from hypothesis import given
from hypothesis import strategies as st

REQUIRED, SHOULD_HAVE, OPTIONAL = Priority

PLAIN = {
    "is_baseline": False,
    "claims": (),
    "named_required": False,
    "audit_requirement": "",
    "stated": None,
    "sensitivity": False,
}


def portion(
    variant: str,
    hours: float,
    priority: Priority = REQUIRED,
    *,
    runs: int = 1,
    hours_of_one: float = 1.0,
    n_gpus: int = 1,
    claims: tuple[str, ...] = (),
) -> Portion:
    return Portion(variant, priority, 1, runs, Range.exact(hours), hours_of_one, n_gpus, claims)


def names(portions: tuple[Portion, ...]) -> list[str]:
    return [p.variant for p in portions]


@st.composite
def matrices(draw: st.DrawFn) -> tuple[Portion, ...]:
    """Return up to a dozen portions with ranges, distinct by name."""
    count = draw(st.integers(0, 12))
    found = []
    for index in range(count):
        low = draw(st.integers(1, 400)) / 4
        found.append(
            Portion(
                variant=f"v{index}",
                priority=draw(st.sampled_from(Priority)),
                seeds=draw(st.integers(1, 5)),
                runs=draw(st.integers(1, 5)),
                gpu_hours=Range(low, low * 1.5, low * 2),
                hours_of_one=draw(st.integers(1, 80)) / 4,
                n_gpus=draw(st.integers(1, 8)),
                claims=(),
            )
        )
    return tuple(found)


# The rule of priorities


@pytest.mark.parametrize(
    ("known", "priority", "rule"),
    [
        ({"is_baseline": True}, REQUIRED, "the baseline of all comparisons"),
        ({"claims": ("CLM-001", "CLM-004")}, REQUIRED, "CLM-001, CLM-004 depends on it"),
        ({"named_required": True}, REQUIRED, "the plan lists it under required ablations"),
        ({"sensitivity": True}, SHOULD_HAVE, "sensitivity: a reviewer may ask"),
        ({}, OPTIONAL, "no claim names it"),
        ({"audit_requirement": "must-have"}, REQUIRED, "baseline audit: must-have"),
        ({"audit_requirement": "should-have"}, SHOULD_HAVE, "baseline audit: should-have"),
        ({"audit_requirement": "optional"}, OPTIONAL, "baseline audit: optional"),
        ({"stated": OPTIONAL}, OPTIONAL, "as stated"),
    ],
)
def test_each_rule_gives_its_priority_and_says_so(
    known: dict[str, object], priority: Priority, rule: str
) -> None:
    assert rank(**{**PLAIN, **known}) == Ranked(priority, rule)


def test_an_audit_overrides_the_rule_and_a_statement_overrides_both() -> None:
    audited = {**PLAIN, "claims": ("CLM-001",), "audit_requirement": "optional"}
    assert rank(**audited) == Ranked(OPTIONAL, "baseline audit: optional")
    assert rank(**{**audited, "stated": SHOULD_HAVE}) == Ranked(SHOULD_HAVE, "as stated")


def test_a_claim_outweighs_that_a_row_is_only_a_sensitivity_study() -> None:
    found = rank(**{**PLAIN, "claims": ("CLM-002",), "sensitivity": True})
    assert found == Ranked(REQUIRED, "CLM-002 depends on it")


# What is kept and cut


MATRIX = (
    portion("baseline", 40),
    portion("no-attention", 40, claims=("CLM-001",)),
    portion("half-depth", 30, SHOULD_HAVE, claims=("CLM-002",)),
    portion("half-width", 20, SHOULD_HAVE),
    portion("dropout", 10, OPTIONAL),
)


def test_everything_is_kept_when_the_hours_suffice() -> None:
    chosen = select(MATRIX, 0, 140)
    assert (chosen.kept, chosen.cut, chosen.verdict, chosen.shortfall_gpu_hours) == (
        MATRIX,
        (),
        "fits",
        0,
    )


def test_the_dearest_should_have_is_cut_first_and_no_optional_takes_its_place() -> None:
    chosen = select(MATRIX, 0, 115)
    assert names(chosen.kept) == ["baseline", "no-attention", "half-width"]
    assert names(chosen.cut) == ["half-depth", "dropout"]
    assert (chosen.verdict, chosen.shortfall_gpu_hours) == ("fits", 0)


def test_optional_rows_are_cut_before_any_should_have() -> None:
    chosen = select(MATRIX, 0, 135)
    assert names(chosen.cut) == ["dropout"]


def test_required_alone_over_the_hours_stays_and_its_shortfall_is_told() -> None:
    chosen = select(MATRIX, 50, 100)
    assert names(chosen.kept) == ["baseline", "no-attention"]
    assert (chosen.verdict, chosen.shortfall_gpu_hours) == ("over", 30)


def test_main_runs_take_their_hours_before_the_matrix() -> None:
    assert names(select(MATRIX, 50, 140).cut) == ["half-depth", "half-width", "dropout"]


def test_hours_that_are_used_to_the_last_one_still_fit() -> None:
    chosen = select(MATRIX, 0, 80)
    assert (chosen.verdict, chosen.shortfall_gpu_hours) == ("fits", 0)


def test_unknown_hours_cut_nothing_and_decide_nothing() -> None:
    chosen = select(MATRIX, 0, None)
    assert (chosen.kept, chosen.cut, chosen.verdict) == (MATRIX, (), "unknown")


def test_what_is_cut_is_laid_to_the_claims_that_name_it() -> None:
    cut = (MATRIX[1], MATRIX[2], portion("no-norm", 1, claims=("CLM-001",)), MATRIX[4])
    assert claims_hit(cut) == {
        "CLM-001": ["no-attention", "no-norm"],
        "CLM-002": ["half-depth"],
    }


@given(matrices(), st.integers(0, 400), st.integers(0, 2000))
def test_required_is_never_cut_and_nothing_is_lost(
    matrix: tuple[Portion, ...], fixed: int, available: int
) -> None:
    chosen = select(matrix, fixed, available)
    assert {p.variant for p in matrix if p.priority is REQUIRED} <= set(names(chosen.kept))
    assert sorted(names(chosen.kept) + names(chosen.cut)) == sorted(names(matrix))
    kept = fixed + sum(p.gpu_hours.expected for p in chosen.kept)
    if chosen.verdict == "fits":
        assert chosen.shortfall_gpu_hours == 0
        assert kept <= available
    else:
        assert {p.priority for p in chosen.kept} <= {REQUIRED}
        assert chosen.shortfall_gpu_hours == kept - available > 0


@given(matrices(), st.integers(0, 2000))
def test_the_cheapest_of_a_priority_are_kept_and_no_optional_while_a_should_have_is_cut(
    matrix: tuple[Portion, ...], available: int
) -> None:
    chosen = select(matrix, 0, available)
    for priority in (SHOULD_HAVE, OPTIONAL):
        kept = [p.gpu_hours.expected for p in chosen.kept if p.priority is priority]
        cut = [p.gpu_hours.expected for p in chosen.cut if p.priority is priority]
        assert max(kept, default=0) <= min(cut, default=math.inf)
    if any(p.priority is SHOULD_HAVE for p in chosen.cut):
        assert all(p.priority is not OPTIONAL for p in chosen.kept)


@given(matrices())
def test_the_totals_of_the_priorities_add_up_to_the_whole(matrix: tuple[Portion, ...]) -> None:
    found = totals_by_priority(matrix)
    assert list(found) == list(Priority)
    parts, whole = total(found.values()), total(p.gpu_hours for p in matrix)
    assert [parts.low, parts.expected, parts.high] == pytest.approx(
        [whole.low, whole.expected, whole.high]
    )


# How long it all takes


def test_runs_side_by_side_take_as_long_as_the_fullest_device() -> None:
    three = (portion("a", 0, hours_of_one=3), portion("b", 0, runs=2, hours_of_one=2))
    assert elapsed_hours(three, 1) == 7
    assert elapsed_hours(three, 2) == 4
    assert elapsed_hours(three, 3) == 3


def test_a_run_waits_until_all_its_devices_are_free() -> None:
    wide = (portion("wide", 0, hours_of_one=2, n_gpus=2), portion("small", 0, hours_of_one=3))
    assert elapsed_hours(wide, 2) == 5
    assert elapsed_hours(wide, 3) == 3


@pytest.mark.parametrize("devices", [None, 3])
def test_without_enough_devices_no_time_is_named(devices: int | None) -> None:
    assert elapsed_hours((portion("wide", 1, n_gpus=4),), devices) is None


def test_nothing_to_run_takes_no_time() -> None:
    assert elapsed_hours((), 4) == 0


@given(matrices(), st.integers(8, 32))
def test_elapsed_time_lies_between_its_bounds(matrix: tuple[Portion, ...], devices: int) -> None:
    elapsed = elapsed_hours(matrix, devices)
    assert elapsed is not None
    longest = max((p.hours_of_one for p in matrix), default=0.0)
    work = sum(p.hours_of_one * p.runs * p.n_gpus for p in matrix) / devices
    serial = sum(p.hours_of_one * p.runs for p in matrix)
    assert max(longest, work) <= elapsed * (1 + 1e-9)
    assert elapsed <= serial * (1 + 1e-9)
