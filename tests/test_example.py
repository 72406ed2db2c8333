"""The example projects, from their files to the written budget and boards."""

import re
from datetime import date
from pathlib import Path

import pytest
from compute_budget_planner.errors import RequestError
from compute_budget_planner.planner import (
    Workspace,
    cost_ablations,
    estimate_run,
    inspect_project,
    size_smoke,
    update_memory,
    write_budget,
)
from compute_budget_planner.requests import (
    AblationsRequest,
    FactInput,
    InspectRequest,
    MemoryRequest,
    RunRequest,
)
from compute_budget_planner.results import RangeOut
from example_pages import (
    ANSWERS,
    GOLDEN,
    GOLDEN_PAGES,
    GPT2,
    IMAGENET,
    PLAN,
    ROOT,
    WEEKEND,
    example_pages,
    opened_example,
)
from readme_blocks import BUDGET

MAIN = "gpt2-small-main"
PILOT_STATE = "code/outputs/gpt2-small-pilot/trainer_state.json"
TOKENS_PER_STEP = 524_288
"""512 sequences of 1,024 tokens, as the configuration says."""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return opened_example(tmp_path, GPT2)


@pytest.fixture
def students(tmp_path: Path) -> Workspace:
    return opened_example(tmp_path, IMAGENET)


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


@pytest.mark.parametrize("name", [GPT2, IMAGENET])
def test_the_pages_of_an_example_are_the_golden_ones(name: str, tmp_path: Path) -> None:
    kept = {
        page: (GOLDEN / page).read_text(encoding="utf-8")
        for page, example in GOLDEN_PAGES.items()
        if example == name
    }
    written_on = re.search(
        r"^- Generated: (\d{4}-\d\d-\d\d)$", kept[f"{name}-budget.md"], re.MULTILINE
    )
    assert written_on is not None
    assert example_pages(tmp_path, name, date.fromisoformat(written_on[1])) == kept


def test_the_budget_is_the_only_file_written(workspace: Workspace) -> None:
    before = files_of(workspace.project.root)
    assert write_budget(workspace, PLAN).changed
    after = files_of(workspace.project.root)
    assert set(after) - set(before) == {BUDGET}
    assert {path: after[path] for path in before} == before


@pytest.mark.parametrize("name", [GPT2, IMAGENET])
def test_the_same_calls_twice_change_nothing(name: str, tmp_path: Path) -> None:
    workspace = opened_example(tmp_path, name)
    requests = [PLAN, ANSWERS] if name == GPT2 else [WEEKEND]
    boards = MemoryRequest(create_boards=name == IMAGENET)
    (workspace.project.root / "memory").mkdir(exist_ok=True)
    for request in requests:
        write_budget(workspace, request)
    update_memory(workspace, boards)
    before = files_of(workspace.project.root)
    assert not write_budget(workspace, requests[-1]).changed
    again = update_memory(workspace, boards)
    assert {board.action for board in again.boards} == {"unchanged"}
    assert files_of(workspace.project.root) == before


def test_the_matrix_leaves_one_question_until_the_group_answers_it(workspace: Workspace) -> None:
    result = cost_ablations(workspace, AblationsRequest(runs=[MAIN]))
    costed = [row.variant for row in result.variants if row.gpu_hours is not None]
    asked = [row.variant for row in result.variants if row.question]
    assert asked == ["no-positions"]
    assert costed == [
        "baseline",
        "gqa-4",
        "half-depth",
        "narrow",
        "swiglu",
        "short-context",
        "lr-2x",
    ]
    answered = cost_ablations(workspace, AblationsRequest(runs=[MAIN], variants=ANSWERS.variants))
    assert [row.variant for row in answered.variants if row.question] == []
    assert answered.verdict == "fits"


def test_the_second_project_asks_for_its_device_and_of_which_batch_its_batch_size_is(
    students: Workspace,
) -> None:
    result = inspect_project(students, InspectRequest())
    assert {run.name: run.files for run in result.runs} == {
        "resnet50": ["jobs/resnet50-local.sh", "experiments/configs/resnet50.yaml"],
        "vit-b16": ["jobs/vit-b16-local.sh", "experiments/configs/vit-b16.yaml"],
    }
    problems = {file.path: file.problems for file in result.files if file.problems}
    assert list(problems) == ["experiments/configs/resnet50.yaml"]
    assert "per device or global" in problems["experiments/configs/resnet50.yaml"][0].text
    assert set(result.boards.values()) == {False}
    estimate = estimate_run(students, RunRequest(run="resnet50"))
    assert (estimate.status, estimate.missing, estimate.gpu_hours) == ("incomplete", ["gpu"], None)


def test_the_images_of_the_second_project_are_counted_in_its_data_plan(
    students: Workspace,
) -> None:
    facts = WEEKEND.facts
    resnet = estimate_run(students, RunRequest(run="resnet50", facts=facts))
    vit = estimate_run(students, RunRequest(run="vit-b16", facts=facts))
    assert resnet.facts["dataset_examples"].source == ".agent/data-pipeline-plan.md:10"
    assert resnet.steps is not None
    assert vit.steps is not None
    # 126,689 images: 495 batches of 256, of which the last is a short one; 989 whole ones of 128,
    # of which four make a step.
    assert resnet.steps.optimizer_steps == 90 * 495
    assert vit.steps.optimizer_steps == 300 * 248
    assert resnet.narrow_by == "precision"


def test_two_image_models_take_the_hours_a_workstation_takes(students: Workspace) -> None:
    # Images per second of one RTX 3090 with mixed precision, as huggingface/pytorch-image-models
    # publishes them in results/benchmark-train-amp-nhwc-pt112-cu113-rtx3090.csv.
    published = {"resnet50": 90 * 126_689 / 1_218.01, "vit-b16": 300 * 126_689 / 392.99}
    for run, seconds in published.items():
        result = estimate_run(students, RunRequest(run=run, facts=WEEKEND.facts))
        assert result.gpu_hours is not None
        assert inside(result.gpu_hours, seconds / 3600)


@pytest.mark.parametrize(
    ("example", "run", "facts", "row", "peak_flops", "flops"),
    [
        # 6·N + 12·L·q·s FLOPs per token, with N, L, q, s as GPT-2's config.json has them
        (
            GPT2,
            MAIN,
            {},
            "dense_a100_small",
            312e12,
            (6 * 124_439_808 + 12 * 12 * 768 * 1024) * 300.0e9,
        ),
        # 6 × multiply-adds per image (4.11 and 17.58 billion), as pytorch-image-models counts them
        (
            IMAGENET,
            "resnet50",
            WEEKEND.facts,
            "convnet_workstation",
            71.2e12,
            6 * 4.11e9 * 126_689 * 90,
        ),
        (
            IMAGENET,
            "vit-b16",
            WEEKEND.facts,
            "vit_workstation",
            71.2e12,
            6 * 17.58e9 * 126_689 * 300,
        ),
    ],
    ids=["gpt2-small-main", "resnet50", "vit-b16"],
)
def test_the_short_form_by_hand_holds_what_the_tool_expects(
    example: str,
    run: str,
    facts: dict[str, FactInput],
    row: str,
    peak_flops: float,
    flops: float,
    tmp_path: Path,
) -> None:
    workspace = opened_example(tmp_path, example)
    result = estimate_run(workspace, RunRequest(run=run, facts=facts))
    assert result.gpu_hours is not None
    form = workspace.reference.row("short_form", row)
    factor = form.required_number("overhead_factor")
    low, high = (
        flops / (form.required_number(f"{end}_mfu_percent") / 100 * peak_flops * 3600) * factor
        for end in ("high", "low")
    )
    assert low <= result.gpu_hours.expected <= high


def test_every_required_gpu_hour_of_a_budget_has_its_job(tmp_path: Path) -> None:
    for name, request in ((GPT2, PLAN), (IMAGENET, WEEKEND)):
        result = write_budget(opened_example(tmp_path, name), request)
        wanted = ("smoke", "required")
        hours = [job.expected_gpu_hours for job in result.jobs if job.priority in wanted]
        assert result.required_gpu_hours is not None
        assert sum(hours) == pytest.approx(result.required_gpu_hours.expected, rel=0.01)


def test_a_project_with_two_runs_is_asked_which_one_the_variants_are_made_from(
    students: Workspace,
) -> None:
    request = AblationsRequest(facts=WEEKEND.facts, variants=WEEKEND.variants)
    with pytest.raises(RequestError, match="`resnet50`, `vit-b16`"):
        cost_ablations(students, request)


def test_no_board_is_made_unasked(students: Workspace) -> None:
    write_budget(students, WEEKEND)
    before = files_of(students.project.root)
    result = update_memory(students, MemoryRequest())
    assert files_of(students.project.root) == before
    assert [board.path for board in result.boards if board.action == "missing"] == [
        "memory/risk-board.md",
        "memory/evidence-board.md",
    ]
    assert result.next[0].question == "Shall the missing boards be made from the templates?"


def test_the_boards_of_the_example_name_only_claims_that_exist() -> None:
    memory = ROOT / "examples" / GPT2 / "memory"
    claims = set(re.findall(r"^\| (CLM-\d{3})", (memory / "claim-board.md").read_text(), re.M))
    named = {
        claim
        for path in (*memory.glob("*.md"), *(ROOT / "examples" / GPT2).glob("docs/**/*.md"))
        for claim in re.findall(r"CLM-\d{3}", path.read_text(encoding="utf-8"))
    }
    assert claims == named == {"CLM-001", "CLM-002", "CLM-003"}
