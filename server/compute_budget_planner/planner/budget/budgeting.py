"""`write_budget`: the plan as a page of the project."""

from collections.abc import Sequence

from compute_budget_planner import __version__
from compute_budget_planner.markdown.budget import budget_text
from compute_budget_planner.markdown.budget_plan import BudgetPlan
from compute_budget_planner.numbers import brief, counted, written
from compute_budget_planner.planner.budget.disclosure import disclosure, open_points
from compute_budget_planner.planner.budget.plan import Plan, make_plan
from compute_budget_planner.planner.budget.stored import (
    INPUT_NAMES,
    budget_block,
    changed_files,
    refreshed,
    stored_request,
)
from compute_budget_planner.planner.grid.budget_grid import PICTURE_NAME, picture_text
from compute_budget_planner.planner.sentences import not_estimated, spread
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.project import private_paths
from compute_budget_planner.requests import Decision, WriteBudgetRequest
from compute_budget_planner.results import AblationsResult, BudgetResult, EstimateResult, NextStep


def write_budget(workspace: Workspace, request: WriteBudgetRequest) -> BudgetResult:
    """Write, or refresh, the compute budget of the project.

    Raises:
        PlannerError: an input cannot be used, or the page may not be written; nothing is.
    """
    project = workspace.project
    path, picture_path = project.budget_path, f"{project.agent_dir}/{PICTURE_NAME}"
    with project.locked(path, picture_path):
        return _write(workspace, request, path, picture_path)


def _write(
    workspace: Workspace, request: WriteBudgetRequest, path: str, picture_path: str
) -> BudgetResult:
    project = workspace.project
    stored = stored_request(workspace) if request.from_budget else None
    if stored is not None:
        request = refreshed(request, stored.request)
    dropped = [] if stored is not None else _dropped_inputs(workspace, request)
    plan = make_plan(workspace, request, taken_decisions(workspace, request.decisions))
    picture = picture_text(plan.grid)
    page = _page(workspace, request, plan, PICTURE_NAME if picture else "")
    existing = project.read(path).text if (project.root / path).is_file() else ""
    text = budget_text(page, existing, path)
    diff = project.unified_diff(path, text)
    drawing = project.unified_diff(picture_path, picture) if picture else ""
    sha256 = ""
    if not request.dry_run:
        sha256 = project.write_text(path, text, expected_sha256=request.expected_sha256).sha256
        if picture:
            project.write_text(picture_path, picture)
    result = BudgetResult(
        summary="",
        path=path,
        changed=bool(diff or drawing),
        dry_run=request.dry_run,
        sha256=sha256,
        diff=diff if request.dry_run else "",
        status=request.status,
        estimates=list(plan.estimates),
        smokes=list(plan.smokes),
        ablations=plan.ablations,
        alternatives=list(plan.alternatives),
        grid=plan.grid,
        grid_picture=picture_path if picture else "",
        jobs=list(plan.jobs),
        total_gpu_hours=plan.totals.main_all_seeds,
        required_gpu_hours=plan.totals.required,
        disclosure=page.disclosure,
        checks=list(plan.checks),
        open_points=list(page.open_points),
        changed_files=changed_files(workspace, stored) if stored is not None else [],
        dropped_inputs=dropped,
        untracked=project.git_ignored(path) or "",
        next=_next(plan.estimates, request),
    )
    return result.model_copy(update={"summary": _summary(result)})


def _dropped_inputs(workspace: Workspace, request: WriteBudgetRequest) -> list[str]:
    """Return what the written budget was told and this call does not repeat."""
    if budget_block(workspace) is None:
        return []
    before = stored_request(workspace).request
    dropped = [f"fact {n}={v}" for n, v in before.facts.items() if n not in request.facts]
    lists = {
        "file": (before.files, request.files),
        "run": (before.runs, request.runs),
        "variant": ([v.name for v in before.variants], [v.name for v in request.variants]),
        "claim": (before.claims, request.claims),
    }
    for word, (old, new) in lists.items():
        dropped += [f"{word} {name}" for name in old if name not in new]
    if before.grid is not None and request.grid is None:
        dropped.append("grid")
    return dropped


def taken_decisions(workspace: Workspace, new: Sequence[Decision]) -> list[Decision]:
    """Return all decisions: earlier ones, each replaced by a new one on the same alternative."""
    previous = budget_block(workspace)
    earlier = previous.decisions if previous is not None else []
    merged = {(d.run, d.alternative): d for d in earlier}
    for decision in new:
        private = Decision.model_validate(_private(workspace, decision.model_dump()))
        merged[(private.run, private.alternative)] = private
    return list(merged.values())


def _page(
    workspace: Workspace, request: WriteBudgetRequest, plan: Plan, grid_picture: str
) -> BudgetPlan:
    project = workspace.project
    return BudgetPlan(
        project=project.name,
        generated=workspace.today.isoformat(),
        tool_version=__version__,
        status=request.status,
        plan_sources=tuple(_sources(plan)),
        claims=tuple(private_paths(c, project.root) for c in request.claims),
        estimates=plan.estimates,
        smokes=plan.smokes,
        jobs=plan.jobs,
        totals=plan.totals,
        envelope=plan.envelope,
        ablations=plan.ablations,
        alternatives=plan.alternatives,
        grid=plan.grid,
        grid_picture=grid_picture,
        fairness_rules=tuple(
            row.required("text") for row in workspace.reference.rows("fairness_rules").values()
        ),
        decisions=plan.decisions,
        disclosure=disclosure(plan.estimates, plan.totals.main_all_seeds, plan.ablations),
        checks=plan.checks,
        open_points=(
            *open_points(plan.estimates, plan.smokes),
            *_not_yet_done(plan),
            *plan.open_questions,
            *(f"grid: {question}" for question in (plan.grid.questions if plan.grid else [])),
        ),
        inputs=_inputs(workspace, request),
        input_sha256=_hashes(workspace, plan),
    )


def _sources(plan: Plan) -> list[str]:
    """Return the files the plan rests on: those of its runs, plans, data and earlier logs."""
    used = {reading.path for run in plan.runs for reading in run.readings}
    calibrated = {
        label
        for run in plan.runs
        if run.assessment.calibration is not None
        for label in run.assessment.calibration.labels
    }
    return [
        path
        for path, reading in plan.inputs.gathered.readings.items()
        if path in used | calibrated or reading.kind in ("plan", "data")
    ]


def _not_yet_done(plan: Plan) -> list[str]:
    """Return accepted alternatives that the files do not carry out yet."""
    points = []
    for result in plan.alternatives:
        for a in result.alternatives:
            if a.decision == "accepted":
                changes = ", ".join(f"{n} = {written(v)}" for n, v in a.changes.items())
                points.append(
                    f"{result.run}: `{a.alternative}` is accepted, but the files still say "
                    f"otherwise: set {changes}, then refresh the budget"
                )
    return points


def _inputs(workspace: Workspace, request: WriteBudgetRequest) -> dict[str, object]:
    """Return what a refresh starts from, without absolute paths, users, hosts and secrets."""
    given = request.model_dump(mode="json", include=set(INPUT_NAMES))
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


def _hashes(workspace: Workspace, plan: Plan) -> dict[str, str]:
    """Return the hash of every input; boards are what the plan is written to, not read from."""
    return {
        path: workspace.project.sha256(path)
        for path, reading in sorted(plan.inputs.gathered.readings.items())
        if reading.kind != "board"
    }


def _next(estimates: Sequence[EstimateResult], request: WriteBudgetRequest) -> list[NextStep]:
    question = next((e.questions[0] for e in estimates if e.questions), "")
    if request.dry_run:
        arguments = request.model_dump(mode="json", exclude_defaults=True, exclude={"dry_run"})
        return [NextStep(tool="write_budget", arguments=arguments, question=question)]
    return [NextStep(tool="update_memory", arguments={"dry_run": True}, question=question)]


def _standing(matrix: AblationsResult) -> str:
    """Say what the required hours lack, and how they stand against the available ones."""
    text = ""
    if matrix.uncosted_required:
        text = f" but without {', '.join(matrix.uncosted_required)}, whose cost is not known"
    if matrix.verdict != "unknown" and matrix.available_gpu_hours is not None:
        stand = "inside" if matrix.verdict == "fits" else "over"
        text += f", {stand} the {brief(matrix.available_gpu_hours)} available"
    return text


def _summary(result: BudgetResult) -> str:
    did = "Would write" if result.dry_run else ("Wrote" if result.changed else "Unchanged:")
    text = f"{did} `{result.path}` ({result.status})"
    if result.total_gpu_hours is not None:
        text += f": {spread(result.total_gpu_hours, 'GPU-hours')} for all main runs and seeds"
    if result.ablations is not None and result.ablations.required_gpu_hours is not None:
        required = spread(result.ablations.required_gpu_hours, "GPU-hours")
        text += f", {required} with the required ablations{_standing(result.ablations)}"
    if result.grid is not None and result.grid.cells:
        verb = "to be drawn" if result.dry_run else "drawn"
        drawn = f", {verb} in `{result.grid_picture}`" if result.grid_picture else ""
        text += f", a grid of {counted(len(result.grid.cells), 'cell')} beside them{drawn}"
    text += not_estimated(result.estimates)
    failed = [check.name for check in result.checks if check.passed is False]
    if failed:
        text += f". Failed checks: {'; '.join(failed)}"
    if result.changed_files:
        text += f". Changed since the last budget: {', '.join(result.changed_files)}"
    if result.dropped_inputs:
        text += (
            f". The budget before was also told {', '.join(result.dropped_inputs)}: "
            "`from_budget` keeps that"
        )
    if result.untracked:
        text += (
            f". Git ignores it ({result.untracked}); track it with `git add -f {result.path}` "
            "where its folder is"
        )
    return text + "."
