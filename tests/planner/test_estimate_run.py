"""`estimate_run` on small projects in the shapes people have."""

import json
from collections.abc import Callable
from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.planner import estimate_run
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.requests import MeasuredRun, RunRequest
from compute_budget_planner.results import EstimateResult, RangeOut

SFT = {"dataset_examples": 207_865, "gpu": "H100-SXM-80GB"}


def estimated(root: Path, **request: object) -> EstimateResult:
    result = estimate_run(open_workspace(root), RunRequest.model_validate(request))
    assert result.status == "estimated", result.missing
    return result


def ranges_of(result: EstimateResult) -> list[RangeOut]:
    found = [
        result.step_seconds,
        result.gpu_hours,
        result.gpu_hours_all_seeds,
        result.wall_clock_hours,
    ]
    return [value for value in found if value is not None]


@pytest.mark.parametrize(
    ("shape", "request_", "gpus", "optimizer_steps"),
    [
        (projects.control_root, {}, "4 × A100-SXM-80GB", 20_000),
        (projects.plain_repo, {"run": "small"}, "2 × A100-SXM-80GB", 5_000),
        (projects.two_nodes, {}, "16 × A100-SXM-80GB", 50_000),
        (
            projects.local_3090,
            {"facts": {"gpu": "RTX 3090", "precision": "fp16", "dataset_examples": 1_281_167}},
            "1 × RTX-3090",
            20_019 * 90,  # ceil(1,281,167 / 64) batches, as a PyTorch loader counts them
        ),
        # 207,865 rows are 6,496 batches of a rank and 1,624 updates, three times.
        (projects.hf_deepspeed, {"facts": SFT}, "8 × H100-SXM-80GB", 1624 * 3),
        (projects.models_by_datasets, {"run": "bert-qnli"}, "1 × A100-SXM-80GB", 3274 * 3),
    ],
)
def test_files_alone_or_with_a_few_facts_give_an_estimate(
    tmp_path: Path,
    shape: Callable[[Path], Path],
    request_: dict[str, object],
    gpus: str,
    optimizer_steps: int,
) -> None:
    result = estimated(shape(tmp_path), **request_)
    assert f"{result.n_gpus} × {result.gpu}" == gpus
    assert result.steps is not None
    assert result.steps.optimizer_steps == optimizer_steps
    for value in ranges_of(result):
        assert 0 < value.low <= value.expected <= value.high
        assert value.high <= 4 * value.low
    assert gpus in result.summary
    assert [step.tool for step in result.next] == ["size_smoke"]


def test_gpu_hours_are_devices_times_hours(tmp_path: Path) -> None:
    result = estimated(projects.control_root(tmp_path))
    assert result.gpu_hours is not None
    assert result.wall_clock_hours is not None
    assert result.gpu_hours.expected == pytest.approx(4 * result.wall_clock_hours.expected, 0.01)


def test_a_config_that_names_its_model_by_the_path_of_a_config_json_is_followed(
    tmp_path: Path,
) -> None:
    result = estimated(projects.control_root(tmp_path))
    assert result.parameters is not None
    assert result.parameters.total == 124_439_808  # GPT-2 small, as published
    assert result.facts["n_layers"].source == "code/models/gpt2/config.json:1"


def test_a_config_json_stated_as_the_model_wins_over_the_files(tmp_path: Path) -> None:
    root = projects.control_root(tmp_path)
    projects.write_files(root, {"other/config.json": json.dumps(projects.LLAMA_CONFIG)})
    result = estimated(root, facts={"model": "other/config.json"})
    assert result.parameters is not None
    assert result.parameters.total == 1_100_048_384  # TinyLlama-1.1B, as published
    assert result.facts["n_layers"].source == "other/config.json:1"


def test_a_config_named_beside_a_job_that_does_not_name_it_counts(tmp_path: Path) -> None:
    root = projects.control_root(tmp_path)
    config = root / "code/experiments/configs/gpt2.yaml"
    config.write_text(config.read_text().replace("model: models/gpt2/config.json\n", ""))
    files = ["code/jobs/gpt2-main.sh", "code/models/gpt2/config.json"]
    result = estimated(root, files=files)
    assert result.parameters is not None
    assert result.parameters.total == 124_439_808


def test_a_job_array_is_as_many_runs_as_it_has_tasks(tmp_path: Path) -> None:
    result = estimated(projects.models_by_datasets(tmp_path), run="bert-mnli")
    assert result.gpu_hours is not None
    assert result.gpu_hours_all_seeds is not None
    assert result.seeds == 3
    assert result.gpu_hours_all_seeds.expected == pytest.approx(3 * result.gpu_hours.expected, 0.01)
    assert result.facts["seeds"].source == "jobs/bert-mnli.sh: runs of the job"


def test_a_stated_number_of_seeds_wins_over_the_array(tmp_path: Path) -> None:
    root = projects.models_by_datasets(tmp_path)
    assert estimated(root, run="bert-mnli", facts={"seeds": 1}).seeds == 1


def test_a_stated_fact_wins_over_a_file_and_the_conflict_is_listed(tmp_path: Path) -> None:
    result = estimated(projects.control_root(tmp_path), facts={"max_steps": 1000})
    assert result.steps is not None
    assert result.steps.optimizer_steps == 1000
    assert [(c.fact, c.used.value, c.overruled.value) for c in result.conflicts] == [
        ("max_steps", 1000, 20_000)
    ]
    assert result.conflicts[0].overruled.source == "code/experiments/configs/gpt2.yaml:6"


def test_null_withdraws_what_a_file_says(tmp_path: Path) -> None:
    root = projects.control_root(tmp_path)
    result = estimate_run(
        open_workspace(root), RunRequest.model_validate({"facts": {"max_steps": None}})
    )
    assert (result.status, result.missing) == ("incomplete", ["max_steps"])
    assert result.gpu_hours is None


def test_a_lone_config_names_what_is_missing_and_asks(tmp_path: Path) -> None:
    result = estimate_run(open_workspace(projects.lone_config(tmp_path)), RunRequest())
    assert result.status == "incomplete"
    assert {"model", "gpu"} <= set(result.missing)
    assert ranges_of(result) == []
    assert any("per device or global" in question for question in result.questions)
    assert result.next[0].tool == "estimate_run"
    assert result.next[0].question == result.questions[0]


def test_an_empty_folder_is_estimated_from_facts_alone(tmp_path: Path) -> None:
    facts = {
        "model": "gpt2",
        "gpu": "A100-SXM-80GB",
        "n_gpus": 8,
        "seq_len": 1024,
        "micro_batch_size": 16,
        "max_steps": 1000,
        "precision": "bf16",
    }
    result = estimated(tmp_path, facts=facts)
    assert result.run == "run"
    assert result.limit is not None
    assert result.limit.fits == "unknown"


def test_the_shorter_of_two_time_limits_holds(tmp_path: Path) -> None:
    """A partition may show four days while a policy refuses more than one (hpcfund issue 45)."""
    root = projects.control_root(tmp_path)
    job = root / "code/jobs/gpt2-main.sh"
    job.write_text(job.read_text().replace("--time=12:00:00", "--time=4-00:00:00"))
    result = estimated(root)
    assert result.limit is not None
    assert result.limit.time_limit_hours == 24
    assert [(c.fact, c.overruled.value) for c in result.conflicts] == [("time_limit_hours", 96)]


def test_more_gpus_than_allowed_are_warned_of(tmp_path: Path) -> None:
    result = estimated(projects.control_root(tmp_path), facts={"max_gpus": 2})
    assert result.warnings == ["4 GPUs are planned, but `max_gpus` is 2"]


# Speed that somebody measured


def expected_step(result: EstimateResult) -> float:
    assert result.step_seconds is not None
    return result.step_seconds.expected


def test_a_speed_stated_for_the_run_moves_the_estimate_towards_it(tmp_path: Path) -> None:
    root = projects.control_root(tmp_path)
    predicted = expected_step(estimated(root))
    for stated in (predicted / 2, predicted * 2):
        result = estimated(root, facts={"step_seconds": stated})
        assert result.calibration is not None
        assert expected_step(result) == pytest.approx(stated, rel=0.15)


def test_the_words_for_one_speed_give_one_estimate(tmp_path: Path) -> None:
    root = projects.control_root(tmp_path)
    batch, seq_len = 16 * 2 * 4, 1024
    spellings = [
        {"step_seconds": 0.25},
        {"steps_per_second": 4},
        {"samples_per_second": batch * 4},
        {"tokens_per_second": batch * seq_len * 4},
        {"tokens_per_second_per_gpu": batch * seq_len},
    ]
    steps = {expected_step(estimated(root, facts=spelling)) for spelling in spellings}
    assert len(steps) == 1


def test_a_measured_run_takes_what_it_does_not_say_from_the_plan(tmp_path: Path) -> None:
    root = projects.control_root(tmp_path)
    measured = MeasuredRun(facts={"step_seconds": 0.3})
    result = estimated(root, measured_runs=[measured.model_dump()])
    assert result.calibration is not None
    assert "the same model, device, batch and length" in result.calibration.reason


def test_a_measured_run_on_fewer_gpus_calibrates_from_afar(tmp_path: Path) -> None:
    root = projects.control_root(tmp_path)
    result = estimated(root, measured_runs=[{"facts": {"n_gpus": 2, "tokens_per_second": 300_000}}])
    assert result.calibration is not None
    assert "in another configuration" in result.calibration.reason


# Nothing private


def test_no_path_user_host_or_secret_of_a_script_is_in_the_result(tmp_path: Path) -> None:
    text = estimated(projects.control_root(tmp_path)).model_dump_json()
    assert [secret for secret in projects.SECRETS if secret in text] == []
