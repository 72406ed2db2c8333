"""The compute a paper will cite: `planned` from an estimate, `available` from a run's own log."""

from dataclasses import dataclass

from compute_budget_planner.markdown.board_entries import EvidenceRow
from compute_budget_planner.markdown.worktree_status import WorktreeLine
from compute_budget_planner.numbers import counted, rounded, shown
from compute_budget_planner.planner.assessing import RunInputs, assess_run
from compute_budget_planner.planner.memory.boards_read import EVIDENCE_BOARD, board_rows
from compute_budget_planner.planner.memory.rows import Remembered
from compute_budget_planner.planner.sentences import spread
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.readers.runs import RunFiles
from compute_budget_planner.results import EstimateResult


@dataclass(frozen=True)
class Actual:
    """The executions of one run that ended by themselves: hours of each, and devices."""

    run: str
    gpu: str
    n_gpus: int
    wall_clock_hours: tuple[float, ...]
    logs: tuple[str, ...]

    @property
    def gpu_hours(self) -> float:
        """Devices × hours of all executions."""
        return self.n_gpus * sum(self.wall_clock_hours)


def evidence_rows(remembered: Remembered) -> list[EvidenceRow]:
    """Return the compute the paper will cite: one row per main run, measured once it has ended."""
    rows = []
    actual = _actual_compute(remembered.workspace, remembered.plan.inputs)
    board = board_rows(remembered.workspace, EVIDENCE_BOARD)
    noted = {row.cells.get("summary", "").partition(":")[0] for row in board}
    planned = {e.run: e for e in remembered.plan.estimates}
    for name in dict.fromkeys([*planned, *actual]):
        subject = f"Compute of {name}"
        if name in actual and (name in planned or subject in noted):
            rows.append(_measured_row(remembered, subject, actual[name]))
        elif name in planned and (row := _planned_row(remembered, subject, planned[name])):
            rows.append(row)
    return rows


def _planned_row(remembered: Remembered, subject: str, e: EstimateResult) -> EvidenceRow | None:
    if e.gpu_hours is None or e.wall_clock_hours is None:
        return None
    return EvidenceRow(
        status="planned",
        subject=subject,
        summary=f"{shown(e.n_gpus or 0)} × {e.gpu}, {spread(e.gpu_hours, 'GPU-hours')} per seed, "
        f"{spread(e.wall_clock_hours, 'hours')} wall-clock, {counted(e.seeds, 'seed')}, estimated",
        source_paths=(remembered.budget_path,),
        supports=remembered.claims,
        date=remembered.date,
    )


def _measured_row(remembered: Remembered, subject: str, actual: Actual) -> EvidenceRow:
    each = ", ".join(shown(hours) for hours in actual.wall_clock_hours)
    return EvidenceRow(
        status="available",
        subject=subject,
        summary=f"{shown(actual.n_gpus)} × {actual.gpu}, {shown(rounded(actual.gpu_hours))} "
        f"GPU-hours, {each} hours wall-clock, measured",
        source_paths=(remembered.budget_path, *actual.logs),
        supports=remembered.claims,
        date=remembered.date,
    )


def worktree_lines(remembered: Remembered) -> list[WorktreeLine]:
    """Return what a worktree notes in its own status."""
    return [
        WorktreeLine(
            section="Local Hot Results",
            subject=row.subject,
            text=f"{row.summary} ({remembered.budget_path})",
            date=remembered.date,
        )
        for row in evidence_rows(remembered)
    ]


def _actual_compute(workspace: Workspace, inputs: RunInputs) -> dict[str, Actual]:
    """Return what each run took that has ended and whose log says how long."""
    found = {}
    for run in inputs.gathered.runs:
        hours = _hours(inputs, run)
        as_logged = [m.run for m in inputs.history if m.label in hours]
        planned = assess_run(workspace, inputs, run).assessment.run if hours else None
        ran = next(iter(as_logged), planned)
        if ran is not None:
            found[run.name] = Actual(
                run.name,
                ran.hardware.accelerator.name,
                ran.hardware.n_gpus,
                tuple(hours.values()),
                tuple(hours),
            )
    return found


def _hours(inputs: RunInputs, run: RunFiles) -> dict[str, float]:
    """Return the hours of a run's finished logs by path; of two reports on one run the first."""
    hours: dict[str, float] = {}
    for path in run.prior_logs:
        reading = inputs.gathered.readings[path]
        said = [rounded(float(f.value)) for f in reading.measured if f.name == "wall_clock_hours"]
        if reading.finished and said and said[0] not in hours.values():
            hours[path] = said[0]
    return hours
