"""A control root with a design plan, a baseline audit and memory boards."""

from pathlib import Path

import made_up_projects as projects
from compute_budget_planner.planner import cost_ablations
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.requests import AblationsRequest
from compute_budget_planner.results import AblationsResult, VariantOut

PLAN = "docs/experiments/experiment_plan_2026-11-01_tiny.md"
AUDIT = "docs/experiments/baseline_selection_audit_2026-11-01_tiny.md"
COLUMNS = (
    "| Run ID | Purpose | Change | Fixed controls | Dataset/split | Metric | Seeds "
    "| Expected result | Output |\n|---|---|---|---|---|---|---|---|---|\n"
)
ROWS = (
    ("R0", "baseline", "none", "3"),
    ("R1", "length for CLM-001", "seq_len: 1024 -> 512", "5"),
    ("half-depth", "depth", "n_layers: 12 -> 6", "3"),
    ("R3", "regularisation against the baseline", "dropout: 0.1 -> 0.2", "3"),
    ("R4", "tuning", "learning_rate in {1e-4, 3e-4, 1e-3}", "1"),
    ("R5", "memory", "a memory token per layer", "3"),
)
POOL = (
    ("RoBERTa", "must-have"),
    ("BigBird", "should-have"),
    ("GPT-4", "not-comparable"),
    ("T5", "citation-only"),
)
SETTLED = [{"name": "R5", "multiplier": 1.2}, {"name": "RoBERTa", "multiplier": 0.8, "seeds": 1}]
"""What a caller says of rows that cannot be estimated."""


def plan_text(rows: tuple[tuple[str, str, str, str], ...] = ROWS, controls: str = "") -> str:
    """Return a design plan with these rows: run, purpose, change, seeds."""
    lines = "".join(
        f"| {run} | {purpose} | {change} | {controls} | openwebtext | loss | {seeds} | - | - |\n"
        for run, purpose, change, seeds in rows
    )
    return (
        "# Experiment Design Plan\n\nMode: ablation\n\n"
        "## 3. Evidence Standard\n\n"
        "- Required repeats/seeds: 3\n- Required ablations: half-depth\n\n"
        f"## 6. Run Matrix\n\n{COLUMNS}{lines}"
    )


def audit_text(pool: tuple[tuple[str, str], ...] = POOL, trials: int = 8) -> str:
    """Return an audit with this pool, and tuning trials of its first baseline."""
    candidates = "".join(
        f"| {name} | classic-baseline | {need} | - | rerun | - |\n" for name, need in pool
    )
    return (
        "# Baseline Selection Audit: tiny\n\n## Candidate Baseline Pool\n\n"
        "| Candidate | Role | Requirement | Why reviewers expect it | Comparison form "
        f"| Source/status |\n|---|---|---|---|---|---|\n{candidates}\n"
        "## Tuning Budget Ledger\n\n"
        "| Method | Search space | Trials | Selection metric | Compute budget | Notes |\n"
        f"|---|---|---|---|---|---|\n| {pool[0][0]} | lr | {trials} | loss | | |\n"
    )


def matrix_project(root: Path, plan: str | None = None, audit: str = "") -> Workspace:
    """Fill a folder with the control root, a plan and, where given, an audit."""
    projects.control_root(root)
    files = {PLAN: plan_text() if plan is None else plan}
    if audit:
        files[AUDIT] = audit
    projects.write_files(root, files)
    return open_workspace(root)


def costed(workspace: Workspace, **request: object) -> AblationsResult:
    """Call `cost_ablations` with arguments as a client gives them."""
    return cost_ablations(workspace, AblationsRequest.model_validate(request))


def row(result: AblationsResult, variant: str) -> VariantOut:
    """Return the row of a variant."""
    (found,) = [v for v in result.variants if v.variant == variant]
    return found
