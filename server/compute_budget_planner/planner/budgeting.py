"""`write_budget`: the plan of all main runs as a page of the project."""

from collections.abc import Sequence

from compute_budget_planner import __version__
from compute_budget_planner.markdown.budget import budget_text
from compute_budget_planner.markdown.budget_plan import BudgetPlan, Envelope, Totals
from compute_budget_planner.numbers import rounded
from compute_budget_planner.planner.assessing import Assessed, RunInputs, assess_run, run_inputs
from compute_budget_planner.planner.disclosure import disclosure, open_points
from compute_budget_planner.planner.inspecting import envelope
from compute_budget_planner.planner.jobs import job_block
from compute_budget_planner.planner.present import limit_of, present
from compute_budget_planner.planner.sentences import spread
from compute_budget_planner.planner.smoking import smoke_of
from compute_budget_planner.planner.stored import (
    StoredInputs,
    budget_block,
    changed_files,
    stored_request,
)
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.checks import CheckInputs, final_checks
from compute_budget_planner.planning.limits import walltime_hours
from compute_budget_planner.project import private_paths
from compute_budget_planner.requests import Decision, WriteBudgetRequest
from compute_budget_planner.results import (
    BudgetResult,
    CheckOut,
    EstimateResult,
    JobBlock,
    NextStep,
    RangeOut,
    SmokeResult,
)


def write_budget(workspace: Workspace, request: WriteBudgetRequest) -> BudgetResult:
    """Write, or refresh, the compute budget of the project.

    Raises:
        PlannerError: an input cannot be used, or the page may not be written; nothing is.
    """
    path = workspace.project.budget_path
    with workspace.project.locked(path):
        return _write(workspace, request, path)


def _write(workspace: Workspace, request: WriteBudgetRequest, path: str) -> BudgetResult:
    project = workspace.project
    stored = stored_request(workspace) if request.from_budget else None
    request = _merged(request, stored)
    inputs = run_inputs(
        workspace, request.files, request.facts, request.measured_runs, from_budget=False
    )
    runs = _main_runs(workspace, inputs, request.runs)
    estimates = [present(workspace, run) for run in runs]
    smokes = [smoke_of(workspace, run) for run in runs]
    jobs = _jobs(workspace, runs, smokes)
    totals = _totals(estimates, smokes)
    existing = project.read(path).text if (project.root / path).is_file() else ""
    previous = budget_block(workspace)
    new = [
        Decision.model_validate(_private(workspace, decision.model_dump()))
        for decision in request.decisions
    ]
    decisions = _decisions(previous.decisions if previous is not None else [], new)
    plan = BudgetPlan(
        project=project.name,
        generated=workspace.today.isoformat(),
        tool_version=__version__,
        status=request.status,
        plan_sources=tuple(_sources(inputs, runs)),
        claims=tuple(private_paths(c, project.root) for c in request.claims),
        estimates=tuple(estimates),
        smokes=tuple(smokes),
        jobs=tuple(jobs),
        totals=totals,
        envelope=_envelope(inputs, runs),
        decisions=tuple(decisions),
        disclosure=disclosure(estimates, totals.main_all_seeds),
        checks=tuple(_checks(workspace, runs, estimates, smokes, totals, decisions)),
        open_points=tuple(open_points(estimates, smokes)),
        inputs=_inputs(workspace, request),
        input_sha256=_hashes(workspace, inputs),
    )
    text = budget_text(plan, existing, path)
    diff = project.unified_diff(path, text)
    sha256, changed = "", bool(diff)
    if not request.dry_run:
        outcome = project.write_text(path, text, expected_sha256=request.expected_sha256)
        sha256, changed = outcome.sha256, outcome.changed
    result = BudgetResult(
        summary="",
        path=path,
        changed=changed,
        dry_run=request.dry_run,
        sha256=sha256,
        diff=diff if request.dry_run else "",
        status=request.status,
        estimates=estimates,
        smokes=smokes,
        jobs=jobs,
        total_gpu_hours=totals.main_all_seeds,
        disclosure=plan.disclosure,
        checks=list(plan.checks),
        open_points=list(plan.open_points),
        changed_files=changed_files(workspace, stored) if stored is not None else [],
        untracked=project.git_ignored(path) or "",
        next=_next(estimates, request),
    )
    return result.model_copy(update={"summary": _summary(result)})


def _sources(inputs: RunInputs, runs: Sequence[Assessed]) -> list[str]:
    """Return the files the plan rests on: those of its runs, plans, data and earlier logs."""
    used = {reading.path for run in runs for reading in run.readings}
    calibrated = {
        label
        for run in runs
        if run.assessment.calibration is not None
        for label in run.assessment.calibration.labels
    }
    return [
        path
        for path, reading in inputs.gathered.readings.items()
        if path in used | calibrated or reading.kind in ("plan", "data")
    ]


def _merged(request: WriteBudgetRequest, stored: StoredInputs | None) -> WriteBudgetRequest:
    if stored is None:
        return request
    return request.model_copy(
        update={
            "files": list(dict.fromkeys([*stored.files, *request.files])),
            "facts": {**stored.facts, **request.facts},
            "runs": request.runs or stored.runs,
            "measured_runs": [*stored.measured_runs, *request.measured_runs],
            "claims": list(dict.fromkeys([*stored.claims, *request.claims])),
        }
    )


def _main_runs(workspace: Workspace, inputs: RunInputs, names: Sequence[str]) -> list[Assessed]:
    """Return the runs asked for, or those that have not finished yet, or all."""
    gathered = inputs.gathered
    if names:
        return [assess_run(workspace, inputs, gathered.named(name)) for name in names]
    if not gathered.runs:
        return [assess_run(workspace, inputs, None)]
    ahead = [
        run
        for run in gathered.runs
        if not any(gathered.readings[log].finished for log in run.prior_logs)
    ]
    return [assess_run(workspace, inputs, run) for run in ahead or gathered.runs]


def _jobs(
    workspace: Workspace, runs: Sequence[Assessed], smokes: Sequence[SmokeResult]
) -> list[JobBlock]:
    """Return the jobs in submission order: every smoke test, then every main run."""
    jobs = [smoke.job for smoke in smokes if smoke.job is not None]
    for assessed in runs:
        run, estimate = assessed.assessment.run, assessed.assessment.estimate
        if run is None or estimate is None:
            continue
        hours = walltime_hours(
            estimate.wall_clock_hours, run.limits.time_limit_hours, workspace.reference
        )
        jobs.append(
            job_block(
                workspace,
                assessed,
                run,
                task_class="formal",
                job_name=assessed.name,
                extra_options="",
                walltime=hours,
                expected_hours=estimate.wall_clock_hours.expected,
                gpu_hours=estimate.gpu_hours.expected,
                segments=limit_of(workspace, run, estimate.wall_clock_hours).segments or 1,
            )
        )
    return jobs


def _totals(estimates: Sequence[EstimateResult], smokes: Sequence[SmokeResult]) -> Totals:
    one_seed = _sum([e.gpu_hours for e in estimates])
    all_seeds = _sum([e.gpu_hours_all_seeds for e in estimates])
    smoke = _sum([s.gpu_hours for s in smokes])
    return Totals(one_seed, all_seeds, smoke, _sum([all_seeds, smoke]))


def _sum(parts: Sequence[RangeOut | None]) -> RangeOut | None:
    """Return the sum of ranges as shown, None when a part is unknown."""
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return RangeOut(
        low=sum(p.low for p in known),
        expected=sum(p.expected for p in known),
        high=sum(p.high for p in known),
    )


def _envelope(inputs: RunInputs, runs: Sequence[Assessed]) -> Envelope:
    facts = runs[0].assessment.resolution.facts if runs else {}

    def number(name: str) -> float | None:
        fact = facts.get(name)
        return None if fact is None or isinstance(fact.value, str) else float(fact.value)

    available = number("available_gpu_hours")
    most = number("max_gpus")
    deadline = facts.get("deadline")
    return Envelope(
        available_gpu_hours=None if available is None else rounded(available),
        max_gpus=None if most is None else int(most),
        deadline=None if deadline is None else str(deadline.value),
        environments=tuple(envelope(inputs.gathered)),
    )


def _checks(
    workspace: Workspace,
    runs: Sequence[Assessed],
    estimates: Sequence[EstimateResult],
    smokes: Sequence[SmokeResult],
    totals: Totals,
    decisions: Sequence[Decision],
) -> list[CheckOut]:
    facts = runs[0].assessment.resolution.facts if runs else {}
    available = facts.get("available_gpu_hours")
    inputs = CheckInputs(
        smoke_minutes_high=[
            s.wall_clock_minutes.high if s.wall_clock_minutes is not None else None for s in smokes
        ],
        smoke_gpus=[s.n_gpus for s in smokes],
        limit_fits=[e.limit.fits if e.limit is not None else "unknown" for e in estimates],
        segments=[e.limit.segments if e.limit is not None else None for e in estimates],
        variants=0,
        variants_without_priority=0,
        alternatives_considered=len(decisions),
        required_gpu_hours=totals.required.expected if totals.required is not None else None,
        available_gpu_hours=float(available.value) if available is not None else None,
        has_risk_entry=False,
    )
    longest = workspace.reference.value("smoke_max_minutes")
    return [
        CheckOut(name=check.name, passed=check.passed, reason=check.reason)
        for check in final_checks(inputs, longest)
    ]


def _decisions(kept: Sequence[Decision], new: Sequence[Decision]) -> list[Decision]:
    """Return earlier decisions, each replaced by a new one on the same alternative."""
    merged = {d.alternative: d for d in kept}
    merged.update({d.alternative: d for d in new})
    return list(merged.values())


def _inputs(workspace: Workspace, request: WriteBudgetRequest) -> dict[str, object]:
    """Return what a refresh starts from, without absolute paths, users, hosts and secrets."""
    names = {"files", "facts", "runs", "measured_runs", "claims"}
    given = request.model_dump(mode="json", include=names)
    return {name: _private(workspace, value) for name, value in given.items()}


def _private(workspace: Workspace, value: object) -> object:
    match value:
        case str():
            return private_paths(value, workspace.project.root)
        case list():
            return [_private(workspace, item) for item in value]
        case dict():
            return {name: _private(workspace, item) for name, item in value.items()}
        case _:
            return value


def _hashes(workspace: Workspace, inputs: RunInputs) -> dict[str, str]:
    return {path: workspace.project.sha256(path) for path in sorted(inputs.gathered.readings)}


def _next(estimates: Sequence[EstimateResult], request: WriteBudgetRequest) -> list[NextStep]:
    question = next((e.questions[0] for e in estimates if e.questions), "")
    if request.dry_run:
        arguments = request.model_dump(mode="json", exclude_defaults=True, exclude={"dry_run"})
        return [NextStep(tool="write_budget", arguments=arguments, question=question)]
    stored: dict[str, object] = {"from_budget": True}
    if len(estimates) > 1:
        stored["run"] = estimates[0].run
    return [NextStep(tool="estimate_run", arguments=stored, question=question)]


def _summary(result: BudgetResult) -> str:
    did = "Would write" if result.dry_run else ("Wrote" if result.changed else "Unchanged:")
    text = f"{did} `{result.path}` ({result.status})"
    if result.total_gpu_hours is not None:
        text += f": {spread(result.total_gpu_hours, 'GPU-hours')} for all main runs and seeds"
    failed = [check.name for check in result.checks if check.passed is False]
    if failed:
        text += f". Failed checks: {'; '.join(failed)}"
    if result.changed_files:
        text += f". Changed since the last budget: {', '.join(result.changed_files)}"
    if result.untracked:
        text += (
            f". Git ignores it ({result.untracked}); track it with `git add -f {result.path}` "
            "where its folder is"
        )
    return text + "."
