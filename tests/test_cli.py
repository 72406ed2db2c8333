"""The command line: the same tools, the same answers, honest exit codes."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import compute_budget_planner
import pytest
from click.testing import CliRunner, Result
from compute_budget_planner import planner
from compute_budget_planner.cli import main
from compute_budget_planner.command_options import PARAMETERS
from compute_budget_planner.errors import FactError
from compute_budget_planner.option_parsing import scalar
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.requests import RunRequest, WriteBudgetRequest
from compute_budget_planner.tool_spec import ToolSpec
from compute_budget_planner.tools import TOOLS
from small_project import FACTS, JOB, with_budget, write_small_project

FACT_OPTIONS = [part for name, value in FACTS.items() for part in ("--fact", f"{name}={value}")]
COMMANDS: dict[str, tuple[list[str], dict[str, object]]] = {
    "inspect_project": ([JOB], {"files": [JOB]}),
    "estimate_run": ([JOB, *FACT_OPTIONS], {"files": [JOB], "facts": FACTS}),
    "size_smoke": ([JOB, *FACT_OPTIONS], {"files": [JOB], "facts": FACTS}),
    "cost_ablations": (
        [JOB, *FACT_OPTIONS, "--variant", "half:n_layers=6,seeds=3,claim=CLM-001"],
        {
            "files": [JOB],
            "facts": FACTS,
            "variants": [
                {"name": "half", "changes": {"n_layers": 6}, "seeds": 3, "claims": ["CLM-001"]}
            ],
        },
    ),
    "suggest_alternatives": ([JOB, *FACT_OPTIONS], {"files": [JOB], "facts": FACTS}),
    "update_memory": (
        ["--claim", "CLM-001", "--dry-run"],
        {"claims": ["CLM-001"], "dry_run": True},
    ),
    "plan_grid": (
        [JOB, *FACT_OPTIONS, "--budget-flops", "1e18"],
        {"files": [JOB], "facts": FACTS, "budgets_flops": [1e18]},
    ),
    "diagnose_run": (
        [JOB, "--target-loss", "2.5", "--data-depends-on", "time"],
        {"files": [JOB], "target_loss": 2.5, "data_depends_on": ["time"]},
    ),
    "check_fairness": (
        ["--compare", "ours:role=method,trials=8", "--compare", "base:role=baseline,trials=0"],
        {
            "compared_runs": [
                {"name": "ours", "role": "method", "trials": 8},
                {"name": "base", "role": "baseline", "trials": 0},
            ]
        },
    ),
    "write_budget": (
        [JOB, *FACT_OPTIONS, "--grid", '{"budgets_flops": [1e18]}', "--dry-run"],
        {"files": [JOB], "facts": FACTS, "grid": {"budgets_flops": [1e18]}, "dry_run": True},
    ),
}
MODULE = [sys.executable, "-m", "compute_budget_planner"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project and step into it."""
    monkeypatch.delenv("COMPUTE_BUDGET_PROJECT_ROOT", raising=False)
    folder = write_small_project(tmp_path)
    monkeypatch.chdir(folder / "jobs")
    return folder


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="compute-budget-planner")


def started(*arguments: str) -> subprocess.CompletedProcess[str]:
    package = Path(compute_budget_planner.__file__).parent.parent
    return subprocess.run(  # noqa: S603
        [*MODULE, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(package)},
        timeout=60,
    )


# Answers


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
def test_json_equals_what_the_python_function_returns(spec: ToolSpec, project: Path) -> None:
    if spec.name == "update_memory":
        with_budget(project)
    options, arguments = COMMANDS[spec.name]
    request = spec.request_model().model_validate(arguments)
    expected = spec.run(open_workspace(project), request)
    result = run(spec.name.replace("_", "-"), *options, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == expected.model_dump(mode="json")


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
def test_text_starts_with_the_summary_and_has_no_colour_in_a_pipe(
    spec: ToolSpec, project: Path
) -> None:
    if spec.name == "update_memory":
        with_budget(project)
    options, arguments = COMMANDS[spec.name]
    request = spec.request_model().model_validate(arguments)
    summary = spec.run(open_workspace(project), request).model_dump()["summary"]
    result = run(spec.name.replace("_", "-"), *options)
    assert result.exit_code == 0
    assert result.stdout.startswith(" ".join(summary.split()))
    assert "\x1b" not in result.stdout


def test_options_become_the_arguments_of_a_run(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[RunRequest] = []

    def record(_workspace: object, request: RunRequest) -> None:
        seen.append(request)
        raise FactError("stop")

    monkeypatch.setattr(planner, "estimate_run", record)
    run(
        *["estimate-run", JOB, "configs/a.yaml", "--run", "main", "--from-budget"],
        *["--fact", "learning_rate=1e-4", "--fact", "dataset=null", "--fact", "glu=true"],
        *["--measured", "logs/a.log,configs/b.yaml,n_gpus=4", "--measured", "step_seconds=0.8"],
    )
    assert seen == [
        RunRequest.model_validate(
            {
                "files": [JOB, "configs/a.yaml"],
                "facts": {"learning_rate": 1e-4, "dataset": None, "glu": True},
                "run": "main",
                "measured_runs": [
                    {"files": ["logs/a.log", "configs/b.yaml"], "facts": {"n_gpus": 4}},
                    {"facts": {"step_seconds": 0.8}},
                ],
                "from_budget": True,
            }
        )
    ]


def test_options_become_the_arguments_of_a_budget(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[WriteBudgetRequest] = []

    def record(_workspace: object, request: WriteBudgetRequest) -> None:
        seen.append(request)
        raise FactError("stop")

    monkeypatch.setattr(planner, "write_budget", record)
    run(
        *["write-budget", "--run", "a", "--run", "b", "--claim", "CLM-001", "--dry-run"],
        *["--status", "approved", "--expected-sha256", "12345678"],
        *["--decision", "lora r=8=rejected: the claim is full tuning: all of it"],
        *["--decision", "half data=open"],
    )
    assert seen == [
        WriteBudgetRequest.model_validate(
            {
                "runs": ["a", "b"],
                "claims": ["CLM-001"],
                "dry_run": True,
                "status": "approved",
                "expected_sha256": "12345678",
                "decisions": [
                    {
                        "alternative": "lora r=8",
                        "decision": "rejected",
                        "reason": "the claim is full tuning: all of it",
                    },
                    {"alternative": "half data", "decision": "open"},
                ],
            }
        )
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("-1", -1),
        ("1e-4", 1e-4),
        ("2.5", 2.5),
        (".5", 0.5),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("8B", "8B"),
        ("bf16", "bf16"),
        ("007", "007"),
        ("2026-12-01", "2026-12-01"),
        ('"8"', "8"),
        ("'null'", "null"),
        ("1e999", "1e999"),
        ("nan", "nan"),
        ("[1]", "[1]"),
        ("9" * 30, "9" * 30),
    ],
)
def test_a_fact_is_typed_like_a_yaml_scalar(text: str, value: object) -> None:
    typed = scalar(text)
    assert (typed, type(typed)) == (value, type(value))


def test_every_argument_of_every_tool_has_an_option() -> None:
    assert {field for spec in TOOLS for field in spec.arguments} == set(PARAMETERS)


# Which project


def test_the_project_is_found_above_the_current_directory(project: Path) -> None:
    assert run("inspect-project", JOB).exit_code == 0


@pytest.mark.parametrize("before", [True, False])
def test_the_project_root_may_stand_before_or_after_the_subcommand(
    before: bool, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    os.chdir(tmp_path_factory.mktemp("elsewhere"))
    flag = ["--project-root", str(project)]
    command = ["inspect-project", JOB]
    assert run(*(flag + command if before else command + flag)).exit_code == 0


def test_the_environment_names_the_project(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.setenv("COMPUTE_BUDGET_PROJECT_ROOT", str(project))
    assert run("inspect-project", JOB).exit_code == 0


# Errors


def test_an_error_of_the_product_ends_with_1_and_its_text_on_stderr(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_workspace: object, _request: object) -> None:
        raise FactError("`n_gpus` is 0", where="jobs/train.sh:3", remedy="It takes 1 or more.")

    monkeypatch.setattr(planner, "estimate_run", refuse)
    result = run("estimate-run", "--json")
    assert (result.exit_code, result.stdout, result.stderr) == (
        1,
        "",
        "error: jobs/train.sh:3: `n_gpus` is 0. It takes 1 or more.\n",
    )


def test_an_unknown_fact_is_refused_with_the_nearest_name(project: Path) -> None:
    result = run("estimate-run", JOB, "--fact", "n_gpu=8")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "unknown fact `n_gpu`" in result.stderr
    assert "`n_gpus`" in result.stderr


def test_a_fault_of_ours_ends_with_1_and_no_traceback(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_workspace: object, _request: object) -> None:
        raise KeyError

    monkeypatch.setattr(planner, "inspect_project", crash)
    result = run("inspect-project")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("internal error: KeyError in test_cli.py:")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["estimate-runs"], "No such command"),
        (["estimate-run", "--facts", "n_gpus=8"], "--fact"),
        (["estimate-run", "--fact", "n_gpus"], "'n_gpus' is not NAME=VALUE, such as n_gpus=8."),
        (["estimate-run", "--fact", "tp=1", "--fact", "tp=2"], "the fact `tp` is given twice"),
        (["estimate-run", "--measured", ","], "name a log, or facts"),
        (["write-budget", "--decision", "lora=maybe"], "accepted, rejected or open"),
        (["write-budget", "--status", "done"], "draft"),
    ],
)
def test_wrong_usage_ends_with_2(arguments: list[str], told: str, project: Path) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr


# Starting


def test_help_is_there_in_a_blink() -> None:
    """Best of five: a busy machine must not fail it, a heavy import must."""
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        assert started("--help").returncode == 0
        seconds.append(time.perf_counter() - start)
        if seconds[-1] < 0.2:
            break
    assert min(seconds) < 0.2


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
def test_help_loads_no_heavy_library(spec: ToolSpec) -> None:
    program = (
        "import sys; from compute_budget_planner.cli import main; "
        f"main(['{spec.name.replace('_', '-')}', '--help'], standalone_mode=False); "
        "heavy = {'pydantic', 'yaml', 'markdown_it', 'mcp', 'pathspec'} & set(sys.modules); "
        "sys.exit(str(sorted(heavy)) if heavy else 0)"
    )
    package = Path(compute_budget_planner.__file__).parent.parent
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(package)},
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert spec.essence.split()[0] in done.stdout


def test_the_module_is_the_command_and_tells_its_version() -> None:
    done = started("--version")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"compute-budget-planner, version {compute_budget_planner.__version__}\n",
        "",
    )
