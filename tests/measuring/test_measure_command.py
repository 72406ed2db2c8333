"""`compute-budget-planner measure` at a terminal, with and without PyTorch."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from compute_budget_planner.cli import main
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.measuring import session
from compute_budget_planner.measuring.backend import Unmeasurable
from compute_budget_planner.measuring.torch_backend import open_torch
from compute_budget_planner.measuring.torch_collectives import all_reduce_seconds
from compute_budget_planner.measuring.torch_gpt import build_gpt
from compute_budget_planner.measuring.training_steps import SHAPES
from compute_budget_planner.planner.workspace import open_workspace
from made_up_device import MadeUpDevice


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("COMPUTE_BUDGET_PROJECT_ROOT", raising=False)
    (tmp_path / "memory").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["measure", *arguments], prog_name="compute-budget-planner")


def test_without_pytorch_the_error_says_where_to_install_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    result = run("--quick")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: measure: measuring needs PyTorch, and it is not")
    assert "into the environment your training runs in" in result.stderr
    assert not (project / ".agent").exists()


def test_a_pytorch_that_does_not_load_is_an_error_of_one_line() -> None:
    def broken(_name: str) -> object:
        raise OSError("libcudart.so.12: cannot open shared object file")

    with pytest.raises(Exception, match="its libraries do not load"):
        open_torch(broken)


def test_progress_goes_to_stderr_and_the_answer_to_stdout(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "open_torch", MadeUpDevice)
    result = run("--seconds", "10", "--project-root", str(project))
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "fp32 matmul: 50 TFLOPS",
        "tf32 matmul: 400 TFLOPS",
        "fp16 matmul: 700 TFLOPS",
        "bf16 matmul: 720 TFLOPS",
        "fp8 matmul: 1,300 TFLOPS",
        "memory bandwidth: 4,320 GB/s",
        "one kernel: 6 µs of the host",
        *(line for line in result.stderr.splitlines() if line.startswith("training step of")),
    ]
    assert result.stdout.splitlines() == [
        "H200-SXM-141GB: bf16 matmul 720 TFLOPS, memory 4,320 GB/s, smallest kernel 6 µs.",
        "Its rows in `.agent/lab-guide.md` now win over the shipped guide's.",
    ]


def test_a_dry_run_prints_the_difference(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "open_torch", MadeUpDevice)
    result = run("--quick", "--dry-run")
    assert result.exit_code == 0
    assert "+++ b/.agent/lab-guide.md" in result.stdout
    assert not (project / ".agent").exists()


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "1000000", "soon"])
def test_only_a_sensible_time_is_taken(project: Path, seconds: str) -> None:
    result = run("--seconds", seconds)
    assert result.exit_code == 2
    assert "--seconds" in result.stderr


# The real thing, on the CPU


def test_pytorch_on_a_cpu_writes_a_page_that_loads(project: Path) -> None:
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        result = run("--quick", "--seconds", "2")
    finally:
        torch.set_num_threads(threads)
    assert result.exit_code == 0, result.stderr
    assert "not to plan GPU jobs with" in result.stdout
    known = load_reference().accelerators
    added = [a for n, a in open_workspace(project).reference.accelerators.items() if n not in known]
    if torch.cuda.is_available():
        pytest.skip("a GPU is measured here, not the CPU")
    (device,) = added
    assert device.name.startswith("CPU-")
    assert device.peak_fp32_tflops is not None
    assert device.memory_bandwidth_gb_s is not None


def test_workers_reduce_over_several_processes() -> None:
    pytest.importorskip("torch")
    found = all_reduce_seconds(2, 1, 3, on_cpu=True)
    assert len(found) == 3
    assert min(found) > 0


def test_workers_that_fail_say_what_they_met() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("here a worker may well find its device")
    with pytest.raises(Unmeasurable, match=r"a worker raises \w+"):
        all_reduce_seconds(1, 1, 3, on_cpu=False)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_reference_model_has_the_parameters_its_shape_says(precision: str) -> None:
    torch = pytest.importorskip("torch")
    shape = SHAPES[0]
    model = build_gpt(torch, shape)
    assert sum(p.numel() for p in model.parameters()) == shape.params_total
    backend = open_torch()
    assert backend.seconds(backend.training_step(shape, precision), 1) > 0
