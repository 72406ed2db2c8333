"""The runs whose losses are at hand: which logs belong together, and the facts of each.

A folder of logs is a run, as experiment trackers write them; logs side by side that each tell a
training loss are runs of their own. A log that an older checkpoint left is the beginning of a
later one and no run.
"""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from compute_budget_planner.diagnosis_request import ComparedRun
from compute_budget_planner.planner.sources.gather import Gathered, gather, loose_facts, run_facts
from compute_budget_planner.planner.sources.history import stated_facts
from compute_budget_planner.planner.sources.known_run import KnownRun, known_run
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.loss_curves import Curve
from compute_budget_planner.readers.contract import LossSeries, Reading
from compute_budget_planner.readers.loss_curves import TRAIN, VALIDATION
from compute_budget_planner.requests import FactInput
from compute_budget_planner.workload.facts import Fact, Layer


@dataclass(frozen=True)
class LoggedRun:
    """One run with its curves. `unit` is what their steps count, `known` what its facts are."""

    name: str
    train: Curve | None
    validation: Curve | None
    unit: str
    broken_steps: tuple[int, ...]
    finished: bool | None
    sources: tuple[str, ...]
    known: KnownRun


def logged_runs(
    workspace: Workspace,
    files: Sequence[str],
    facts: dict[str, FactInput],
    compared: Sequence[ComparedRun],
) -> list[LoggedRun]:
    """Return the runs with a loss curve, in the order of the request or of their paths.

    Raises:
        PlannerError: a named file or a stated fact cannot be used.
    """
    stated = stated_facts(facts, workspace)
    found: list[LoggedRun] = []
    for item in compared:
        gathered = gather(workspace, item.files) if item.files else None
        own = [*stated_facts(item.facts, workspace), *stated]
        logs = [] if gathered is None else _logs(gathered)
        if gathered is not None and logs:
            found.append(_run(workspace, item.name, logs, gathered, own, alone=True))
    if compared and not files:
        return found
    gathered = gather(workspace, files)
    groups = _groups(_logs(gathered))
    for name, logs in groups.items():
        found.append(_run(workspace, name, logs, gathered, stated, alone=len(groups) == 1))
    return found


def _logs(gathered: Gathered) -> list[Reading]:
    return [reading for _, reading in sorted(gathered.readings.items()) if reading.losses]


def _groups(logs: Sequence[Reading]) -> dict[str, list[Reading]]:
    """Return logs by run: by folder, or each by itself where several of a folder are whole."""
    folders: dict[str, list[Reading]] = {}
    for log in logs:
        folders.setdefault(posixpath.dirname(log.path), []).append(log)
    runs: dict[str, list[Reading]] = {}
    for folder, inside in folders.items():
        whole = [log for log in inside if _series(log, TRAIN)]
        if folder and len(whole) < 2:
            runs[folder] = inside
        else:
            runs |= {log.path: [log] for log in inside}
    kept = {name: group for name, group in runs.items() if not _began(name, group, runs)}
    short = {name: _stem(name) for name in kept}
    ambiguous = len(set(short.values())) < len(short)
    return kept if ambiguous else {short[name]: group for name, group in kept.items()}


def _stem(path: str) -> str:
    last = posixpath.basename(path)
    return last.rsplit(".", maxsplit=1)[0] or last


def _began(name: str, group: Sequence[Reading], runs: Mapping[str, Sequence[Reading]]) -> bool:
    """Tell whether another run goes on where this one, the same until there, ends."""
    mine = _best(group, TRAIN)
    if mine is None:
        return False
    for other, logs in runs.items():
        theirs = _best(logs, TRAIN)
        if other == name or theirs is None or len(theirs.steps) < len(mine.steps):
            continue
        same = theirs.steps[: len(mine.steps)] == mine.steps
        same = same and theirs.values[: len(mine.values)] == mine.values
        if same and (len(theirs.steps) > len(mine.steps) or other > name):
            return True
    return False


def _series(log: Reading, name: str) -> list[LossSeries]:
    return [series for series in log.losses if series.name == name]


def _best(logs: Sequence[Reading], name: str) -> LossSeries | None:
    every = [series for log in logs for series in _series(log, name)]
    return max(every, key=lambda s: len(s.steps), default=None)


def _run(
    workspace: Workspace,
    name: str,
    logs: Sequence[Reading],
    gathered: Gathered,
    stated: Sequence[Fact],
    *,
    alone: bool,
) -> LoggedRun:
    train, validation = _best(logs, TRAIN), _best(logs, VALIDATION)
    unit = (train or validation or logs[0].losses[0]).unit
    of_validation = _curve(validation)
    if train is not None and validation is not None and train.unit != validation.unit:
        # Both end with the run, whatever they count.
        stretch = train.steps[-1] / max(1, validation.steps[-1])
        of_validation = Curve(tuple(stretch * step for step in validation.steps), validation.values)
    ended = [log.finished for log in logs if log.finished is not None]
    return LoggedRun(
        name=name,
        train=_curve(train),
        validation=of_validation,
        unit=unit,
        broken_steps=() if train is None else train.broken_steps,
        finished=any(ended) if ended else None,
        sources=tuple(dict.fromkeys(s.source for s in (train, validation) if s is not None)),
        known=known_run(
            workspace.reference, name, [*stated, *_own_facts(logs, gathered, alone=alone)]
        ),
    )


def _curve(series: LossSeries | None) -> Curve | None:
    return None if series is None else Curve(tuple(map(float, series.steps)), series.values)


def _own_facts(logs: Sequence[Reading], gathered: Gathered, *, alone: bool) -> list[Fact]:
    """Return what the logs of a run, files beside them and the job that owns them say."""
    folders = {posixpath.dirname(log.path) for log in logs if posixpath.dirname(log.path)}
    beside = [
        reading
        for reading in gathered.readings.values()
        if not reading.losses
        and (reading.measured or reading.kind == "config")
        and posixpath.dirname(reading.path) in folders
    ]
    facts = [
        replace(fact, layer=Layer.COMMAND_LINE)
        for reading in (*logs, *beside)
        for fact in (*reading.measured, *reading.facts)
    ]
    paths = {log.path for log in logs}
    owners = [run for run in gathered.runs if paths & set(run.prior_logs)]
    if alone and not owners and len(gathered.runs) == 1:
        owners = list(gathered.runs)
    for run in owners[:1]:
        facts += run_facts(gathered, run)
    if alone and not gathered.runs:
        facts += loose_facts(gathered)
    return facts
