"""`inspect_project`: what the files say, which belong together, what is missing."""

from pathlib import Path

import made_up_projects as projects
from compute_budget_planner.planner import estimate_run, inspect_project
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.requests import InspectRequest, RunRequest
from compute_budget_planner.results import EnvironmentOut, InspectResult


def inspected(root: Path, *files: str) -> InspectResult:
    return inspect_project(open_workspace(root), InspectRequest(files=list(files)))


def test_a_control_root_is_listed_with_its_run_boards_and_environment(tmp_path: Path) -> None:
    result = inspected(projects.control_root(tmp_path))
    assert result.project == "tiny-control"
    assert {file.path: file.kind for file in result.files} == {
        "code/jobs/gpt2-main.sh": "job",
        "code/experiments/configs/gpt2.yaml": "config",
        "code/models/gpt2/config.json": "model_config",
        "environments.yaml": "environments",
    }
    assert [(run.name, run.gaps) for run in result.runs] == [("gpt2-main", [])]
    assert result.boards["memory/risk-board.md"] is True
    assert result.boards["memory/evidence-board.md"] is False
    assert result.envelope == [
        EnvironmentOut(
            name="ibex",
            scheduler="slurm",
            time_limit_hours=24,
            max_gpus=None,
            gpu_types=[],
            source="environments.yaml:2",
        )
    ]
    assert result.gaps == []


def test_the_summary_counts_in_words_that_agree(tmp_path: Path) -> None:
    assert inspected(projects.control_root(tmp_path)).summary == (
        "tiny-control: 4 files (1 config, 1 environments, 1 job, 1 model_config), 1 run: gpt2-main."
    )


def test_a_file_says_each_fact_with_its_line(tmp_path: Path) -> None:
    (job,) = inspected(projects.control_root(tmp_path), "code/jobs/gpt2-main.sh").files[:1]
    assert job.facts["gpu"].source == "code/jobs/gpt2-main.sh:6"
    assert (job.facts["time_limit_hours"].value, job.facts["time_limit_hours"].basis) == (
        12,
        "configured",
    )


def test_each_model_with_each_data_set_is_a_run(tmp_path: Path) -> None:
    result = inspected(projects.models_by_datasets(tmp_path))
    assert [(run.name, run.n_runs, run.files) for run in result.runs] == [
        (name, 3, [f"jobs/{name}.sh", f"configs/{name}.yaml"])
        for name in ("bert-mnli", "bert-qnli", "roberta-mnli", "roberta-qnli")
    ]


def test_what_is_next_can_be_called_as_it_stands(tmp_path: Path) -> None:
    root = projects.plain_repo(tmp_path)
    steps = inspected(root).next
    assert [step.tool for step in steps] == ["estimate_run", "estimate_run"]
    for step in steps:
        request = RunRequest.model_validate(step.arguments)
        assert estimate_run(open_workspace(root), request).run == step.arguments["run"]


def test_accelerate_and_deepspeed_files_belong_to_the_job_that_names_them(tmp_path: Path) -> None:
    (run,) = inspected(projects.hf_deepspeed(tmp_path)).runs
    assert run.files == [
        "jobs/sft.sh",
        "configs/sft.yaml",
        "configs/accelerate.yaml",
        "configs/zero3.json",
    ]


def test_an_ambiguous_gpu_is_asked_about(tmp_path: Path) -> None:
    result = inspected(projects.lightning_like(tmp_path))
    assert any("`v100` may be" in gap for gap in result.runs[0].gaps)
    assert result.next[0].question == result.runs[0].gaps[0]


def test_a_broken_file_that_was_found_is_a_problem_and_does_not_stop_the_others(
    tmp_path: Path,
) -> None:
    root = projects.control_root(tmp_path)
    projects.write_files(root, {"code/experiments/configs/broken.yaml": "a: [1, 2\nb: {\n"})
    result = inspected(root)
    (broken,) = [file for file in result.files if file.path.endswith("broken.yaml")]
    assert broken.problems[0].source.startswith("code/experiments/configs/broken.yaml:")
    assert [run.name for run in result.runs] == ["gpt2-main"]


def test_a_contradiction_is_a_gap_of_its_run_here(tmp_path: Path) -> None:
    root = projects.control_root(tmp_path)
    config = root / "code/experiments/configs/gpt2.yaml"
    config.write_text(config.read_text() + "global_batch_size: 100\n")
    (gap,) = inspected(root).runs[0].gaps
    assert "global_batch_size" in gap
    assert "code/experiments/configs/gpt2.yaml" in gap


def test_an_empty_folder_says_what_to_give(tmp_path: Path) -> None:
    result = inspected(tmp_path)
    assert (result.files, result.runs, result.next) == ([], [], [])
    assert result.gaps == [
        "no job script or config describes a training run; give `files` or `facts`"
    ]


def test_inspecting_writes_nothing(tmp_path: Path) -> None:
    root = projects.control_root(tmp_path)
    before = projects.snapshot(root)
    inspected(root)
    assert projects.snapshot(root) == before


def test_no_path_user_host_or_secret_of_a_script_is_in_the_result(tmp_path: Path) -> None:
    text = inspected(projects.control_root(tmp_path)).model_dump_json()
    assert [secret for secret in projects.SECRETS if secret in text] == []
