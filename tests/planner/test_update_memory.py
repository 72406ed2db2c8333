"""`update_memory`: which rows are due, what they say, and that nothing else is touched."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.errors import FormatError, RequestError
from compute_budget_planner.planner import update_memory
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.requests import MemoryRequest
from compute_budget_planner.results import BoardOut, MemoryResult
from written_budget import written

RISKS = (
    "# Risk Board\n\nKept by hand.\n\n"
    "| ID | Kind | Status | Severity | Probability | Summary | Threatens | Mitigation | Actions "
    "| Certainty | Updated |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
    "| RSK-021 | novelty | open | low | low | a \\| b | CLM-001 | — | | inferred | 2026-01-01 |\n"
    "| RSK-020 | routing | pending | low | low | older | | | | verified | 2026-01-01 |\n\n"
    "## Accepted Risks\n\n- RSK-003: lived with\n"
)
DECISIONS = "# Decision Log\n\n## DEC-004 - Keep AdamW\n\n- Date: 2026-01-01\n- Decision: AdamW\n"
# Ten columns, as some projects keep it.
EVIDENCE = (
    "# Evidence Board\n\n"
    "| ID | Kind | Status | Summary | Source paths | Supports | Weakens | Traced by | Certainty "
    "| Updated |\n|---|---|---|---|---|---|---|---|---|---|\n"
    "| EVD-002 | validation | planned | other | x | CLM-001 | | | inferred | 2026-01-01 |\n\n"
    "## Figures and Assets\n\n| ID | Kind | Location |\n|---|---|---|\n| FIG-001 | plot | a.png |\n"
)
YAML = "project:\n  name: tiny-control\nid_counters:\n  risk: 7\n  evidence: 30\n  decision: 2\n"
BOARDS = {
    "memory/risk-board.md": RISKS,
    "memory/decision-log.md": DECISIONS,
    "memory/evidence-board.md": EVIDENCE,
    "memory/project.yaml": YAML,
}
ACCEPTED = {"alternative": "fewer steps", "decision": "accepted", "reason": "curves settle early"}
LIMIT = {"time_limit_hours": 1}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a control root with boards; its run takes about six GPU-hours."""
    projects.write_files(projects.control_root(tmp_path), BOARDS)
    return open_workspace(tmp_path)


def updated(workspace: Workspace, **request: object) -> MemoryResult:
    return update_memory(workspace, MemoryRequest.model_validate(request))


def board(result: MemoryResult, path: str) -> BoardOut:
    (found,) = [b for b in result.boards if b.path == path]
    return found


def text(workspace: Workspace, path: str) -> str:
    return (workspace.project.root / path).read_text(encoding="utf-8")


def cells(workspace: Workspace, path: str, entry: str) -> dict[str, str]:
    """Return a row's cells by column."""
    lines = [line for line in text(workspace, path).splitlines() if line.startswith("| ")]
    header = [cell.strip() for cell in lines[0].strip("|").split(" |")]
    (row,) = [line for line in lines if line.startswith(f"| {entry} ")]
    return dict(zip(header, [c.strip() for c in row.strip("|").split(" |")], strict=True))


def actions(result: MemoryResult) -> dict[str, str]:
    return {b.path: b.action for b in result.boards}


# When a row is due


def test_a_run_that_fits_leaves_only_its_evidence(workspace: Workspace) -> None:
    written(workspace, facts={"available_gpu_hours": 1000}, claims=["CLM-001"])
    result = updated(workspace)
    assert actions(result) == {
        "memory/risk-board.md": "unchanged",
        "memory/decision-log.md": "unchanged",
        "memory/evidence-board.md": "updated",
        "memory/project.yaml": "updated",
    }
    assert result.skipped == [
        "risk: required GPU-hours fit the available ones at the high end",
        "decision: no accepted alternative changes the design",
    ]
    row = cells(workspace, "memory/evidence-board.md", "EVD-031")
    summary = row.pop("Summary")
    assert row == {
        "ID": "EVD-031",
        "Kind": "analysis",
        "Status": "planned",
        "Source paths": "code/.agent/compute-budget.md",
        "Supports": "CLM-001",
        "Weakens": "",
        "Traced by": "",
        "Certainty": "inferred",
        "Updated": workspace.today.isoformat(),
    }
    assert summary.startswith("Compute of gpt2-main: 4 × A100-SXM-80GB, ")
    assert summary.endswith(" hours wall-clock, 1 seed, estimated")


def test_without_hours_no_risk_is_claimed(workspace: Workspace) -> None:
    written(workspace)
    result = updated(workspace)
    assert "risk: the required or the available GPU-hours are not known" in result.skipped
    assert text(workspace, "memory/risk-board.md") == RISKS


@pytest.mark.parametrize(
    ("share", "severity", "probability"),
    [
        # Between the expected and the high end; an alternative saves enough.
        (1.1, "medium", "high end"),
        # Below the expected value; the free alternatives still save enough.
        (0.9, "medium", "high"),
        # No single alternative brings it down to a twentieth.
        (0.05, "high", "high"),
    ],
)
def test_required_hours_above_the_available_ones_are_a_risk(
    workspace: Workspace, share: float, severity: str, probability: str
) -> None:
    required = written(workspace).required_gpu_hours
    assert required is not None
    written(workspace, facts={"available_gpu_hours": required.expected * share}, claims=["CLM-001"])
    assert board(updated(workspace), "memory/risk-board.md").ids == ["RSK-022"]
    row = cells(workspace, "memory/risk-board.md", "RSK-022")
    assert (row["Kind"], row["Status"], row["Severity"], row["Certainty"], row["Threatens"]) == (
        "execution",
        "open",
        severity,
        "inferred",
        "CLM-001",
    )
    assert row["Probability"] == ("medium" if probability == "high end" else "high")
    assert row["Summary"].startswith("Compute of the required runs: ")
    assert row["Summary"].endswith(" are available")
    named = "accept the alternative `" if severity == "medium" else "more GPU-hours, or claims"
    assert row["Mitigation"].startswith(named)


@pytest.mark.parametrize(("supported", "severity"), [("EVD-002", "high"), ("—", "fatal")])
def test_hours_beyond_reach_are_fatal_to_a_claim_with_nothing_else_to_rest_on(
    workspace: Workspace, supported: str, severity: str
) -> None:
    claims = (
        "# Claim Board\n\n| ID | Lifecycle state | Claim | Supported by |\n|---|---|---|---|\n"
        f"| CLM-001 | planned | short is enough | {supported} |\n"
    )
    projects.write_files(workspace.project.root, {"memory/claim-board.md": claims})
    written(workspace, facts={"available_gpu_hours": 0.2}, claims=["CLM-001"])
    updated(workspace)
    assert cells(workspace, "memory/risk-board.md", "RSK-022")["Severity"] == severity


def test_savings_count_for_every_seed(workspace: Workspace) -> None:
    required = written(workspace, facts={"seeds": 5}).required_gpu_hours
    assert required is not None
    # Half the steps save nearly half; of one seed alone that would be a tenth.
    written(workspace, facts={"seeds": 5, "available_gpu_hours": 0.6 * required.expected})
    updated(workspace)
    row = cells(workspace, "memory/risk-board.md", "RSK-022")
    assert (row["Severity"], row["Mitigation"]) == (
        "medium",
        "accept the alternative `fewer steps`",
    )


def test_a_run_over_its_time_limit_and_one_that_does_not_fit_are_risks(
    workspace: Workspace,
) -> None:
    written(
        workspace,
        facts={"model": "llama-2-7b", "sharding": "ddp", "time_limit_hours": 2},
        claims=["CLM-001"],
    )
    assert board(updated(workspace), "memory/risk-board.md").ids == ["RSK-022", "RSK-023"]
    limit = cells(workspace, "memory/risk-board.md", "RSK-022")
    memory = cells(workspace, "memory/risk-board.md", "RSK-023")
    assert limit["Summary"].startswith("Time limit of gpt2-main: ")
    assert "against a limit of 2 hours" in limit["Summary"]
    assert memory["Summary"].startswith("Memory of gpt2-main: ")
    assert memory["Summary"].endswith("GiB on a device of 80 GiB")
    assert (memory["Kind"], memory["Probability"]) == ("execution", "high")


def test_an_accepted_alternative_that_changes_the_design_is_a_decision(
    workspace: Workspace,
) -> None:
    free = {"alternative": "compile the model", "decision": "accepted", "reason": "free"}
    written(workspace, decisions=[ACCEPTED, free], claims=["CLM-001"])
    result = updated(workspace)
    assert board(result, "memory/decision-log.md").ids == ["DEC-005"]
    log = text(workspace, "memory/decision-log.md")
    assert log.startswith(DECISIONS)
    heading, *bullets = log.removeprefix(DECISIONS).strip().splitlines()
    assert heading == "## DEC-005 - Compute of gpt2-main: fewer steps"
    said = dict(line.removeprefix("- ").split(": ", 1) for line in bullets)
    assert list(said) == [
        "Date",
        "Decision",
        "Why",
        "Alternatives considered",
        "Affects",
        "Revisit when",
        "Certainty",
    ]
    assert said["Date"] == workspace.today.isoformat()
    assert said["Decision"] == "fewer steps for gpt2-main: max_steps = 10000"
    assert said["Why"].startswith("curves settle early. Saves 4")
    assert (said["Affects"], said["Certainty"]) == ("CLM-001", "user-stated")
    assert "smaller model" in said["Alternatives considered"]


@pytest.mark.parametrize("decision", ["rejected", "open"])
def test_what_the_user_did_not_accept_is_no_decision(workspace: Workspace, decision: str) -> None:
    written(workspace, decisions=[{**ACCEPTED, "decision": decision}])
    result = updated(workspace)
    assert text(workspace, "memory/decision-log.md") == DECISIONS
    assert "decision: no accepted alternative changes the design" in result.skipped


def test_evidence_becomes_available_once_the_run_s_own_log_has_its_hours(
    workspace: Workspace,
) -> None:
    written(workspace, claims=["CLM-001"])
    updated(workspace)
    log = "code/outputs/logs/gpt2-main/slurm-7.out"
    projects.write_files(
        workspace.project.root,
        {
            log: "Job ID: 7\nJob name: gpt2-main\nGPUs: 4\n"
            "Start: Mon Nov  2 01:00:00 UTC 2026\nEnd: Mon Nov  2 03:30:00 UTC 2026\nExit: 0\n"
        },
    )
    assert board(updated(workspace), "memory/evidence-board.md").ids == ["EVD-031"]
    row = cells(workspace, "memory/evidence-board.md", "EVD-031")
    assert (row["Status"], row["Certainty"]) == ("available", "observed")
    # Four devices for two and a half hours.
    assert row["Summary"] == (
        "Compute of gpt2-main: 4 × A100-SXM-80GB, 10 GPU-hours, 2.5 hours wall-clock, measured"
    )
    assert log in row["Source paths"]


# What is off by default


def test_follow_ups_are_written_only_when_asked_for(workspace: Workspace) -> None:
    written(workspace, facts={"available_gpu_hours": 0.2})
    without = updated(workspace)
    assert "action: a high risk needs an action; add `action` to `boards`" in without.skipped
    boards = {
        "memory/action-board.md": (
            "# Action Board\n\n| ID | Status | Owner | Component | Summary | Links | Next step "
            "| Due | Updated |\n|---|---|---|---|---|---|---|---|---|\n"
        ),
        "memory/handoff-board.md": (
            "# Handoff Board\n\n| ID | Status | Producer | Consumer | From | To | Payload "
            "| Source paths | Expected output | Linked objects | Acceptance check "
            "| Staleness trigger | Updated |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        ),
        "memory/project-conventions.md": (
            "# Conventions\n\n## Active\n\n| ID | Rule | Category | Since | Notes |\n"
            "|---|---|---|---|---|\n"
        ),
    }
    projects.write_files(workspace.project.root, boards)
    result = updated(workspace, boards=["action", "handoff", "convention"])
    assert [board(result, path).ids for path in boards] == [["ACT-001"], ["HND-001"], ["PC-001"]]
    assert cells(workspace, "memory/action-board.md", "ACT-001")["Owner"] == "user"
    handoff = cells(workspace, "memory/handoff-board.md", "HND-001")
    assert (handoff["Producer"], handoff["Consumer"], handoff["From"], handoff["To"]) == (
        "compute-budget-planner",
        "run-experiment",
        "code",
        "code",
    )
    rule = cells(workspace, "memory/project-conventions.md", "PC-001")
    assert rule["Category"] == "compute"
    assert "at most 30 minutes and 5 % of the run's GPU-hours" in rule["Rule"]


# Nothing else changes


def test_every_other_byte_of_the_boards_survives(workspace: Workspace) -> None:
    before = projects.snapshot(workspace.project.root)
    written(workspace, facts={"available_gpu_hours": 0.2, **LIMIT}, decisions=[ACCEPTED])
    budget = "code/.agent/compute-budget.md"
    result = updated(workspace)
    after = projects.snapshot(workspace.project.root)
    changed = {path for path in after if after[path] != before.get(path)}
    assert changed == {budget, *BOARDS}
    new = {entry for b in result.boards for entry in b.ids}
    for path in ("memory/risk-board.md", "memory/evidence-board.md"):
        kept = [
            line
            for line in after[path].decode().splitlines(keepends=True)
            if not line.startswith(tuple(f"| {entry} " for entry in new))
        ]
        assert "".join(kept) == before[path].decode()


def test_the_counters_are_raised_and_the_rest_of_the_yaml_stays(workspace: Workspace) -> None:
    written(workspace, facts={"available_gpu_hours": 0.2}, decisions=[ACCEPTED])
    result = updated(workspace)
    # Board RSK-021 over counter 7, counter 30 over board EVD-002, board DEC-004 over counter 2.
    assert result.id_counters == {"risk": 22, "evidence": 31, "decision": 5}
    assert text(workspace, "memory/project.yaml") == (
        "project:\n  name: tiny-control\nid_counters:\n  risk: 22\n  evidence: 31\n  decision: 5\n"
    )


def test_a_project_without_counters_gets_none_it_did_not_have_a_file_for(tmp_path: Path) -> None:
    root = projects.write_files(projects.control_root(tmp_path), BOARDS)
    (root / "memory/project.yaml").unlink()
    workspace = open_workspace(root)
    written(workspace)
    result = updated(workspace)
    assert board(result, "memory/evidence-board.md").ids == ["EVD-003"]
    assert result.id_counters == {}
    assert not (root / "memory/project.yaml").exists()


def test_the_same_call_twice_changes_nothing_not_even_on_another_day(workspace: Workspace) -> None:
    written(workspace, facts={"available_gpu_hours": 0.2, **LIMIT}, decisions=[ACCEPTED])
    first = updated(workspace)
    before = projects.snapshot(workspace.project.root)
    later = replace(workspace, today=workspace.today + timedelta(days=9))
    again = updated(later)
    assert projects.snapshot(workspace.project.root) == before
    assert again.summary.startswith("Nothing to change.")
    assert {b.action for b in again.boards} == {"unchanged"}
    assert [b.ids for b in again.boards[:3]] == [b.ids for b in first.boards[:3]]


def test_new_numbers_update_the_row_and_add_none(workspace: Workspace) -> None:
    written(workspace, facts={"available_gpu_hours": 0.2})
    updated(workspace)
    written(workspace, from_budget=True, facts={"available_gpu_hours": 0.3})
    assert board(updated(workspace), "memory/risk-board.md").ids == ["RSK-022"]
    assert text(workspace, "memory/risk-board.md").count("Compute of the required runs") == 1
    assert "0.3 are available" in cells(workspace, "memory/risk-board.md", "RSK-022")["Summary"]


def test_a_dry_run_shows_the_diffs_and_what_follows_does_it(workspace: Workspace) -> None:
    written(workspace, facts={"available_gpu_hours": 0.2}, decisions=[ACCEPTED])
    before = projects.snapshot(workspace.project.root)
    dry = updated(workspace, dry_run=True, claims=["CLM-001"])
    assert projects.snapshot(workspace.project.root) == before
    assert dry.summary.startswith("Would change `memory/risk-board.md` (RSK-022), ")
    (step,) = dry.next
    real = updated(workspace, **step.arguments)
    assert [(b.path, b.action, b.ids) for b in real.boards] == [
        (b.path, b.action, b.ids) for b in dry.boards
    ]
    for b in dry.boards:
        added = [line[1:] for line in b.diff.splitlines()[2:] if line.startswith("+")]
        assert added
        assert set(added) <= set(text(workspace, b.path).splitlines())
    assert {b.diff for b in real.boards} == {""}


# Boards that are missing, strange or not ours


def test_a_missing_board_is_named_and_made_only_when_asked(tmp_path: Path) -> None:
    workspace = open_workspace(projects.control_root(tmp_path))
    (tmp_path / "memory/risk-board.md").unlink()
    written(workspace, facts={"available_gpu_hours": 0.2}, decisions=[ACCEPTED])
    before = projects.snapshot(tmp_path)
    result = updated(workspace)
    missing = ["memory/risk-board.md", "memory/decision-log.md", "memory/evidence-board.md"]
    assert [path for path, action in actions(result).items() if action == "missing"] == missing
    assert projects.snapshot(tmp_path) == before
    (step,) = result.next
    assert step.question == "Shall the missing boards be made from the templates?"
    made = updated(workspace, **step.arguments)
    assert [(b.path, b.action, b.ids) for b in made.boards[:3]] == [
        ("memory/risk-board.md", "created", ["RSK-001"]),
        ("memory/decision-log.md", "created", ["DEC-001"]),
        ("memory/evidence-board.md", "created", ["EVD-001"]),
    ]
    for path in missing:
        page = text(workspace, path)
        assert "Project: tiny-control" in page
        assert "{{" not in page
    assert updated(workspace, create_boards=True).summary.startswith("Nothing to change.")


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("memory/boards/risks.yaml", '{"schema_version":"0.1.0","risks":[]}'),
        ("lab/research/experiment-ledger.yaml", "schema_version: 1\nexperiments: []\n"),
    ],
)
def test_boards_in_yaml_are_refused_and_left_alone(
    workspace: Workspace, path: str, content: str
) -> None:
    written(workspace, facts={"available_gpu_hours": 0.2})
    projects.write_files(workspace.project.root, {path: content})
    before = projects.snapshot(workspace.project.root)
    with pytest.raises(RequestError, match=path):
        updated(workspace, create_boards=True)
    assert projects.snapshot(workspace.project.root) == before


def test_one_board_without_a_place_for_its_row_leaves_all_as_they_were(
    workspace: Workspace,
) -> None:
    written(workspace, facts={"available_gpu_hours": 0.2})
    projects.write_files(workspace.project.root, {"memory/evidence-board.md": "# Evidence Board\n"})
    before = projects.snapshot(workspace.project.root)
    with pytest.raises(FormatError, match=r"memory/evidence-board\.md"):
        updated(workspace)
    assert projects.snapshot(workspace.project.root) == before


def test_without_a_budget_there_is_nothing_to_remember(workspace: Workspace) -> None:
    with pytest.raises(RequestError, match="there is no budget to start from"):
        updated(workspace)


def test_a_worktree_writes_its_own_status_and_no_board(tmp_path: Path) -> None:
    worktree = projects.linked_worktree(tmp_path)
    projects.write_files(tmp_path, BOARDS)
    workspace = open_workspace(tmp_path, start=worktree)
    written(workspace, files=["jobs/short.sh"], facts={"available_gpu_hours": 0.01})
    before = projects.snapshot(tmp_path)
    result = updated(workspace)
    path = "code-worktrees/exp-short/.agent/worktree-status.md"
    after = projects.snapshot(tmp_path)
    assert {**before, path: after[path]} == after
    assert actions(result) == {path: "updated"}
    page = after[path].decode()
    assert page.startswith("# Worktree Status\n")
    assert "## Local Hot Results\n\n- Compute of short: 1 × A100-SXM-80GB, " in page
    assert updated(workspace).summary == "Nothing to change."
    assert projects.snapshot(tmp_path) == after


def test_nothing_private_reaches_the_boards(workspace: Workspace) -> None:
    reason = "see /home/jdoe/notes on login7.cluster.edu"
    written(
        workspace,
        files=[f"{workspace.project.root}/code/jobs/gpt2-main.sh"],
        facts={"available_gpu_hours": 0.2, "dataset": "/scratch/jdoe/openwebtext"},
        decisions=[{**ACCEPTED, "reason": reason}],
        claims=["CLM-001 /scratch/jdoe/claims"],
    )
    updated(workspace, claims=["CLM-002 jdoe@login7.cluster.edu:/home/jdoe/x"])
    planted = [*projects.SECRETS, str(workspace.project.root)]
    for path in BOARDS:
        assert [secret for secret in planted if secret in text(workspace, path)] == [], path
    assert "CLM-002" in text(workspace, "memory/risk-board.md")
