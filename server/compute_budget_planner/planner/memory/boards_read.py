"""What the project's memory boards say already: experiments, risks, claims."""

from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.readers.contract import BoardRow, SourceFile
from compute_budget_planner.readers.memory_boards import READER

RISK_BOARD = "memory/risk-board.md"
EVIDENCE_BOARD = "memory/evidence-board.md"
CLAIM_BOARD = "memory/claim-board.md"
DONE = ("completed", "verified", "available")
"""States of an experiment or evidence row that need no further run."""


def board_rows(workspace: Workspace, path: str) -> tuple[BoardRow, ...]:
    """Return the entries of a board; none when the project has no such board."""
    if not (workspace.project.root / path).is_file():
        return ()
    file = SourceFile(path, workspace.project.read(path).text)
    return READER.read(file, workspace.reference).board_rows if READER.matches(file) else ()


def experiment_ids(workspace: Workspace) -> dict[str, str]:
    """Return the experiment id of each run the evidence board names."""
    ids: dict[str, str] = {}
    for row in board_rows(workspace, EVIDENCE_BOARD):
        if row.id.startswith("EXP-"):
            for name in _names(row.cells.get("run ids", "")):
                ids.setdefault(name, row.id)
    return ids


def finished_runs(workspace: Workspace) -> dict[str, str]:
    """Return the runs the evidence board calls done, with the entry that says so."""
    done: dict[str, str] = {}
    for row in board_rows(workspace, EVIDENCE_BOARD):
        if row.cells.get("status", "").lower() in DONE:
            for name in _names(row.cells.get("run ids", "")):
                done.setdefault(name, f"{row.id}, {row.source}")
    return done


def _names(cell: str) -> list[str]:
    return [name.strip(" `") for name in cell.replace(";", ",").split(",") if name.strip(" `")]
