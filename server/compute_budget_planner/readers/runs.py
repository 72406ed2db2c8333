"""Which files belong together: a job, the configs it names, and the logs of its earlier runs."""

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from compute_budget_planner.readers.contract import FileReference, Reading

_ROLES = ("script", "config", "base", "accelerate", "deepspeed", "model_config", "included")
"""Roles that are followed, in order of precedence: what a job names beats what that names.

What an `included` file says stands in the reading of the file that includes it.
"""

_PART_OF_A_RUN = ("deepspeed", "accelerate", "script_defaults")
_EVALUATES = re.compile(r"(eval|evaluate|evaluation|predict|inference|generate)(?=[._-])", re.I)
_SIZE_FACTS = frozenset(
    ["micro_batch_size", "global_batch_size", "epochs", "max_steps", "train_tokens"]
)


@dataclass(frozen=True)
class RunFiles:
    """The files of one run.

    `readings` stand in order of precedence, the job first; `prior_logs` are paths of logs of
    earlier runs of the same job; `unresolved` are the files it names that are not at hand.
    """

    name: str
    paths: tuple[str, ...]
    readings: tuple[Reading, ...]
    prior_logs: tuple[str, ...]
    unresolved: tuple[FileReference, ...]


def assemble_runs(
    readings: Mapping[str, Reading], code_dir: str = "code", asked: Collection[str] = ()
) -> tuple[RunFiles, ...]:
    """Return the runs that readings by path describe, ordered by path.

    A job with what it refers to is a run; jobs that only evaluate, and scripts other jobs call,
    are none of their own. Without jobs every config with a batch size or a length is one, unless
    another builds on it or it is an option in a Hydra tree that is not `asked` for by its path.
    References are looked up beside the file that names them, in each folder above it, and in the
    code folder; never outside the project.
    """
    followed = {
        path: _follow(path, readings, code_dir)
        for path, reading in sorted(readings.items())
        if reading.kind == "job" and _may_train(reading)
    }
    called = {inner for path, (files, _) in followed.items() for inner in files if inner != path}
    heads = [path for path in followed if path not in called] or list(followed)
    if not heads:
        trees = {posixpath.dirname(path) for path, r in readings.items() if r.format == "hydra"}
        followed = {
            path: _follow(path, readings, code_dir)
            for path, reading in sorted(readings.items())
            if _is_whole_config(reading) and (path in asked or not _is_option(path, trees))
        }
        called = {p for path, (files, _) in followed.items() for p in files if p != path}
        heads = [path for path in followed if path not in called] or list(followed)
    names = _unique_names({path: readings[path] for path in heads})
    inside = {path: _included(path, followed[path][0], readings, code_dir) for path in heads}
    logs = _assign_logs({path: followed[path][0] for path in heads}, readings)
    return tuple(
        RunFiles(
            name=names[path],
            paths=followed[path][0],
            readings=tuple(readings[p] for p in followed[path][0] if p not in inside[path]),
            prior_logs=logs[path],
            unresolved=followed[path][1],
        )
        for path in heads
    )


def _may_train(job: Reading) -> bool:
    """Tell whether a job trains, or asks for resources for something this project hides."""
    if any(command.trains for command in job.commands):
        return True
    calls = any(reference.role == "script" and _is_shell(reference) for reference in job.references)
    return bool(job.facts) and (calls or not job.commands)


def _is_shell(reference: FileReference) -> bool:
    return not reference.path.endswith(".py")


def _is_whole_config(reading: Reading) -> bool:
    if _EVALUATES.match(posixpath.basename(reading.path)):
        return False
    names = {fact.name for fact in reading.facts}
    whole = reading.kind == "config" and reading.format not in _PART_OF_A_RUN
    return whole and bool(names & _SIZE_FACTS)


def _is_option(path: str, trees: Collection[str]) -> bool:
    """Tell whether a config stands in a folder below a Hydra configuration, as its groups do."""
    folder = posixpath.dirname(path)
    while folder:
        folder = posixpath.dirname(folder)
        if folder in trees:
            return True
    return False


def _included(
    head: str, paths: Iterable[str], readings: Mapping[str, Reading], code_dir: str
) -> set[str]:
    """Return the files of a run whose content stands in the reading of another of them."""
    found = {
        _resolve(reference.path, path, readings, code_dir)
        for path in paths
        for reference in readings[path].references
        if reference.role == "included"
    }
    return {path for path in found if path is not None and path != head}


def _follow(
    start: str, readings: Mapping[str, Reading], code_dir: str
) -> tuple[tuple[str, ...], tuple[FileReference, ...]]:
    """Return the files reachable from one, and the references that lead nowhere."""
    ranks = {start: -1}
    unresolved: list[FileReference] = []
    waiting = [start]
    while waiting:
        path = waiting.pop(0)
        for reference in readings[path].references:
            if reference.role not in _ROLES and reference.role != "data":
                continue
            target = _resolve(reference.path, path, readings, code_dir)
            if reference.role == "data":
                if target is not None and readings[target].kind == "dataset":
                    ranks.setdefault(target, len(_ROLES))
                continue
            if reference.role == "script" and not _is_shell(reference):
                if target is not None and readings[target].kind == "config":
                    ranks.setdefault(target, len(_ROLES))
                continue
            if target is None:
                unresolved.append(reference)
            elif target not in ranks:
                ranks[target] = _ROLES.index(reference.role)
                waiting.append(target)
    environment = readings[start].environment
    for path, reading in sorted(readings.items()):
        if environment and any(known.key == environment for known in reading.environments):
            ranks.setdefault(path, len(_ROLES))
    order = sorted(ranks, key=lambda path: ranks[path])
    return tuple(order), tuple(dict.fromkeys(unresolved))


def reference_places(origin: str, code_dir: str) -> list[str]:
    """Return where a path named in a file may start: its folder, those above, the code folder."""
    folder = posixpath.dirname(origin)
    places = [folder]
    while folder:
        folder = posixpath.dirname(folder)
        places.append(folder)
    return [*places, code_dir]


def _resolve(
    wanted: str, named_in: str, readings: Mapping[str, Reading], code_dir: str
) -> str | None:
    """Return the known path a reference means, the nearest first."""
    if wanted.startswith(("/", "~")) or "$" in wanted:
        return None
    for place in reference_places(named_in, code_dir):
        candidate = posixpath.normpath(posixpath.join(place, wanted))
        if candidate in readings and candidate != named_in:
            return candidate
    return None


def _unique_names(heads: Mapping[str, Reading]) -> dict[str, str]:
    """Name runs by their job, or by their path where several would have one name."""
    plain = {path: reading.job_name or _stem(path) for path, reading in heads.items()}
    count = Counter(plain.values())
    long = {path: name if count[name] == 1 else path for path, name in plain.items()}
    count = Counter(long.values())
    return {path: name if count[name] == 1 else path for path, name in long.items()}


def _stem(path: str) -> str:
    name = posixpath.basename(path)
    return name.rsplit(".", maxsplit=1)[0] or name


def _assign_logs(
    runs: Mapping[str, tuple[str, ...]], readings: Mapping[str, Reading]
) -> dict[str, tuple[str, ...]]:
    """Give each log to the one run that claims it most closely; a tie gives it to none."""
    logs: dict[str, list[str]] = {path: [] for path in runs}
    places = {
        head: _LogPlaces.of([readings[p] for p in files], head) for head, files in runs.items()
    }
    for path, reading in sorted(readings.items()):
        if reading.kind != "log":
            continue
        claims = {head: place.claim(path, reading) for head, place in places.items()}
        best = max(claims.values(), default=0)
        owners = [head for head, claim in claims.items() if claim == best]
        if best > 0 and len(owners) == 1:
            logs[owners[0]].append(path)
    return {head: tuple(paths) for head, paths in logs.items()}


@dataclass(frozen=True)
class _LogPlaces:
    """Where the logs of a run are: under its job's name, or in folders (with slashes around)."""

    job_name: str
    folders: tuple[str, ...]

    @classmethod
    def of(cls, files: Sequence[Reading], head: str) -> "_LogPlaces":
        """Return the places the files of a run name."""
        named = [reading.output_dir for reading in files if reading.output_dir]
        named += [r.path for reading in files for r in reading.references if r.role == "log_dir"]
        plain = [posixpath.normpath(folder) for folder in named]
        inside = [
            f"/{folder}/"
            for folder in plain
            if not folder.startswith(("/", "..", "~")) and folder != "." and "$" not in folder
        ]
        return cls(files[0].job_name or _stem(head), tuple(inside))

    def claim(self, path: str, log: Reading) -> int:
        """Return how closely a log fits: by job name before folder, deeper folder first."""
        if log.job_name:
            return 10_000 if log.job_name == self.job_name else 0
        claim = sum(place.count("/") - 1 for place in self.folders if place in f"/{path}")
        if self.job_name in path:
            *folders, name = path.split("/")
            if self.job_name in folders or name.startswith(self.job_name + "-"):
                claim += 1_000
        return claim
