"""`diagnose_run`: the curves of one run or several, read, judged and compared."""

from collections.abc import Sequence
from dataclasses import replace

from compute_budget_planner.diagnosis_request import DiagnoseRequest
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.numbers import brief, counted
from compute_budget_planner.planner.curves.diagnosis_out import (
    JudgedCurves,
    equal_compute_out,
    run_out,
)
from compute_budget_planner.planner.curves.picture import picture_of_runs
from compute_budget_planner.planner.curves.run_curves import LoggedRun, logged_runs
from compute_budget_planner.planner.curves.split_doubts import split_doubts
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.diagnosis import diagnose
from compute_budget_planner.planning.run_kind import Circumstances, Kind
from compute_budget_planner.plotting.mermaid import mermaid_of
from compute_budget_planner.results.base import NextStep
from compute_budget_planner.results.diagnosis import DiagnosisResult

_LONGER = 2


def diagnose_run(workspace: Workspace, request: DiagnoseRequest) -> DiagnosisResult:
    """Diagnose every run whose losses are at hand, and compare several at equal compute.

    Without any loss the result is incomplete and says what to pass.

    Raises:
        PlannerError: a file or a fact cannot be used.
    """
    runs = logged_runs(workspace, request.files, request.facts, request.compared_runs)
    doubts = split_doubts(workspace.reference, request.validation_split, request.data_depends_on)
    if not runs:
        question = "Which log holds the training and validation losses (`files`)?"
        return DiagnosisResult(
            summary=f"No loss curve is at hand. {question}",
            status="incomplete",
            warnings=doubts,
            questions=[question],
            next=[NextStep(tool="diagnose_run", question=question)],
        )
    judged = _judged(workspace.reference, runs, request.target_loss)
    result = DiagnosisResult(
        summary="",
        status="diagnosed",
        runs=[run_out(one, workspace.reference) for one in judged],
        equal_compute=equal_compute_out(judged),
        warnings=[*doubts, *_warnings(judged)],
        questions=_questions(judged),
        next=_next(request, judged),
    )
    result.summary = _summary(result)
    picture = picture_of_runs([(one.run.name, one.run.unit, one.diagnosis) for one in judged])
    if picture is not None:
        result.draw(picture, mermaid_of(picture))
    return result


def _judged(
    reference: Reference, runs: Sequence[LoggedRun], target: float | None
) -> list[JudgedCurves]:
    """Diagnose each run, then once more with the level a larger run reached as its target."""
    first = [_judge(reference, run, target, "the loss to be reached") for run in runs]
    if target is not None:
        return first
    again = []
    for one in first:
        larger = [
            other
            for other in first
            if other is not one and _is_larger(other, one) and other.diagnosis.validation
        ]
        if not larger:
            again.append(one)
            continue
        best = min(larger, key=_level)
        source = f"the level of `{best.run.name}`, a larger run"
        again.append(_judge(reference, one.run, _level(best), source))
    return again


def _level(one: JudgedCurves) -> float:
    return one.main.level if one.main is not None else float("inf")


def _is_larger(other: JudgedCurves, one: JudgedCurves) -> bool:
    return other.params is not None and one.params is not None and other.params > one.params


def _judge(reference: Reference, run: LoggedRun, target: float | None, source: str) -> JudgedCurves:
    facts, curve = run.known, run.train or run.validation
    by_steps = run.unit == "steps" and curve is not None
    use = facts.data_used(curve.end, reference) if by_steps and curve is not None else None
    epochs = facts.number("epochs")
    if by_steps and curve is not None:
        epochs = use.epochs if use is not None else facts.epochs(curve.end)
    planned = facts.number("max_steps") if by_steps and run.finished is not True else None
    known = Circumstances(
        planned_steps=planned,
        epochs=epochs,
        target_loss=target,
        target_source=source,
        broken_steps=tuple(map(float, run.broken_steps)),
    )
    diagnosis = diagnose(run.train, run.validation, known, reference)
    free = reference.value("repetition_free_epochs")
    if epochs is not None and epochs > free:
        share = "" if use is None else f", {brief(use.repeated_percent)} % of tokens are repeats"
        text = f"the data are passed {brief(epochs)} times{share}"
        diagnosis = replace(diagnosis, evidence=(*diagnosis.evidence, text))
    return JudgedCurves(run, diagnosis, facts.params, use, epochs)


def _warnings(judged: Sequence[JudgedCurves]) -> list[str]:
    found = []
    for one in judged:
        name, diagnosis = one.run.name, one.diagnosis
        if diagnosis.validation is None:
            found.append(f"{name}: validation loss is missing.")
        curves = [c for c in (diagnosis.train, diagnosis.validation) if c is not None]
        spikes = max((len(c.spikes) for c in curves), default=0)
        if spikes and diagnosis.kind is not Kind.UNSTABLE:
            found.append(f"{name}: {counted(spikes, 'spike')} left out.")
        restarts = max((len(c.restarts) for c in curves), default=0)
        if restarts:
            text = (
                f"{name}: the loss jumps and falls back {brief(restarts)} times, as after a "
                "restart of the schedule; only the ends of the cycles are compared."
            )
            found.append(text)
    return found


def _questions(judged: Sequence[JudgedCurves]) -> list[str]:
    undecided = (Kind.CONVERGED, Kind.CAPACITY)
    for one in judged:
        if one.diagnosis.candidates == undecided and one.main is not None:
            level = brief(one.main.level)
            text = (
                "Which validation loss would be good (`target_loss`), or what did a larger model "
                f"reach? `{one.run.name}` is level at {level}."
            )
            return [text]
    return []


def _next(request: DiagnoseRequest, judged: Sequence[JudgedCurves]) -> list[NextStep]:
    questions = _questions(judged)
    given = request.model_dump(mode="json", exclude_defaults=True)
    if questions:
        return [NextStep(tool="diagnose_run", arguments=given, question=questions[0])]
    one = judged[0]
    curve = one.run.train or one.run.validation
    if one.diagnosis.kind is Kind.UNDER_TRAINING and one.run.unit == "steps" and curve is not None:
        facts = {**request.facts, "max_steps": int(_LONGER * curve.end)}
        arguments = {"files": request.files, "facts": facts}
        return [NextStep(tool="estimate_run", arguments={k: v for k, v in arguments.items() if v})]
    if one.diagnosis.kind in (Kind.CAPACITY, Kind.OVERFITTING):
        return [NextStep(tool="plan_grid", arguments={"facts": request.facts, "around": "model"})]
    return [NextStep(tool="check_fairness", arguments={"files": request.files})]


def _summary(result: DiagnosisResult) -> str:
    parts = []
    for one in result.runs:
        among = " or ".join(one.candidates)
        text = f"`{one.run}` is {one.kind}" + (f" ({among})" if among else "")
        parts.append(f"{text}: {'; '.join(one.evidence)}.")
    if result.equal_compute is not None:
        order = ", ".join(s.run for s in result.equal_compute.standings)
        parts.append(f"At equal compute, best first: {order}.")
    if len(result.runs) == 1:
        parts.append(f"Next: {result.runs[0].next_experiment}")
    return " ".join(parts)
