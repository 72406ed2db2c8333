"""A whole call of `measure`: it checks, measures, writes, and estimates change."""

from datetime import date
from pathlib import Path

import pytest
from compute_budget_planner.errors import FormatError, GuideError, ProjectError, RequestError
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.guide.tables import read_tables
from compute_budget_planner.measuring.backend import Device
from compute_budget_planner.measuring.session import Outcome, Request, measure_device
from compute_budget_planner.planner import estimate_run
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.project import Project
from compute_budget_planner.requests import RunRequest
from made_up_device import CPU, H200, UNLISTED, MadeUpDevice

TODAY = date(2026, 11, 30)
PAGE = "code/.agent/lab-guide.md"
FACTS: dict[str, object] = {
    "model": "gpt2",
    "seq_len": 1024,
    "max_steps": 1000,
    "micro_batch_size": 8,
    "n_gpus": 1,
    "precision": "bf16",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "memory").mkdir()
    return tmp_path


def run(root: Path, backend: MadeUpDevice | None = None, **request: object) -> Outcome:
    return measure_device(
        Project(root),
        backend or MadeUpDevice(),
        Request(**{"seconds": 20.0, **request}),  # type: ignore[arg-type]
        TODAY,
        lambda _: None,
    )


def step_seconds(root: Path, gpu: str) -> float:
    request = RunRequest.model_validate({"facts": {**FACTS, "gpu": gpu}})
    result = estimate_run(open_workspace(root), request)
    assert result.step_seconds is not None
    return result.step_seconds.expected


def test_an_estimate_follows_what_was_measured(root: Path) -> None:
    before = step_seconds(root, "H200-SXM-141GB")
    run(root, MadeUpDevice(tflops=dict.fromkeys(H200.precisions, 200.0), gb_s=1200.0))
    assert step_seconds(root, "H200-SXM-141GB") > 2 * before


def test_an_unlisted_device_can_be_planned_with_afterwards(root: Path) -> None:
    run(root, MadeUpDevice(device=UNLISTED))
    assert step_seconds(root, "NVIDIA H200 MIG 3g.71gb") > 0


def test_the_page_shows_predictions_before_and_with_its_rows(root: Path) -> None:
    run(root)
    text = (root / PAGE).read_text(encoding="utf-8")
    assert "## Measured: H200-SXM-141GB" in text
    assert "one of 1 × NVIDIA H200, PyTorch 2.9.0, CUDA 12.8. Checked: 2026-11-30." in text
    (steps,) = (
        [line for line in part.splitlines() if line.startswith("| ") and "bf16" in line]
        for part in text.split("### What was measured")[1].split("| step | measured ms |")[1:]
    )
    assert [line.split(",")[0] for line in steps[:5]] == [
        "| 0.137M (2 × 64)",
        "| 5.32M (4 × 256)",
        "| 124M (12 × 768)",
        "| 355M (24 × 1024)",
        "| 913M (16 × 2048)",
    ]
    assert all(cell.strip() not in ("", "–") for line in steps for cell in line.split("|")[1:-1])
    assert "measured peak GiB" in text


def test_only_captioned_tables_of_the_page_are_rows(root: Path) -> None:
    run(root)
    tables = read_tables(PAGE, (root / PAGE).read_text(encoding="utf-8"))
    assert {(t.name, len(t.rows)) for t in tables} == {
        ("accelerator_compute", 1),
        ("step_time", 2),
        ("framework_classes", len(load_reference().framework_classes)),
    }


def test_quick_compiles_nothing(root: Path) -> None:
    backend = MadeUpDevice()
    run(root, backend, quick=True)
    assert "eager passes in bf16" in backend.calls
    assert "compiled passes in bf16" not in backend.calls


def test_a_page_from_a_cpu_says_so(root: Path) -> None:
    outcome = run(root, MadeUpDevice(device=CPU, tflops={"fp32": 0.2, "bf16": 0.5}))
    assert "(a CPU: not to plan GPU jobs with)" in outcome.summary
    assert "**Measured on a CPU.**" in (root / PAGE).read_text(encoding="utf-8")


@pytest.mark.parametrize("device", [H200, UNLISTED])
def test_measuring_again_renews_the_block_and_keeps_the_rest(root: Path, device: Device) -> None:
    (root / "code/.agent").mkdir()
    (root / PAGE).write_text("# Ours\r\n\r\nText.\r\n", encoding="utf-8", newline="")
    run(root, MadeUpDevice(device=device))
    first = (root / PAGE).read_bytes()
    assert first.startswith(b"# Ours\r\n\r\nText.\r\n")
    assert run(root, MadeUpDevice(device=device)).difference == ""
    assert (root / PAGE).read_bytes() == first
    assert run(root, MadeUpDevice(device=device, gb_s=2000.0)).difference != ""
    again = (root / PAGE).read_text(encoding="utf-8")
    assert again.count("measure: begin") == 1
    assert again.count("Text.") == 1


def test_a_dry_run_shows_the_page_and_writes_nothing(root: Path) -> None:
    outcome = run(root, dry_run=True)
    assert outcome.path == PAGE
    assert "+## Measured: H200-SXM-141GB" in outcome.difference
    assert not (root / PAGE).exists()


def test_a_persons_price_survives_and_rows_below_the_block_win(root: Path) -> None:
    run(root)
    row = load_reference().row("accelerator_price", "H200-SXM-141GB").cells
    price = {**row, "usd_per_gpu_hour": "2.5"}
    with (root / PAGE).open("a", encoding="utf-8") as page:
        page.write("\nTable `accelerator_price`. Source: contract. Checked: 2026-11-01.\n\n")
        page.write("| " + " | ".join(price) + " |\n" + "|---" * len(price) + "|\n")
        page.write("| " + " | ".join(price.values()) + " |\n")
    run(root)
    device = open_workspace(root).reference.accelerators["H200-SXM-141GB"]
    assert (device.usd_per_gpu_hour, device.achievable_bf16_tflops) == (2.5, 720)


# Refused before anything is measured


@pytest.mark.parametrize(
    ("page", "error"),
    [
        ("Table `step_time`. No source.\n\n| name |\n|---|\n| x |\n", GuideError),
        (
            "<!-- compute-budget-planner measure: begin H200-SXM-141GB -->\n",
            FormatError,
        ),
    ],
)
def test_a_broken_page_is_refused_first(root: Path, page: str, error: type[Exception]) -> None:
    (root / "code/.agent").mkdir()
    (root / PAGE).write_text(page, encoding="utf-8")
    backend = MadeUpDevice()
    with pytest.raises(error, match=rf"{PAGE}:1"):
        run(root, backend)
    assert backend.calls == []
    assert (root / PAGE).read_text(encoding="utf-8") == page


def test_a_page_behind_a_symlink_is_refused_first(root: Path) -> None:
    (root / "code/.agent").mkdir()
    (root / "elsewhere.md").write_text("", encoding="utf-8")
    (root / PAGE).symlink_to(root / "elsewhere.md")
    backend = MadeUpDevice()
    with pytest.raises(ProjectError, match="is a symlink"):
        run(root, backend)
    assert backend.calls == []


def test_a_device_the_guide_does_not_have_is_refused_first(root: Path) -> None:
    backend = MadeUpDevice()
    with pytest.raises(RequestError, match="no device of the guide"):
        run(root, backend, gpu="H2000")
    assert backend.calls == []
