"""The sides of a comparison: those the caller names, rows of a matrix, baselines, runs."""

from collections.abc import Sequence
from dataclasses import replace

from compute_budget_planner.diagnosis_request import FairnessRequest, JudgedRun
from compute_budget_planner.errors import FactError, RequestError
from compute_budget_planner.guide.reference import spelling
from compute_budget_planner.planner.assessing import Assessed, RunInputs, assess_run, run_inputs
from compute_budget_planner.planner.matrix.ablating import BASELINE_WHY, baseline_run
from compute_budget_planner.planner.matrix.rows import MatrixRow, build_matrix, point_changes
from compute_budget_planner.planner.matrix.variation import varied
from compute_budget_planner.planner.sources.gather import Gathered, gather, loose_facts, run_facts
from compute_budget_planner.planner.sources.history import stated_facts
from compute_budget_planner.planner.sources.known_run import KnownRun, known_run
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.fairness import Side
from compute_budget_planner.readers.contract import Baseline
from compute_budget_planner.workload.facts import Fact

OURS = "our method"
"""The side whose trials an audit's tuning ledger gives as the project's own."""

_CITED = "citation-only"


def compared_sides(workspace: Workspace, request: FairnessRequest) -> list[Side]:
    """Return the sides of the comparison; files are looked through unless only runs are named.

    Raises:
        PlannerError: a file or a fact cannot be used.
    """
    named = [_named_side(workspace, request, run) for run in request.compared_runs]
    if named and not request.files:
        return named
    inputs = run_inputs(workspace, request.files, request.facts, (), from_budget=False)
    matrix = build_matrix(inputs.gathered, (), workspace.reference)
    audit = _of_audit(inputs.gathered)
    audited = {spelling(side.name) for side in audit}
    rows = [row for row in matrix.rows if spelling(row.name) not in audited]
    if rows:
        return [*named, *_of_matrix(workspace, inputs, rows, request.baseline), *audit]
    return [*named, *([] if audit else _of_runs(workspace, inputs)), *audit]


def side_of(name: str, known: KnownRun, source: str) -> Side:
    """Return a side from what is known of its run."""
    steps, per_step, per_token = known.steps, known.flops_per_step, known.tokens_per_step
    seeds, trials = known.number("seeds"), known.number("tuning_trials")
    return Side(
        name=name,
        params=known.params,
        learning_rate=known.number("learning_rate"),
        steps=steps,
        flops=None if steps is None or per_step is None else steps * per_step,
        tokens=None if steps is None or per_token is None else steps * per_token,
        unique_tokens=known.unique_tokens,
        seeds=None if seeds is None else int(seeds),
        trials=None if trials is None else int(trials),
        training_data=known.text("dataset"),
        source=source,
    )


def _named_side(workspace: Workspace, request: FairnessRequest, run: JudgedRun) -> Side:
    facts = stated_facts({**request.facts, **run.facts}, workspace)
    if run.files:
        facts += _facts_of_files(gather(workspace, run.files), run.name)
    side = side_of(
        run.name, known_run(workspace.reference, run.name, facts), ", ".join(run.files) or "stated"
    )
    return replace(
        side,
        role=run.role,
        trials=side.trials if run.trials is None else run.trials,
        validation_data=run.validation_data,
        metric=run.metric,
        checkpoint_rule=run.checkpoint_rule,
    )


def _facts_of_files(gathered: Gathered, name: str) -> list[Fact]:
    if len(gathered.runs) > 1:
        names = ", ".join(f"`{run.name}`" for run in gathered.runs)
        raise RequestError(
            f"the files of `{name}` describe several runs: {names}",
            where="compared_runs",
            remedy="Give each run as a side of its own.",
        )
    if gathered.runs:
        return run_facts(gathered, gathered.runs[0])
    measured = [fact for reading in gathered.readings.values() for fact in reading.measured]
    return [*loose_facts(gathered), *measured]


def _of_matrix(
    workspace: Workspace, inputs: RunInputs, rows: Sequence[MatrixRow], baseline: str | None
) -> list[Side]:
    """Return the rows of a matrix, each as the baseline run with its changes."""
    base = baseline_run(workspace, inputs, (), baseline)
    matrix = build_matrix(inputs.gathered, (), workspace.reference)
    if matrix.controls:
        base = varied(workspace.reference, base, matrix.controls, BASELINE_WHY)
    sides = []
    for row in rows:
        side = _row_side(workspace, base, row)
        seeds = row.seeds or matrix.required_seeds
        role = "baseline" if row.is_baseline else "method"
        trials = row.trials or side.trials
        sides.append(replace(side, role=role, seeds=seeds, trials=trials, source=row.source))
    return sides


def _row_side(workspace: Workspace, base: Assessed, row: MatrixRow) -> Side:
    """Return a row of one point; of a sweep, or a change that cannot be read, the name alone."""
    if len(row.points) != 1:
        return Side(row.name)
    known = base.assessment.resolution.facts
    changes = point_changes(row.points[0], {name: fact.value for name, fact in known.items()})
    try:
        run = varied(workspace.reference, base, changes, f"variant {row.name}") if changes else base
    except FactError:
        return Side(row.name)
    return side_of(row.name, _known(run), row.source)


def _of_runs(workspace: Workspace, inputs: RunInputs) -> list[Side]:
    sides = []
    for run in inputs.gathered.runs:
        known = _known(assess_run(workspace, inputs, run))
        sides.append(side_of(run.name, known, run.paths[0]))
    return sides


def _known(run: Assessed) -> KnownRun:
    return KnownRun(run.assessment.resolution.facts, run.assessment.run)


def _of_audit(gathered: Gathered) -> list[Side]:
    """Return the baselines of the audits, and the project's own method with its trials."""
    baselines: list[Baseline] = []
    own: list[Fact] = []
    for reading in gathered.readings.values():
        baselines += reading.baselines
        if reading.baselines:
            own += [fact for fact in reading.facts if fact.name == "tuning_trials"]
    sides = [Side(OURS, "method", trials=int(f.value), source=f.source) for f in own[:1]]
    return sides + [
        Side(b.name, "baseline", trials=b.trials, ledger=b.verdict, source=b.source)
        for b in baselines
        if b.requirement != _CITED
    ]
