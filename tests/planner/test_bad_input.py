"""Bad input: the error names the place and the remedy, and nothing is written."""

from collections.abc import Callable
from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.errors import (
    FactError,
    FormatError,
    PlannerError,
    ProjectError,
    RequestError,
)
from compute_budget_planner.planner import estimate_run, inspect_project, size_smoke, write_budget
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.requests import InspectRequest, RunRequest, WriteBudgetRequest

JOB = "code/jobs/gpt2-main.sh"
CONFIG = "code/experiments/configs/gpt2.yaml"


def refused_by_all(
    workspace: Workspace, kind: type[PlannerError], **request: object
) -> PlannerError:
    """Return the error of `write_budget`, after every tool about a run has refused alike."""
    root = workspace.project.root
    before = projects.snapshot(root)
    run_request = {k: v for k, v in request.items() if k != "runs"}
    errors = []
    for tool in (estimate_run, size_smoke):
        with pytest.raises(kind) as caught:
            tool(workspace, RunRequest.model_validate(run_request))
        errors.append(str(caught.value))
    with pytest.raises(kind) as caught:
        write_budget(workspace, WriteBudgetRequest.model_validate(request))
    assert errors == [str(caught.value)] * 2
    with pytest.raises(kind):
        write_budget(workspace, WriteBudgetRequest.model_validate({**request, "dry_run": True}))
    assert projects.snapshot(root) == before
    return caught.value


@pytest.fixture
def control(tmp_path: Path) -> Workspace:
    return open_workspace(projects.control_root(tmp_path))


# Facts


@pytest.mark.parametrize(
    ("facts", "what", "where", "remedy"),
    [
        ({"n_gpu": 8}, "unknown fact `n_gpu`", "", "`n_gpus`"),
        ({"gpus": 8}, "unknown fact `gpus`", "", "Did you mean"),
        ({"wibble": None}, "unknown fact `wibble`", "", "Accepted"),
        ({"n_gpus": "many"}, "`n_gpus` is 'many'", "facts.n_gpus", "whole number of at least 1"),
        ({"n_gpus": 0}, "`n_gpus` is '0'", "facts.n_gpus", "at least 1"),
        ({"n_gpus": 1.5}, "`n_gpus` is '1.5'", "facts.n_gpus", "whole number"),
        ({"epochs": -1}, "`epochs` is '-1'", "facts.epochs", "above 0"),
        ({"precision": "fp17"}, "`precision` is 'fp17'", "facts.precision", "`bf16`"),
        ({"compile": "perhaps"}, "`compile` is 'perhaps'", "facts.compile", "true or false"),
        ({"gpu": "A100-SMX-80GB"}, "`gpu` is 'A100-SMX-80GB'", "stated", "Did you mean"),
    ],
)
def test_a_fact_that_is_none_is_refused_with_what_is_accepted(
    control: Workspace, facts: dict[str, object], what: str, where: str, remedy: str
) -> None:
    error = refused_by_all(control, FactError, facts=facts)
    assert what in error.what
    assert error.where == where
    assert remedy in error.remedy


def test_a_stated_model_must_be_a_model_s_config(control: Workspace) -> None:
    projects.write_files(control.project.root, {"code/zero.json": '{"zero_optimization": {}}'})
    error = refused_by_all(control, FactError, facts={"model": "code/zero.json"})
    assert (error.where, error.what) == (
        "facts.model",
        "`model` is the path `code/zero.json`, which is no model's config.json",
    )
    refused_by_all(control, ProjectError, facts={"model": "code/none.json"})


def test_batch_sizes_that_contradict_each_other_name_both_places(control: Workspace) -> None:
    config = control.project.root / CONFIG
    config.write_text(config.read_text() + "global_batch_size: 100\n", encoding="utf-8")
    error = refused_by_all(control, FactError)
    assert f"{CONFIG}:8" in str(error)
    assert f"{CONFIG}:3" in str(error)
    assert error.remedy


# Files


@pytest.mark.parametrize(
    ("path", "kind", "what"),
    [
        ("code/jobs/gpt2-mian.sh", ProjectError, "gpt2-mian.sh"),
        ("../outside.yaml", ProjectError, "outside"),
        ("/etc/hostname", ProjectError, "outside"),
        ("code/jobs", ProjectError, "code/jobs"),
        ("", ProjectError, ""),
        ("code/\0.yaml", ProjectError, ""),
    ],
)
def test_a_path_that_leads_nowhere_or_out_is_refused(
    control: Workspace, path: str, kind: type[PlannerError], what: str
) -> None:
    error = refused_by_all(control, kind, files=[path])
    assert what in str(error)
    assert error.remedy
    with pytest.raises(kind):
        inspect_project(control, InspectRequest(files=[path]))


def test_a_link_that_leads_out_of_the_project_is_refused(
    control: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("outside") / "secret.yaml"
    secret.write_text("batch_size: 7\n", encoding="utf-8")
    link = control.project.root / "code/experiments/configs/link.yaml"
    link.symlink_to(secret)
    error = refused_by_all(control, ProjectError, files=["code/experiments/configs/link.yaml"])
    assert "outside" in str(error)
    assert str(secret) not in str(error)


def test_a_missing_file_is_met_with_the_nearest_name(control: Workspace) -> None:
    error = refused_by_all(control, ProjectError, files=["code/jobs/gpt2-mian.sh"])
    assert "gpt2-main.sh" in error.remedy


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("broken.yaml", "batch_size: [1, 2\nseq_len: 5\n"),
        ("broken.yaml", "a: &a [*a]\nbatch_size: 4\n"),
        ("broken.json", '{"model_type": "gpt2", "n_layer": }\n'),
    ],
)
def test_a_broken_file_that_was_named_is_refused_with_its_line(
    control: Workspace, name: str, text: str
) -> None:
    path = f"code/experiments/configs/{name}"
    projects.write_files(control.project.root, {path: text})
    error = refused_by_all(control, FormatError, files=[JOB, path])
    assert error.where.startswith(f"{path}:")
    assert error.remedy


def test_a_yaml_tag_that_would_run_something_is_only_read(control: Workspace) -> None:
    made = control.project.root / "made"
    path = "code/experiments/configs/tagged.yaml"
    tag = (
        f"!!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['{made}']]"
    )
    projects.write_files(control.project.root, {path: f"batch_size: {tag}\n"})
    estimate_run(control, RunRequest(files=[JOB, path]))
    assert not made.exists()


# Runs


def test_two_runs_that_fit_are_listed(tmp_path: Path) -> None:
    workspace = open_workspace(projects.plain_repo(tmp_path))
    before = projects.snapshot(tmp_path)
    for tool in (estimate_run, size_smoke):
        with pytest.raises(RequestError) as caught:
            tool(workspace, RunRequest())
        assert str(caught.value) == (
            "run: 2 runs fit: `medium`, `small`. Name one of them as `run`, or pass only its files."
        )
    assert projects.snapshot(tmp_path) == before


def test_a_run_that_is_not_there_is_met_with_the_nearest_name(tmp_path: Path) -> None:
    workspace = open_workspace(projects.plain_repo(tmp_path))
    with pytest.raises(RequestError) as caught:
        estimate_run(workspace, RunRequest(run="smal"))
    assert (caught.value.where, caught.value.remedy) == ("run", "Did you mean `small`?")
    before = projects.snapshot(tmp_path)
    with pytest.raises(RequestError, match="there is no run `large`"):
        write_budget(workspace, WriteBudgetRequest(runs=["small", "large"]))
    assert projects.snapshot(tmp_path) == before


def test_a_run_named_where_the_files_describe_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="The files describe no run"):
        estimate_run(open_workspace(tmp_path), RunRequest(run="main"))


# Measured runs and the budget


@pytest.mark.parametrize(
    ("measured", "what", "remedy"),
    [
        ({}, "no seconds per step follow", "`step_seconds`"),
        ({"facts": {"n_gpus": 2}}, "no seconds per step follow", "`tokens_per_second`"),
        ({"files": [CONFIG]}, "no seconds per step follow", "`samples_per_second`"),
        ({"facts": {"wall_clock_hours": 2}}, "`steps_done` missing", "Give it in the `facts`"),
    ],
)
def test_a_measured_run_without_a_speed_is_refused(
    control: Workspace, measured: dict[str, object], what: str, remedy: str
) -> None:
    error = refused_by_all(control, RequestError, measured_runs=[measured])
    assert error.where == "measured_runs[0]"
    assert what in error.what
    assert remedy in error.remedy


def test_a_measured_run_whose_own_facts_are_wrong_is_refused(control: Workspace) -> None:
    runs = [{"facts": {"step_seconds": "fast"}}]
    assert "`step_seconds` is 'fast'" in refused_by_all(control, FactError, measured_runs=runs).what


def test_from_budget_without_a_budget_is_refused(control: Workspace) -> None:
    error = refused_by_all(control, RequestError, from_budget=True)
    assert str(error) == (
        "code/.agent/compute-budget.md: there is no budget to start from. "
        "Write one with write_budget, or pass `files` and `facts`."
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace('"inputs": {', '"inputs": {,', 1),
        lambda text: text.replace('"schema_version": 1', '"schema_version": 2', 1),
        lambda text: text.replace('"tool_version"', '"tool_vision"', 1),
    ],
)
def test_a_budget_whose_block_was_broken_by_hand_is_not_overwritten(
    control: Workspace, spoil: Callable[[str], str]
) -> None:
    write_budget(control, WriteBudgetRequest())
    page = control.project.root / control.project.budget_path
    page.write_text(spoil(page.read_text(encoding="utf-8")), encoding="utf-8")
    before = projects.snapshot(control.project.root)
    for request in (WriteBudgetRequest(), WriteBudgetRequest(from_budget=True)):
        with pytest.raises(FormatError) as caught:
            write_budget(control, request)
        assert caught.value.where.startswith("code/.agent/compute-budget.md:")
        assert "machine" in caught.value.remedy
    assert projects.snapshot(control.project.root) == before


def test_no_error_shows_a_path_outside_the_project_or_a_secret(control: Workspace) -> None:
    config = control.project.root / CONFIG
    config.write_text(
        config.read_text() + "global_batch_size: /scratch/jdoe/size\n",
        encoding="utf-8",
    )
    result = estimate_run(control, RunRequest())
    text = result.model_dump_json()
    assert [secret for secret in projects.SECRETS if secret in text] == []
