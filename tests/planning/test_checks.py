"""The five final checks, each seen passed, failed and open."""

from dataclasses import replace

import pytest
from compute_budget_planner.planning.checks import Check, CheckInputs, final_checks

GOOD = CheckInputs(
    smoke_minutes_high=[12.0, 28.0],
    smoke_gpus=[1, 1],
    limit_fits=["yes", "yes"],
    segments=[1, 1],
    variants=8,
    variants_without_cost=0,
    alternatives_considered=2,
    required_gpu_hours=570.0,
    required_is_complete=True,
    available_gpu_hours=1200.0,
    has_risk_entry=False,
)
SMOKE, LIMIT, PRIORITY, ALTERNATIVES, HOURS = range(5)


def test_a_good_plan_passes_all_five() -> None:
    assert final_checks(GOOD, 30) == (
        Check(
            "smoke test under 30 minutes on one GPU or the smallest group",
            True,
            "at most 28 minutes at the slow end on one GPU",
        ),
        Check(
            "full run inside the time limit, or planned as a chain of jobs",
            True,
            "every run fits one job at its high end",
        ),
        Check("every variant has a priority and a cost", True, "all 8 have one"),
        Check("cheaper alternatives were considered", True, "2 are listed"),
        Check(
            "required GPU-hours inside the available ones, or a risk entry exists",
            True,
            "570 of 1,200 GPU-hours",
        ),
    )


def test_an_empty_plan_leaves_all_five_open() -> None:
    empty = CheckInputs([], [], [], [], 0, 0, 0, None, True, None, has_risk_entry=False)
    assert [check.passed for check in final_checks(empty, 30)] == [None] * 5


@pytest.mark.parametrize(
    ("which", "changes", "passed", "reason"),
    [
        (SMOKE, {"smoke_minutes_high": [12.0, 31.0]}, False, "at most 31 minutes"),
        (SMOKE, {"smoke_minutes_high": [12.0, None]}, None, "not every run has a sized smoke test"),
        (SMOKE, {"smoke_minutes_high": [30.0, 3.0]}, True, "at most 30 minutes"),
        (SMOKE, {"smoke_gpus": [1, 4]}, True, "4 GPUs, the smallest group"),
        (LIMIT, {"limit_fits": ["yes", "no"], "segments": [1, 4]}, True, "a chain of 4 jobs"),
        (LIMIT, {"limit_fits": ["uncertain", "yes"], "segments": [2, 1]}, True, "chain of 2"),
        (LIMIT, {"limit_fits": ["no", "yes"], "segments": [None, 1]}, False, "exceed the limit"),
        (LIMIT, {"limit_fits": ["yes", "unknown"]}, None, "not known for every run"),
        (PRIORITY, {"variants_without_cost": 2}, False, "2 of 8 cannot be costed yet"),
        (PRIORITY, {"variants": 0}, None, "no variants are costed yet"),
        (ALTERNATIVES, {"alternatives_considered": 0}, None, "none is recorded yet"),
        (HOURS, {"required_gpu_hours": 1200.0}, True, "1,200 of 1,200 GPU-hours"),
        (HOURS, {"required_gpu_hours": 1201.0}, False, "add a risk entry"),
        (HOURS, {"required_gpu_hours": 1300.0, "has_risk_entry": True}, True, "risk entry exists"),
        (HOURS, {"required_gpu_hours": None}, None, "not known"),
        (HOURS, {"available_gpu_hours": None}, None, "not known"),
    ],
)
def test_each_check_passes_fails_or_stays_open(
    which: int, changes: dict[str, object], passed: bool | None, reason: str
) -> None:
    checks = final_checks(replace(GOOD, **changes), 30)
    assert checks[which].passed is passed
    assert reason in checks[which].reason
    others = [check.passed for index, check in enumerate(checks) if index != which]
    assert others == [True] * 4
