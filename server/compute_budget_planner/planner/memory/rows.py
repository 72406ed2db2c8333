"""The rows a budget puts on the memory boards, and when each is due."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compute_budget_planner.markdown.board_entries import (
    ActionRow,
    ConventionRow,
    HandoffRow,
    RiskRow,
)
from compute_budget_planner.markdown.boards import Entry
from compute_budget_planner.markdown.decision_log import DecisionBlock
from compute_budget_planner.numbers import shown, written
from compute_budget_planner.planner.budget.plan import COMPUTE_RISK, Plan
from compute_budget_planner.planner.budget.plan_totals import open_required
from compute_budget_planner.planner.memory.boards_read import CLAIM_BOARD, board_rows
from compute_budget_planner.planner.sentences import spread
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.results import AlternativeOut, EstimateResult, RangeOut


@dataclass(frozen=True)
class Remembered:
    """A plan that is to be remembered, with the claims it bears on."""

    workspace: Workspace
    plan: Plan
    claims: tuple[str, ...]
    budget_path: str

    @property
    def date(self) -> str:
        """The day of the update."""
        return self.workspace.today.isoformat()


def risk_rows(remembered: Remembered) -> tuple[list[RiskRow], list[str]]:
    """Return the risks that are due, and what is not due and why."""
    rows = []
    skipped = []
    plan = remembered.plan
    required, available = plan.totals.required, plan.envelope.available_gpu_hours
    if required is None or available is None:
        skipped.append("risk: the required or the available GPU-hours are not known")
    elif required.high > available:
        rows.append(_hours_risk(remembered, required, available))
    elif open_required(plan.ablations):
        skipped.append("risk: required variants are not costed yet")
    else:
        skipped.append("risk: required GPU-hours fit the available ones at the high end")
    rows += [row for e in plan.estimates for row in _run_risks(remembered, e)]
    return rows, skipped


def _hours_risk(remembered: Remembered, required: RangeOut, available: float) -> RiskRow:
    cut = _saves_enough(remembered.plan, required, available)
    severity: Literal["medium", "high", "fatal"] = "high" if cut is None else "medium"
    if cut is None and _only_evidence(remembered):
        severity = "fatal"
    mitigation = (
        "more GPU-hours, or claims that need fewer runs: no single alternative saves enough"
    )
    if cut is not None:
        verb = "carry out the accepted" if cut.decision == "accepted" else "accept the"
        mitigation = f"{verb} alternative `{cut.alternative}`"
    return RiskRow(
        kind="execution",
        severity=severity,
        probability=_probability(required, available),
        subject=COMPUTE_RISK,
        summary=f"{spread(required, 'GPU-hours')} are required, {shown(available)} are available",
        threatens=remembered.claims,
        mitigation=mitigation,
        date=remembered.date,
    )


def _probability(value: RangeOut, limit: float) -> Literal["medium", "high"]:
    """Return high when the expected value exceeds a limit, medium when only the high end does."""
    return "high" if value.expected > limit else "medium"


def _saves_enough(plan: Plan, required: RangeOut, available: float) -> AlternativeOut | None:
    """Return the first alternative that brings the required hours down to the available ones.

    Faster hardware is none: GPU-hours on another device are another unit.
    """
    seeds = {estimate.run: estimate.seeds for estimate in plan.estimates}
    for result in plan.alternatives:
        if result.gpu_hours is None:
            continue
        for a in result.alternatives:
            saved = (result.gpu_hours.expected - a.gpu_hours.expected) * seeds[result.run]
            usable = a.decision != "rejected" and a.group != "hardware"
            if usable and required.expected - saved <= available:
                return a
    return None


def _only_evidence(remembered: Remembered) -> bool:
    """Tell whether a linked claim has nothing else to rest on."""
    rows = {row.id: row for row in board_rows(remembered.workspace, CLAIM_BOARD)}
    linked = [rows[claim] for claim in remembered.claims if claim in rows]
    return any(not row.cells.get("supported by", "").strip(" -—–") for row in linked)


def _run_risks(remembered: Remembered, estimate: EstimateResult) -> list[RiskRow]:
    rows = []
    limit, memory = estimate.limit, estimate.memory
    wall = estimate.wall_clock_hours
    if limit is not None and limit.fits in ("no", "uncertain") and wall is not None:
        jobs = f"{shown(limit.segments)} jobs in a row" if limit.segments else "no number of jobs"
        rows.append(
            RiskRow(
                kind="execution",
                severity="medium" if limit.segments else "high",
                probability=_probability(wall, limit.time_limit_hours or 0.0),
                subject=f"Time limit of {estimate.run}",
                summary=f"{spread(wall, 'hours')} against a limit of "
                f"{shown(limit.time_limit_hours or 0.0)} hours: {jobs}",
                threatens=remembered.claims,
                mitigation="chain of jobs that resume from checkpoints; the smoke test resumes one",
                date=remembered.date,
            )
        )
    if memory is not None and memory.verdict == "OOM" and memory.peak_gib is not None:
        rows.append(
            RiskRow(
                kind="execution",
                severity="medium" if memory.smallest_fix else "high",
                probability="high",
                subject=f"Memory of {estimate.run}",
                summary=f"{spread(memory.peak_gib, 'GiB')} on a device of "
                f"{shown(memory.capacity_gib or 0.0)} GiB",
                threatens=remembered.claims,
                mitigation=memory.smallest_fix,
                date=remembered.date,
            )
        )
    return rows


def decision_rows(remembered: Remembered) -> list[DecisionBlock]:
    """Return a decision for each accepted alternative that changes the design."""
    blocks = []
    for result in remembered.plan.alternatives:
        for a in result.alternatives:
            if a.decision == "accepted" and a.changes_design:
                blocks.append(_decision(remembered, result.run, a, result.alternatives))
    return blocks


def _decision(
    remembered: Remembered, run: str, chosen: AlternativeOut, listed: Sequence[AlternativeOut]
) -> DecisionBlock:
    changes = ", ".join(f"{n} = {written(v)}" for n, v in chosen.changes.items())
    others = [a.alternative for a in listed if a.changes_design and a is not chosen]
    reason = f"{chosen.reason.rstrip('.')}. " if chosen.reason else ""
    return DecisionBlock(
        title=f"Compute of {run}: {chosen.alternative}",
        date=remembered.date,
        decision=f"{chosen.alternative} for {run}: {changes}",
        why=f"{reason}Saves {shown(chosen.saving_gpu_hours_percent)} % of the GPU-hours "
        f"(estimated); signal: {chosen.signal_quality}",
        alternatives_considered=", ".join(others) or "none",
        affects=", ".join(remembered.claims) or run,
        revisit_when=f"{chosen.watch}; or the estimate is replaced by a measurement",
    )


def follow_up_rows(remembered: Remembered, risks: Sequence[RiskRow]) -> dict[str, list[Entry]]:
    """Return the rows that are off by default: action, handoff, convention."""
    high = [row for row in risks if row.severity in ("high", "fatal")]
    actions: list[Entry] = [
        ActionRow(
            subject=f"Settle: {row.subject}",
            summary=row.summary,
            links=remembered.claims,
            next_step=row.mitigation,
            date=remembered.date,
            owner="user",
        )
        for row in high
    ]
    jobs = [job.job_name for job in remembered.plan.jobs]
    handoffs: list[Entry] = (
        [
            HandoffRow(
                status="proposed",
                subject="Sized jobs of the compute budget",
                payload=f"{shown(len(jobs))} jobs in submission order, first {jobs[0]}",
                source_paths=(remembered.budget_path,),
                expected_output="run notes with measured seconds per step and peak memory",
                linked=remembered.claims,
                acceptance_check="the smoke test passes before any required job is submitted",
                staleness_trigger="a job script or config changes after the budget was written",
                date=remembered.date,
            )
        ]
        if jobs
        else []
    )
    longest = remembered.workspace.reference.value("smoke_max_minutes")
    share = remembered.workspace.reference.value("smoke_max_share_percent")
    conventions: list[Entry] = [
        ConventionRow(
            subject="Smoke test before any formal run",
            rule=f"at most {shown(longest)} minutes and {shown(share)} % of the run's GPU-hours, "
            "on one GPU or the smallest group that holds it",
            since=remembered.date,
        )
    ]
    return {"action": actions, "handoff": handoffs, "convention": conventions}
