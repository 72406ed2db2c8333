"""`diagnose_run`: from logs of a project to kinds, equal compute, doubts and pictures."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import made_up_projects as projects
import pytest
from click.testing import CliRunner
from compute_budget_planner.cli import main
from compute_budget_planner.diagnosis_request import DiagnoseRequest
from compute_budget_planner.planner.curves.diagnosing import diagnose_run
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.results.diagnosis import DiagnosisResult, RunDiagnosisOut

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "tiny-training"
KINDS = {
    "capacity-limited": "capacity-limited",
    "healthy": "converged",
    "overfitting": "overfitting",
    "under-trained": "under-training",
}


def diagnosed(root: Path, **request: object) -> DiagnosisResult:
    return diagnose_run(open_workspace(root), DiagnoseRequest.model_validate(request))


def only(result: DiagnosisResult) -> RunDiagnosisOut:
    (run,) = result.runs
    return run


def files_of(run: str) -> list[str]:
    return [f"lightning_logs/{run}/metrics.csv", f"lightning_logs/{run}/hparams.yaml"]


def nanogpt_log(losses: Sequence[str], validation: Sequence[tuple[int, float]] = ()) -> str:
    at = dict(validation)
    lines = []
    for step, loss in enumerate(losses):
        if step in at:
            lines.append(f"step {step}: train loss {loss}, val loss {at[step]:.4f}")
        lines.append(f"iter {step}: loss {loss}, time 100.00ms, mfu 30.00%")
    return "\n".join(lines) + "\n"


def test_the_four_real_runs_are_told_apart() -> None:
    result = diagnosed(EXAMPLE)
    assert {run.run: run.kind for run in result.runs} == KINDS
    small = next(run for run in result.runs if run.run == "capacity-limited")
    assert small.evidence[-1] == "level 2.67 against 1.96, the level of `healthy`, a larger run"


@pytest.mark.parametrize("run", KINDS)
def test_each_real_run_is_told_by_itself_once_a_good_loss_is_stated(run: str) -> None:
    # The entropy of the source is 1.938 nats: what a perfect model would reach.
    result = diagnosed(EXAMPLE, files=files_of(run), target_loss=1.94)
    assert (only(result).kind, only(result).candidates) == (KINDS[run], [])


def test_a_level_run_alone_asks_what_would_be_good() -> None:
    result = diagnosed(EXAMPLE, files=files_of("capacity-limited"))
    assert only(result).candidates == ["converged", "capacity-limited"]
    assert "`target_loss`" in result.questions[0]
    assert result.next[0].question == result.questions[0]


def test_epochs_and_repetition_come_from_the_configuration() -> None:
    run = only(diagnosed(EXAMPLE, files=files_of("overfitting")))
    # 3,000 steps of 128 examples from 5,955 different ones.
    assert run.epochs == pytest.approx(3000 * 128 / 5955, rel=0.005)
    assert run.repeated_percent == 98.4
    assert run.evidence[-1] == "the data are passed 64.5 times, 98.4 % of tokens are repeats"


def test_runs_are_compared_at_equal_compute_and_not_at_equal_steps() -> None:
    result = diagnosed(EXAMPLE, files=[*files_of("capacity-limited"), *files_of("under-trained")])
    assert result.equal_compute is not None
    small, large = result.equal_compute.standings[::-1]
    assert (small.run, large.run) == ("capacity-limited", "under-trained")
    # 6 x 9,624 x 128 FLOPs a step for 240 steps buy the small model 7,320 steps of its own.
    assert small.step == pytest.approx(239 * 9624 / 314, rel=0.01)
    assert (small.inside_schedule, large.inside_schedule) == (True, False)
    assert small.loss < small.loss_at_equal_steps


def test_a_run_given_by_name_brings_its_own_facts() -> None:
    result = diagnosed(
        EXAMPLE,
        compared_runs=[
            {"name": "tiny", "files": files_of("capacity-limited"), "facts": {"params_total": 100}},
            {"name": "wide", "files": files_of("healthy")},
        ],
    )
    assert [(run.run, run.kind) for run in result.runs] == [
        ("tiny", "capacity-limited"),
        ("wide", "converged"),
    ]
    assert result.equal_compute is not None
    assert {s.run: s.params_total for s in result.equal_compute.standings} == {
        "tiny": 100,
        "wide": 9624,
    }


def test_a_planned_length_that_is_not_reached_leaves_the_verdict_open() -> None:
    result = diagnosed(EXAMPLE, files=files_of("healthy"), facts={"max_steps": 60_000})
    assert only(result).kind == "not-yet-readable"
    assert "stands at step 20,000 of 60,000" in result.summary


def test_missing_validation_is_said(tmp_path: Path) -> None:
    log = nanogpt_log([f"{3 - step / 200:.4f}" for step in range(200)])
    projects.write_files(tmp_path, {"logs/train.log": log})
    result = diagnosed(tmp_path, files=["logs/train.log"])
    assert only(result).kind == "not-yet-readable"
    assert "logs: validation loss is missing." in result.warnings


def test_a_loss_that_is_no_number_is_named_with_its_step(tmp_path: Path) -> None:
    losses = [f"{3 - step / 200:.4f}" for step in range(200)]
    losses[150] = "nan"
    projects.write_files(tmp_path, {"train.log": nanogpt_log(losses)})
    run = only(diagnosed(tmp_path, files=["train.log"]))
    assert (run.run, run.kind) == ("train", "unstable")
    assert run.evidence == ["1 training losses are no numbers, the first at step 150"]


def test_the_log_of_an_older_checkpoint_is_no_run_of_its_own(tmp_path: Path) -> None:
    history = [{"step": 10 * i, "loss": 3 - 0.01 * i, "epoch": 0.1 * i} for i in range(1, 60)]
    history += [{"step": 50 * i, "eval_loss": 3 - 0.04 * i, "epoch": 0.5 * i} for i in range(1, 12)]
    for steps in (300, 590):
        state = {
            "global_step": steps,
            "max_steps": 590,
            "log_history": [entry for entry in history if entry["step"] <= steps],
        }
        path = f"outputs/checkpoint-{steps}/trainer_state.json"
        projects.write_files(tmp_path, {path: json.dumps(state)})
    result = diagnosed(
        tmp_path,
        files=[f"outputs/checkpoint-{steps}/trainer_state.json" for steps in (300, 590)],
    )
    assert [run.run for run in result.runs] == ["checkpoint-590"]


@pytest.mark.parametrize("split", ["random", None])
@pytest.mark.parametrize("structure", ["time", "groups"])
def test_a_split_that_ignores_time_or_groups_is_a_reason_to_doubt(
    split: str | None, structure: str
) -> None:
    result = diagnosed(
        EXAMPLE,
        files=files_of("healthy"),
        validation_split=split,
        data_depends_on=[structure],
    )
    assert any("split" in warning and structure[:4] in warning for warning in result.warnings)
    proper = diagnosed(
        EXAMPLE,
        files=files_of("healthy"),
        validation_split=structure,
        data_depends_on=[structure],
    )
    assert proper.warnings == []


def test_without_a_curve_the_result_says_what_to_pass(tmp_path: Path) -> None:
    result = diagnosed(tmp_path)
    assert (result.status, result.runs) == ("incomplete", [])
    assert result.questions == ["Which log holds the training and validation losses (`files`)?"]


def test_the_chart_is_mermaid_with_a_line_per_curve() -> None:
    result = diagnosed(EXAMPLE, files=files_of("overfitting"))
    lines = result.chart.splitlines()
    assert lines[0] == "xychart-beta"
    assert "lines in order: training, validation" in lines[1]
    assert sum(line.strip().startswith("line [") for line in lines) == 2
    assert result.picture is not None
    assert [line.label for line in result.picture.lines][-1].startswith("rises by 1.44 %")


def test_under_training_continues_with_twice_the_steps() -> None:
    step = diagnosed(EXAMPLE, files=files_of("under-trained")).next[0]
    assert step.tool == "estimate_run"
    assert step.arguments["facts"] == {"max_steps": 478}


def test_the_command_line_says_the_same_and_refuses_an_unknown_plot(tmp_path: Path) -> None:
    arguments = ["diagnose-run", "--project-root", str(EXAMPLE), *files_of("overfitting")]
    run = CliRunner().invoke(main, [*arguments, "--json"])
    expected = diagnosed(EXAMPLE, files=files_of("overfitting"))
    assert json.loads(run.stdout) == expected.model_dump(mode="json")
    refused = CliRunner().invoke(main, [*arguments, "--plot", str(tmp_path / "curve.bmp")])
    assert refused.exit_code == 1
    assert refused.stderr == "error: curve.bmp: a plot ends in .svg or .png\n"
    assert list(tmp_path.iterdir()) == []


def test_runs_are_named_apart_when_their_folders_are_alike(tmp_path: Path) -> None:
    for seed in ("a", "b"):
        target = tmp_path / "lightning_logs" / seed / "version_0"
        target.mkdir(parents=True)
        source = EXAMPLE / "lightning_logs" / ("healthy" if seed == "a" else "overfitting")
        shutil.copy(source / "metrics.csv", target)
    paths = [f"lightning_logs/{seed}/version_0/metrics.csv" for seed in ("a", "b")]
    result = diagnosed(tmp_path, files=paths)
    assert [run.run for run in result.runs] == [
        "lightning_logs/a/version_0",
        "lightning_logs/b/version_0",
    ]
