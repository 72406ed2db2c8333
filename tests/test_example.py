"""The example project, from its files to the written budget."""

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from compute_budget_planner.planner import (
    Workspace,
    estimate_run,
    inspect_project,
    open_workspace,
    size_smoke,
    write_budget,
)
from compute_budget_planner.requests import InspectRequest, RunRequest, WriteBudgetRequest
from compute_budget_planner.results import RangeOut
from readme_blocks import BUDGET, EXAMPLE, GOLDEN, copied_example

MAIN = "gpt2-small-main"
PILOT_STATE = "code/outputs/gpt2-small-pilot/trainer_state.json"
TOKENS_PER_STEP = 524_288
"""512 sequences of 1,024 tokens, as the configuration says."""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return open_workspace(copied_example(tmp_path))


def files_of(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_the_project_has_a_main_run_and_a_pilot_with_its_logs(workspace: Workspace) -> None:
    result = inspect_project(workspace, InspectRequest())
    configuration = [
        "code/experiments/configs/gpt2-small.yaml",
        "code/experiments/configs/base.yaml",
        "code/models/gpt2-small/config.json",
        "environments.yaml",
    ]
    assert {run.name: run.files for run in result.runs} == {
        MAIN: ["code/jobs/gpt2-small-main.sh", *configuration],
        "gpt2-small-pilot": ["code/jobs/gpt2-small-pilot.sh", *configuration],
    }
    assert [run.prior_logs for run in result.runs] == [
        [],
        [PILOT_STATE, "code/outputs/logs/gpt2-small-pilot/slurm-1042.out"],
    ]
    assert [file.path for file in result.files if file.problems] == []
    assert result.gaps == []


def test_the_main_run_is_300_billion_tokens_and_needs_a_chain_of_jobs(workspace: Workspace) -> None:
    result = estimate_run(workspace, RunRequest(run=MAIN))
    assert result.parameters is not None
    assert result.parameters.total == 124_439_808  # GPT-2 124M as released
    assert result.steps is not None
    assert result.steps.optimizer_steps == 572_205
    assert result.steps.tokens == 572_205 * TOKENS_PER_STEP
    assert result.memory is not None
    assert result.memory.verdict == "FITS"
    assert result.limit is not None
    assert (result.limit.time_limit_hours, result.limit.fits) == (24, "no")
    assert result.limit.segments is not None
    assert result.limit.segments >= 3


def test_the_estimate_stands_on_the_speed_of_the_pilot(workspace: Workspace) -> None:
    result = estimate_run(workspace, RunRequest(run=MAIN))
    # 2,000 steps in 868.4 seconds: the whole run at that pace, without any overhead.
    at_pace = 572_205 * 868.4 / 2_000 / 3600 * 8
    assert result.calibration is not None
    assert PILOT_STATE in result.calibration.runs
    assert result.gpu_hours is not None
    assert inside(result.gpu_hours, at_pace)
    assert result.gpu_hours.high / result.gpu_hours.low < 1.5


def inside(value: RangeOut, number: float) -> bool:
    return value.low <= number <= value.high


def test_the_smoke_test_takes_one_gpu_and_at_most_half_an_hour(workspace: Workspace) -> None:
    result = size_smoke(workspace, RunRequest(run=MAIN))
    assert (result.status, result.n_gpus, result.flags) == ("sized", 1, [])
    assert result.steps is not None
    assert result.steps >= 100
    assert result.wall_clock_minutes is not None
    assert result.wall_clock_minutes.high <= 30
    assert result.share_of_run_percent is not None
    assert result.share_of_run_percent < 5


def test_the_budget_is_the_golden_page_and_the_only_file_written(workspace: Workspace) -> None:
    golden = GOLDEN.read_text(encoding="utf-8")
    written_on = re.search(r"^- Generated: (\d{4}-\d\d-\d\d)$", golden, re.MULTILINE)
    assert written_on is not None
    then = replace(workspace, today=date.fromisoformat(written_on[1]))
    before = files_of(then.project.root)
    result = write_budget(then, WriteBudgetRequest(runs=[MAIN], claims=["CLM-003"]))
    after = files_of(then.project.root)
    assert result.changed
    assert after.pop(BUDGET).decode() == golden
    assert after == before


def test_the_same_call_twice_changes_nothing(workspace: Workspace) -> None:
    request = WriteBudgetRequest(runs=[MAIN])
    first = write_budget(workspace, request)
    second = write_budget(workspace, request)
    assert (first.changed, second.changed) == (True, False)
    assert first.sha256 == second.sha256


def test_the_boards_of_the_example_name_only_claims_that_exist() -> None:
    memory = EXAMPLE / "memory"
    claims = set(re.findall(r"^\| (CLM-\d{3})", (memory / "claim-board.md").read_text(), re.M))
    named = {
        claim
        for path in (*memory.glob("*.md"), *EXAMPLE.glob("docs/**/*.md"))
        for claim in re.findall(r"CLM-\d{3}", path.read_text(encoding="utf-8"))
    }
    assert claims == named == {"CLM-001", "CLM-002", "CLM-003"}
