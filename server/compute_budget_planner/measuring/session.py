"""One call of `measure`: check first, then measure, then write the lab page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.measuring.backend import Backend
from compute_budget_planner.measuring.guide_rows import Identity, Rows, guide_rows, identify
from compute_budget_planner.measuring.lab_page import table, with_block, without_block
from compute_budget_planner.measuring.measured_block import measured_block
from compute_budget_planner.measuring.measurements import Measurements, Plan, measure
from compute_budget_planner.measuring.torch_backend import open_torch
from compute_budget_planner.measuring.training_steps import predict_step
from compute_budget_planner.numbers import brief
from compute_budget_planner.planner.workspace import open_workspace, read_guide_pages
from compute_budget_planner.project import Project

DEFAULT_SECONDS, QUICK_SECONDS = 300.0, 60.0


@dataclass(frozen=True)
class Request:
    """What the caller wants: `gpu` names the device where its driver does not suffice."""

    quick: bool = False
    seconds: float | None = None
    gpu: str | None = None
    dry_run: bool = False
    guide_pages: Sequence[Path] = ()


@dataclass(frozen=True)
class Outcome:
    """The summary in words, and what was changed (dry run: would be) on which page."""

    summary: str
    path: str
    difference: str
    problems: tuple[str, ...]


def measure_here(root: Path, request: Request, report: Callable[[str], None]) -> str:
    """Measure with the PyTorch beside the planner; return what was found and done, in words.

    Raises:
        PlannerError: as `measure_device`, or PyTorch is not there.
    """
    project = open_workspace(root, start=Path.cwd()).project
    backend, today = open_torch(), datetime.now(tz=UTC).date()
    outcome = measure_device(project, backend, request, today, report)
    lines = [outcome.summary, *(f"note: {problem}" for problem in outcome.problems)]
    if request.dry_run:
        return "\n".join([*lines, f"Dry run: `{outcome.path}` would change.", outcome.difference])
    return "\n".join([*lines, f"Its rows in `{outcome.path}` now win over the shipped guide's."])


def measure_device(
    project: Project,
    backend: Backend,
    request: Request,
    today: date,
    report: Callable[[str], None],
) -> Outcome:
    """Measure the backend's device and write its rows to the project's lab page.

    What can be refused is refused before anything is measured.

    Raises:
        PlannerError: the device's name is ambiguous, the lab page is broken or cannot be
            written, or too little could be measured.
    """
    path = project.lab_page_path
    pages = read_guide_pages(request.guide_pages)
    present = _text(project)
    identity = identify(backend.device, load_reference([(path, present), *pages]), request.gpu)
    # As measured before, the device is new to the guide again.
    base = [(path, without_block(present, identity.name, path)), *pages]
    before = load_reference(base)
    identity = identify(backend.device, before, request.gpu)
    project.unified_diff(path, present)
    seconds = request.seconds or (QUICK_SECONDS if request.quick else DEFAULT_SECONDS)
    measured = measure(Plan(backend, seconds, request.quick, report))
    rows = guide_rows(measured, identity, before)
    block = _block(measured, identity, rows, base, today)
    with project.locked(path):
        text = with_block(_text(project), identity.name, block, path)
        load_reference([(path, text), *pages])
        difference = project.unified_diff(path, text)
        if not request.dry_run:
            project.write_text(path, text)
    return Outcome(_summary(measured, identity), path, difference, measured.problems)


def _text(project: Project) -> str:
    path = project.lab_page_path
    return project.read(path).text if (project.root / path).is_file() else ""


def _block(
    measured: Measurements,
    identity: Identity,
    rows: Rows,
    base: Sequence[tuple[str, str]],
    today: date,
) -> str:
    """Return the block; `base` are the guide's pages without it."""
    day = today.isoformat()
    own = "\n\n".join(table(name, "measured", day, found) for name, found in rows.items())
    before, after = load_reference(base), load_reference([*base, ("measured rows", own)])
    predictions = [
        (
            step,
            predict_step(step, identity.name, before) if identity.listed else None,
            predict_step(step, identity.name, after),
        )
        for step in measured.steps
    ]
    return measured_block(measured, identity, rows, predictions, today)


def _summary(measured: Measurements, identity: Identity) -> str:
    precision = measured.device.training_precision
    parts = []
    best = measured.best(precision)
    if best:
        parts.append(f"{precision} matmul {brief(best.expected)} TFLOPS")
    if measured.bandwidth_gb_s:
        parts.append(f"memory {brief(measured.bandwidth_gb_s.expected)} GB/s")
    if measured.launch:
        launch = brief(measured.launch.kernel_seconds.expected * 1e6)
        parts.append(f"smallest kernel {launch} µs")
    on_cpu = " (a CPU: not to plan GPU jobs with)" if measured.device.is_cpu else ""
    return f"{identity.name}{on_cpu}: {', '.join(parts)}."
