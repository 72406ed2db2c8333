"""`suggest_alternatives`: each one estimated anew, fits, saves, and says what it may hide."""

from collections.abc import Callable
from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.errors import RequestError
from compute_budget_planner.planner import estimate_run, suggest_alternatives
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.requests import RunRequest
from compute_budget_planner.results import AlternativeOut, AlternativesResult, RangeOut
from written_budget import written

GROUPS = ("free", "lever", "question", "hardware")


def suggested(workspace: Workspace, **request: object) -> AlternativesResult:
    return suggest_alternatives(workspace, RunRequest.model_validate(request))


def expected(value: RangeOut | None) -> float:
    assert value is not None
    return value.expected


def named(result: AlternativesResult, name: str) -> AlternativeOut:
    (found,) = [a for a in result.alternatives if a.alternative == name]
    return found


def facts_of(**facts: object) -> dict[str, object]:
    return {"facts": facts}


SHAPES: list[tuple[Callable[[Path], Path], dict[str, object]]] = [
    (projects.control_root, {}),
    (projects.plain_repo, {"run": "medium"}),
    (projects.hf_deepspeed, facts_of(dataset_examples=207_865)),
    (
        projects.lightning_like,
        facts_of(model="ViT-B/16", dataset_examples=1_281_167, gpu="V100-SXM2-32GB"),
    ),
    (projects.local_3090, facts_of(dataset_examples=1_281_167, gpu="RTX 3090")),
    (projects.models_by_datasets, {"run": "roberta-mnli"}),
    (
        projects.control_root,
        facts_of(precision="fp32", attention="eager", activation_checkpointing="full"),
    ),
]


@pytest.mark.parametrize(("shape", "request_"), SHAPES)
def test_every_saving_recomputes_from_two_estimates(
    tmp_path: Path, shape: Callable[[Path], Path], request_: dict[str, object]
) -> None:
    workspace = open_workspace(shape(tmp_path))
    result = suggested(workspace, **request_)
    assert result.status == "estimated"
    assert result.alternatives
    before = estimate_run(workspace, RunRequest.model_validate(request_))
    assert (result.gpu_hours, result.wall_clock_hours) == (
        before.gpu_hours,
        before.wall_clock_hours,
    )
    for a in result.alternatives:
        given = {**request_, "facts": {**request_.get("facts", {}), **a.changes}}
        after = estimate_run(workspace, RunRequest.model_validate(given))
        assert after.memory is not None
        assert (a.gpu_hours, a.wall_clock_hours, a.memory_verdict) == (
            after.gpu_hours,
            after.wall_clock_hours,
            after.memory.verdict,
        ), a.alternative
        saved = [
            100 * (1 - expected(after.gpu_hours) / expected(before.gpu_hours)),
            100 * (1 - expected(after.wall_clock_hours) / expected(before.wall_clock_hours)),
        ]
        assert [a.saving_gpu_hours_percent, a.saving_wall_clock_percent] == pytest.approx(
            saved, rel=0.01, abs=0.01
        )


@pytest.mark.parametrize(("shape", "request_"), SHAPES)
def test_nothing_is_listed_that_does_not_fit_or_saves_nothing(
    tmp_path: Path, shape: Callable[[Path], Path], request_: dict[str, object]
) -> None:
    result = suggested(open_workspace(shape(tmp_path)), **request_)
    assert result.alternatives
    for a in result.alternatives:
        savings = {
            "GPU-hours": a.saving_gpu_hours_percent,
            "wall-clock": a.saving_wall_clock_percent,
            "cost": a.saving_cost_percent or 0,
        }
        assert a.memory_verdict != "OOM"
        assert a.falls == [name for name, percent in savings.items() if percent >= 1]
        assert a.falls
        assert a.signal_quality
        assert a.misleading_risk
        assert a.watch
        assert a.changes_design == (a.group == "question")


@pytest.mark.parametrize(("shape", "request_"), SHAPES)
def test_free_ones_come_first_and_within_a_group_the_biggest_saving(
    tmp_path: Path, shape: Callable[[Path], Path], request_: dict[str, object]
) -> None:
    result = suggested(open_workspace(shape(tmp_path)), **request_)
    order = [(GROUPS.index(a.group), -a.saving_gpu_hours_percent) for a in result.alternatives]
    assert order == sorted(order)


def test_what_was_tried_in_vain_is_told_with_its_reason(tmp_path: Path) -> None:
    result = suggested(open_workspace(projects.control_root(tmp_path)))
    told = dict(line.split(": ", 1) for line in result.not_worth_listing)
    assert told["8-bit optimizer"] == f"saves nothing ({expected(result.gpu_hours):g} GPU-hours)"
    assert not told.keys() & {a.alternative for a in result.alternatives}


def test_an_alternative_that_does_not_fit_is_not_listed(tmp_path: Path) -> None:
    workspace = open_workspace(projects.control_root(tmp_path))
    facts = {"model": "gpt2-xl", "gpu": "A100-SXM-40GB", "activation_checkpointing": "full"}
    result = suggested(workspace, facts=facts)
    assert "checkpointing off" not in {a.alternative for a in result.alternatives}
    assert any(
        line.startswith("checkpointing off: does not fit in memory")
        for line in result.not_worth_listing
    )


def test_half_the_steps_are_half_the_hours_but_for_the_start(tmp_path: Path) -> None:
    workspace = open_workspace(projects.control_root(tmp_path))
    fewer = named(suggested(workspace), "fewer steps")
    assert fewer.changes == {"max_steps": 10_000}
    assert 45 < fewer.saving_gpu_hours_percent < 50
    assert fewer.falls == ["GPU-hours", "wall-clock", "cost"]
    assert "re-stretch" in fewer.misleading_risk


def test_a_faster_device_saves_hours_and_tells_the_cost_apart(tmp_path: Path) -> None:
    workspace = open_workspace(projects.control_root(tmp_path))
    faster = named(
        suggested(workspace, facts={"gpu": "A100-SXM-80GB"}), "faster hardware: H100-SXM-80GB"
    )
    assert faster.changes == {"gpu": "H100-SXM-80GB"}
    assert faster.saving_gpu_hours_percent == pytest.approx(faster.saving_wall_clock_percent, abs=1)
    prices = workspace.reference.accelerators
    ratio = (prices["H100-SXM-80GB"].usd_per_gpu_hour or 0) / (
        prices["A100-SXM-80GB"].usd_per_gpu_hour or 1
    )
    assert faster.saving_cost_percent == pytest.approx(
        100 - (100 - faster.saving_gpu_hours_percent) * ratio, abs=0.5
    )


@pytest.mark.parametrize(
    ("types", "offered", "asked"),
    [
        ("H200-SXM-141GB", ["H200-SXM-141GB"], []),
        ("a100", [], []),
        ("h200", [], ["`h200`"]),
    ],
)
def test_the_environment_s_devices_come_before_the_usual_ones(
    tmp_path: Path, types: str, offered: list[str], asked: list[str]
) -> None:
    root = projects.control_root(tmp_path)
    environments = root / "environments.yaml"
    text = environments.read_text(encoding="utf-8") + (
        f"  partitions: {{gpu: {{name: gpu, flag: '--partition=gpu', gpu_types: [{types}]}}}}\n"
    )
    environments.write_text(text, encoding="utf-8")
    result = suggested(open_workspace(root))
    assert [a.changes["gpu"] for a in result.alternatives if a.group == "hardware"] == offered
    # One of several `a100` is what the run has already.
    assert [question.split()[1] for question in result.questions] == asked


def test_decisions_of_the_budget_are_shown(tmp_path: Path) -> None:
    workspace = open_workspace(projects.control_root(tmp_path))
    assert {a.decision for a in suggested(workspace).alternatives} == {"open"}
    rejected = {"alternative": "fewer steps", "decision": "rejected", "reason": "not converged"}
    written(workspace, decisions=[rejected])
    result = suggested(workspace, from_budget=True)
    fewer = named(result, "fewer steps")
    assert (fewer.decision, fewer.reason) == ("rejected", "not converged")
    assert {a.decision for a in result.alternatives if a is not fewer} == {"open"}


def test_too_little_to_estimate_gives_questions_and_no_numbers(tmp_path: Path) -> None:
    result = suggested(open_workspace(projects.lone_config(tmp_path)))
    assert (result.status, result.alternatives, result.gpu_hours) == ("incomplete", [], None)
    assert "model" in result.missing
    assert result.questions


def test_several_runs_are_refused_and_listed(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="`medium`, `small`"):
        suggested(open_workspace(projects.plain_repo(tmp_path)))
