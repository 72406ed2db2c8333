"""One run of a request, assessed: its facts, its history, its numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from compute_budget_planner.errors import FactError, RequestError
from compute_budget_planner.estimation.assess import Assessment, assess
from compute_budget_planner.estimation.calibration import Measured
from compute_budget_planner.planner.budget.stored import stored_request
from compute_budget_planner.planner.sources.gather import (
    Gathered,
    environment_of,
    gather,
    loose_facts,
    run_facts,
)
from compute_budget_planner.planner.sources.history import (
    MEASUREMENTS,
    SPEEDS,
    project_history,
    stated_facts,
    stated_history,
)
from compute_budget_planner.planner.sources.logged_shape import SHAPE, shape_seen
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.project import private_paths
from compute_budget_planner.readers.batch_scope import still_asked
from compute_budget_planner.readers.contract import Environment, Problem, Reading
from compute_budget_planner.readers.runs import RunFiles
from compute_budget_planner.requests import FactInput, MeasuredRun, RunRequest
from compute_budget_planner.workload.facts import Fact, Layer
from compute_budget_planner.workload.vocabulary import VOCABULARY

AD_HOC = "run"
"""Name of a run that is described by facts alone."""


@dataclass(frozen=True)
class Assessed:
    """A run with its files and everything computed about it."""

    name: str
    files: RunFiles | None
    readings: tuple[Reading, ...]
    environment: Environment | None
    facts: tuple[Fact, ...]
    withdrawn: tuple[str, ...]
    measured: tuple[Measured, ...]
    seeds: int
    assessment: Assessment
    arguments: dict[str, object]

    @property
    def is_local(self) -> bool:
        """Whether the run is started on the machine itself, so that nothing limits its time."""
        scheduler = self.environment.scheduler if self.environment is not None else ""
        jobs = {reading.format for reading in self.readings if reading.kind == "job"}
        return scheduler == "local" or (not scheduler and jobs == {"local_job"})

    @property
    def problems(self) -> list[Problem]:
        """What could not be read in the run's files and is still open."""
        found = [problem for reading in self.readings for problem in reading.problems]
        run = self.assessment.run
        one_device = run is not None and run.hardware.n_gpus == 1
        batch = self.assessment.resolution.facts.get("micro_batch_size")
        return still_asked(found, None if one_device else batch)


@dataclass(frozen=True)
class RunInputs:
    """A request's inputs, with those of the written budget beneath them."""

    gathered: Gathered
    facts: dict[str, FactInput]
    history: tuple[Measured, ...]
    measured_runs: tuple[MeasuredRun, ...]
    arguments: dict[str, object]


def run_inputs(
    workspace: Workspace,
    files: Sequence[str],
    facts: dict[str, FactInput],
    measured_runs: Sequence[MeasuredRun],
    *,
    from_budget: bool,
) -> RunInputs:
    """Read what a request names.

    Raises:
        PlannerError: a file, a fact or a measured run cannot be used.
    """
    if from_budget:
        stored = stored_request(workspace).request
        files = list(dict.fromkeys([*stored.files, *files]))
        facts = {**stored.facts, **facts}
        measured_runs = [*stored.measured_runs, *measured_runs]
    stated_facts(facts, workspace)
    gathered = gather(workspace, files, _shape_path(facts))
    given = {
        "files": list(files),
        "facts": dict(facts),
        "measured_runs": [m.model_dump(mode="json") for m in measured_runs],
    }
    return RunInputs(
        gathered,
        facts,
        tuple(project_history(workspace, gathered, facts.get("gpu"))),
        tuple(measured_runs),
        {name: value for name, value in given.items() if value},
    )


def assess_request(workspace: Workspace, request: RunRequest) -> Assessed:
    """Assess the one run a request is about.

    Raises:
        RequestError: several runs fit and none is named.
        PlannerError: a file, a fact or a measured run cannot be used.
    """
    inputs = run_inputs(
        workspace,
        request.files,
        request.facts,
        request.measured_runs,
        from_budget=request.from_budget,
    )
    runs = inputs.gathered.runs
    if request.run is not None and not (request.run == AD_HOC and not runs):
        return assess_run(workspace, inputs, inputs.gathered.named(request.run))
    if len(runs) > 1:
        names = ", ".join(f"`{run.name}`" for run in runs)
        raise RequestError(
            f"{len(runs)} runs fit: {names}",
            where="run",
            remedy="Name one of them as `run`, or pass only its files.",
        )
    return assess_run(workspace, inputs, runs[0] if runs else None)


def assess_run(workspace: Workspace, inputs: RunInputs, run: RunFiles | None) -> Assessed:
    """Assess one run; None stands for a run described by facts and loose files.

    Raises:
        FactError: facts contradict each other, or name something the guide does not know.
    """
    gathered = inputs.gathered
    name = run.name if run is not None else AD_HOC
    from_files = run_facts(gathered, run) if run is not None else loose_facts(gathered)
    shape = _stated_shape(workspace, inputs)
    if shape:
        # Two shapes must not mix: what one leaves out is not what the other says.
        from_files = [f for f in from_files if VOCABULARY[f.name].group not in SHAPE]
    facts = [*stated_facts(inputs.facts, workspace), *shape, *from_files]
    facts += shape_seen(facts, _logs_of(workspace, inputs, run))
    withdrawn = [n for n, value in inputs.facts.items() if value is None]
    facts = [_private(workspace, fact) for fact in facts]
    runs = [*inputs.measured_runs, *_own_speed(inputs.facts)]
    given = stated_history(workspace, runs, facts)
    named = {item.label for item in given}
    measured = (*(item for item in inputs.history if item.label not in named), *given)
    assessment = assess(
        facts, workspace.reference, name=name, withdrawn=withdrawn, measured=measured
    )
    seeds = assessment.resolution.facts.get("seeds")
    return Assessed(
        name=name,
        files=run,
        readings=run.readings if run is not None else tuple(gathered.readings.values()),
        environment=environment_of(gathered, run) if run is not None else None,
        facts=tuple(facts),
        withdrawn=tuple(withdrawn),
        measured=measured,
        seeds=int(seeds.value) if seeds is not None else 1,
        assessment=assessment,
        arguments={**inputs.arguments, **({"run": name} if run is not None else {})},
    )


def _logs_of(workspace: Workspace, inputs: RunInputs, run: RunFiles | None) -> Iterator[Reading]:
    """Yield the logs of a run, and of the earlier runs that are given with it."""
    for path in run.prior_logs if run is not None else ():
        yield inputs.gathered.readings[path]
    for item in inputs.measured_runs:
        if item.files:
            readings = gather(workspace, item.files).readings.values()
            yield from (reading for reading in readings if reading.measured)


def _shape_path(facts: dict[str, FactInput]) -> str:
    """Return the path of the config.json a stated `model` names, or nothing."""
    model = facts.get("model")
    return model if isinstance(model, str) and model.endswith(".json") else ""


def _stated_shape(workspace: Workspace, inputs: RunInputs) -> list[Fact]:
    """Return the shape in the config.json that is stated as the model; it wins over the files."""
    path = _shape_path(inputs.facts)
    if not path:
        return []
    reading = inputs.gathered.readings[workspace.project.read(path).path]
    if reading.kind != "model_config":
        raise FactError(
            f"`model` is the path `{path}`, which is no model's config.json",
            where="facts.model",
            remedy="Name the config.json beside the weights, or a known model.",
        )
    return [replace(fact, layer=Layer.ARGUMENT) for fact in reading.facts]


def _private(workspace: Workspace, fact: Fact) -> Fact:
    """Return a fact whose text holds no absolute path, user, host or secret."""
    if not isinstance(fact.value, str):
        return fact
    return replace(fact, value=private_paths(fact.value, workspace.project.root))


def _own_speed(facts: dict[str, FactInput]) -> list[MeasuredRun]:
    """Return a speed stated for the planned run as a measured run of its configuration."""
    given = {name: value for name, value in facts.items() if name in MEASUREMENTS}
    return [MeasuredRun(facts=given)] if any(given.get(name) for name in SPEEDS) else []


def budget_arguments(assessed: Assessed) -> dict[str, object]:
    """Return the arguments with which `write_budget` plans this run."""
    arguments = {k: v for k, v in assessed.arguments.items() if k != "run"}
    if "run" in assessed.arguments:
        arguments["runs"] = [assessed.name]
    return arguments
