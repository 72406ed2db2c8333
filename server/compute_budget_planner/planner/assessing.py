"""One run of a request, assessed: its facts, its history, its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from compute_budget_planner.errors import RequestError
from compute_budget_planner.estimation.assess import Assessment, assess
from compute_budget_planner.estimation.calibration import Measured
from compute_budget_planner.planner.gather import (
    Gathered,
    environment_of,
    gather,
    loose_facts,
    run_facts,
)
from compute_budget_planner.planner.history import project_history, stated_facts, stated_history
from compute_budget_planner.planner.stored import stored_request
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.readers.contract import Environment, Problem, Reading
from compute_budget_planner.readers.runs import RunFiles
from compute_budget_planner.requests import FactInput, MeasuredRun, RunRequest
from compute_budget_planner.workload.facts import Fact

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
    seeds: int
    assessment: Assessment

    @property
    def problems(self) -> list[Problem]:
        """What could not be read in the run's files."""
        return [problem for reading in self.readings for problem in reading.problems]


@dataclass(frozen=True)
class RunInputs:
    """A request's inputs, with those of the written budget beneath them."""

    gathered: Gathered
    facts: dict[str, FactInput]
    measured: tuple[Measured, ...]


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
        stored = stored_request(workspace)
        files = list(dict.fromkeys([*stored.files, *files]))
        facts = {**stored.facts, **facts}
        measured_runs = [*stored.measured_runs, *measured_runs]
    stated_facts(facts, workspace)
    gathered = gather(workspace, files)
    measured = (*project_history(workspace, gathered), *stated_history(workspace, measured_runs))
    return RunInputs(gathered, facts, measured)


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
    facts = [*stated_facts(inputs.facts, workspace), *from_files]
    withdrawn = [n for n, value in inputs.facts.items() if value is None]
    assessment = assess(
        facts, workspace.reference, name=name, withdrawn=withdrawn, measured=inputs.measured
    )
    seeds = assessment.resolution.facts.get("seeds")
    return Assessed(
        name=name,
        files=run,
        readings=run.readings if run is not None else tuple(gathered.readings.values()),
        environment=environment_of(gathered, run) if run is not None else None,
        facts=tuple(facts),
        seeds=int(seeds.value) if seeds is not None else 1,
        assessment=assessment,
    )
