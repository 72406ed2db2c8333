"""`inspect_project`: what the files say, which belong together, what is missing."""

from compute_budget_planner.errors import FactError
from compute_budget_planner.planner.assessing import RunInputs, assess_run
from compute_budget_planner.planner.sentences import inspect_summary
from compute_budget_planner.planner.sources.gather import Gathered, gather
from compute_budget_planner.planner.sources.history import project_history
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.readers.contract import Reading
from compute_budget_planner.readers.runs import RunFiles
from compute_budget_planner.requests import InspectRequest
from compute_budget_planner.results import (
    EnvironmentOut,
    FactOut,
    FileOut,
    InspectResult,
    NextStep,
    ProblemOut,
    RunOut,
)
from compute_budget_planner.workload.facts import Fact


def inspect_project(workspace: Workspace, request: InspectRequest) -> InspectResult:
    """List what a project says about its training runs. Writes nothing.

    Raises:
        ProjectError: a named file is missing, outside the project or not readable.
        FormatError: a named file is broken.
    """
    gathered = gather(workspace, request.files)
    readings = [r for r in gathered.readings.values() if request.files or _says_something(r)]
    arguments: dict[str, object] = {"files": request.files} if request.files else {}
    history = tuple(project_history(workspace, gathered))
    inputs = RunInputs(gathered, {}, history, (), arguments)
    runs = [_run(workspace, inputs, run) for run in gathered.runs]
    gaps = [f"{run.name}: {gap}" for run in runs for gap in run.gaps]
    gaps += [f"`{folder}` holds more files than are listed" for folder in gathered.cut]
    if not runs:
        gaps.append("no job script or config describes a training run; give `files` or `facts`")
    result = InspectResult(
        summary="",
        project=workspace.project.name,
        files=[_file(reading) for reading in readings],
        runs=runs,
        boards=workspace.project.memory_boards(),
        envelope=envelope(gathered),
        gaps=gaps,
        next=_next(runs, arguments),
    )
    return result.model_copy(update={"summary": inspect_summary(result)})


def _says_something(reading: Reading) -> bool:
    return reading.kind != "unknown" or bool(reading.problems)


def _file(reading: Reading) -> FileOut:
    return FileOut(
        path=reading.path,
        format=reading.format,
        kind=reading.kind,
        facts=_facts(reading.facts),
        measured=_facts(reading.measured),
        problems=[ProblemOut(source=p.source, text=p.text) for p in reading.problems],
    )


def _facts(facts: tuple[Fact, ...]) -> dict[str, FactOut]:
    shown: dict[str, FactOut] = {}
    for fact in sorted(facts, key=lambda f: f.layer):
        shown.setdefault(fact.name, FactOut.of(fact))
    return shown


def _run(workspace: Workspace, inputs: RunInputs, run: RunFiles) -> RunOut:
    try:
        gaps = list(assess_run(workspace, inputs, run).assessment.resolution.questions)
    except FactError as error:
        # A contradiction is what this tool is there to show; the estimate will refuse it.
        gaps = [str(error)]
    gaps += [f"{r.source} names `{r.path}`, which is not at hand" for r in run.unresolved]
    return RunOut(
        name=run.name,
        files=list(run.paths),
        prior_logs=list(run.prior_logs),
        n_runs=run.readings[0].n_runs if run.readings else 1,
        gaps=gaps,
    )


def envelope(gathered: Gathered) -> list[EnvironmentOut]:
    """Return the places jobs can go, with their limits."""
    return [
        EnvironmentOut(
            name=e.key,
            scheduler=e.scheduler,
            time_limit_hours=e.max_time_limit_hours or e.time_limit_hours,
            max_gpus=e.max_gpus,
            gpu_types=list(e.gpu_types),
            source=e.source,
        )
        for e in gathered.environments
    ]


def _next(runs: list[RunOut], arguments: dict[str, object]) -> list[NextStep]:
    return [
        NextStep(
            tool="estimate_run",
            arguments={**arguments, "run": run.name},
            question=run.gaps[0] if run.gaps else "",
        )
        for run in runs[:5]
    ]
