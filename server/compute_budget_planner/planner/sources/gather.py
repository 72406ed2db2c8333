"""From paths to readings, and from readings to runs with their facts."""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from compute_budget_planner.errors import FormatError, ProjectError, RequestError, nearest
from compute_budget_planner.planner.sources.compositions import composed_job
from compute_budget_planner.planner.sources.referring import (
    candidate_paths,
    locate_reference,
    source_file,
)
from compute_budget_planner.planner.sources.run_data import folder_of_data, with_sizes_joined
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.readers.contract import (
    Environment,
    FileReference,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.dataset_sizes import KIND as DATASET
from compute_budget_planner.readers.registry import read_file
from compute_budget_planner.readers.runs import RunFiles, assemble_runs
from compute_budget_planner.workload.facts import Basis, Fact, Layer

_MOST_FOLLOWED = 200
_SHARED_KINDS = {"plan", "data"}
_OF_THE_MATRIX = {"seeds"}
"""What a design plan says of the runs of its matrix, not of the project's main runs."""


@dataclass(frozen=True)
class Gathered:
    """The files read, the runs they form, and what belongs to the project as a whole."""

    readings: Mapping[str, Reading]
    runs: tuple[RunFiles, ...]
    environments: tuple[Environment, ...]
    cut: tuple[str, ...]

    def named(self, name: str) -> RunFiles:
        """Return the run of that name.

        Raises:
            RequestError: there is none; the names there are stand in the message.
        """
        for run in self.runs:
            if run.name == name:
                return run
        names = [run.name for run in self.runs]
        remedy = nearest(name, names) if names else "The files describe no run."
        raise RequestError(f"there is no run `{name}`", where="run", remedy=remedy)


def gather(workspace: Workspace, files: Sequence[str], shape: str = "") -> Gathered:
    """Read the named files and what they refer to, or the known places when none is named.

    `shape` is the path of a config.json a caller gives as the `model`, read beside them.
    A broken file that was named is an error; one that was found is a problem of its reading.

    Raises:
        ProjectError: a named file is missing, outside the project or not readable.
        FormatError: a named file is broken.
    """
    project = workspace.project
    readings: dict[str, Reading] = {}
    cut: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    if files:
        for path in files:
            reading = _read(workspace, path)
            readings.setdefault(reading.path, reading)
        asked = tuple(readings)
    else:
        discovered = project.discover()
        cut = discovered.cut
        for path in discovered.files:
            readings[path] = _read_leniently(workspace, path)
    if shape:
        reading = _read(workspace, shape)
        readings.setdefault(reading.path, reading)
    _follow(workspace, readings)
    _compose_jobs(workspace, readings)
    _add_environments(workspace, readings)
    environments = tuple(e for r in readings.values() for e in r.environments)
    runs = assemble_runs(readings, project.code_dir, asked)
    if files and len(runs) == 1:
        runs = (_with_named(runs[0], readings),)
    return Gathered(readings, runs, environments, cut)


def _with_named(run: RunFiles, readings: Mapping[str, Reading]) -> RunFiles:
    """Return the only run of the named files with those that nothing else connects to it."""
    loose = [r for r in readings.values() if r.path not in (*run.paths, *run.prior_logs)]
    configs = [r for r in loose if r.kind in ("config", "model_config", DATASET)]
    return replace(
        run,
        paths=(*run.paths, *(r.path for r in configs)),
        readings=(*run.readings, *configs),
        prior_logs=(*run.prior_logs, *(r.path for r in loose if r.kind == "log")),
    )


def _read(workspace: Workspace, path: str) -> Reading:
    data = folder_of_data(workspace, path)
    if data is not None:
        return data
    reading = read_file(source_file(workspace.project, path), workspace.reference)
    shapes = [
        FileReference(str(fact.value), "model_config", fact.source)
        for fact in reading.facts
        if fact.name == "model" and str(fact.value).endswith(".json")
    ]
    return replace(reading, references=(*reading.references, *shapes))


def _read_leniently(workspace: Workspace, path: str) -> Reading:
    try:
        return _read(workspace, path)
    except (FormatError, ProjectError) as error:
        problem = Problem(error.where or path, f"{error.what}. {error.remedy}".strip())
        return Reading(path=path, format="broken", kind="unknown", problems=(problem,))


def _follow(workspace: Workspace, readings: dict[str, Reading]) -> None:
    """Read the files that files refer to, as long as they lie inside the project."""
    waiting = [(reading.path, ref) for reading in readings.values() for ref in reading.references]
    looked_at: set[str] = set()
    followed = 0
    while waiting and followed < _MOST_FOLLOWED:
        origin, reference = waiting.pop(0)
        path = locate_reference(workspace, origin, reference)
        if reference.role == "data":
            _add_data(workspace, readings, looked_at, (origin, reference.path))
            continue
        if path is None or path in readings:
            continue
        followed += 1
        reading = _read_leniently(workspace, path)
        readings[path] = reading
        waiting += [(reading.path, ref) for ref in reading.references]


def _add_data(
    workspace: Workspace,
    readings: dict[str, Reading],
    looked_at: set[str],
    named: tuple[str, str],
) -> None:
    """Look once at the file or folder of data that (a file, by its path) names."""
    for path in candidate_paths(workspace.project, *named):
        if path in readings:
            return
        if path in looked_at or path in (".", ""):
            continue
        looked_at.add(path)
        if (workspace.project.root / path).is_file():
            reading = _read_leniently(workspace, path)
            if reading.kind == DATASET:
                readings[path] = reading
            return
        found = folder_of_data(workspace, path)
        if found is not None:
            readings[path] = found
            return


def _compose_jobs(workspace: Workspace, readings: dict[str, Reading]) -> None:
    """Give each job what the configuration tree its script composes says."""

    def locate(origin: str, path: str) -> SourceFile | None:
        found = locate_reference(workspace, origin, FileReference(path, "config", origin))
        try:
            return source_file(workspace.project, found) if found is not None else None
        except ProjectError:
            return None

    for path, reading in list(readings.items()):
        if reading.kind == "job" and reading.commands:
            readings[path] = composed_job(reading, locate, workspace.reference)
    _follow(workspace, readings)


def _add_environments(workspace: Workspace, readings: dict[str, Reading]) -> None:
    """Read environments.yaml when a job names its environment and nobody named the file."""
    if any(r.environments for r in readings.values()):
        return
    if not any(r.environment for r in readings.values()):
        return
    for path in workspace.project.known_files():
        if posixpath.basename(path) in ("environments.yaml", "environments.yml"):
            readings.setdefault(path, _read_leniently(workspace, path))


def run_facts(gathered: Gathered, run: RunFiles) -> list[Fact]:
    """Return the facts of a run: its files', the project's plans', its environment's limit."""
    facts = with_sizes_joined(run.readings)
    own = {reading.path for reading in run.readings}
    facts += [
        fact
        for reading in gathered.readings.values()
        if reading.kind in _SHARED_KINDS and reading.path not in own
        for fact in reading.facts
        if fact.name not in _OF_THE_MATRIX
    ]
    environment = environment_of(gathered, run)
    known = {fact.name for fact in facts}
    tasks = run.readings[0].n_runs if run.readings else 1
    if tasks > 1 and not known & {"seeds", "tuning_trials"}:
        source = f"{run.readings[0].path}: runs of the job"
        facts.append(Fact("seeds", tasks, Basis.DERIVED, source, Layer.FRAMEWORK_DEFAULT))
    if environment is not None:
        facts += _policy_limit(environment, facts)
    return facts


def _policy_limit(environment: Environment, facts: Sequence[Fact]) -> list[Fact]:
    """Return the environment's time limit where it holds: the smaller of limits does.

    A job that asks for more than the longest job allowed would be refused at submission.
    """
    asked = [float(fact.value) for fact in facts if fact.name == "time_limit_hours"]
    longest = environment.max_time_limit_hours
    if asked:
        limit = longest if longest is not None and longest < min(asked) else None
    else:
        limit = longest or environment.time_limit_hours
    if limit is None:
        return []
    # Above the job's own option, whose value it overrules.
    layer = Layer.COMMAND_LINE if asked else Layer.CONFIG
    return [Fact("time_limit_hours", limit, Basis.CONFIGURED, environment.source, layer)]


def environment_of(gathered: Gathered, run: RunFiles) -> Environment | None:
    """Return the environment a run's job names, None when it names none that is known."""
    keys = [reading.environment for reading in run.readings if reading.environment]
    return next((e for e in gathered.environments if e.key in keys), None)


def loose_facts(gathered: Gathered) -> list[Fact]:
    """Return the facts of all files when they form no run."""
    return [fact for reading in gathered.readings.values() for fact in reading.facts]
