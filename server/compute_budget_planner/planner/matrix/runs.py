"""Which runs of the project are rows of the matrix, and which of those have run already."""

from collections.abc import Sequence
from dataclasses import dataclass

from compute_budget_planner.planner.assessing import RunInputs
from compute_budget_planner.planner.budget.jobs import variant_job_name
from compute_budget_planner.planner.memory.boards_read import finished_runs
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.readers.changes import read_change
from compute_budget_planner.readers.runs import RunFiles
from compute_budget_planner.requests import VariantInput


@dataclass(frozen=True)
class DoneSeeds:
    """Seeds of a row that have run (None: all of them), and the place that says so."""

    place: str
    seeds: int | None


def existing_runs(workspace: Workspace, inputs: RunInputs) -> dict[str, DoneSeeds]:
    """Return the rows that have run already, by the name of the row or of its job."""
    done = {name: DoneSeeds(place, None) for name, place in finished_runs(workspace).items()}
    for run in inputs.gathered.runs:
        finished = [p for p in run.prior_logs if inputs.gathered.readings[p].finished]
        if finished:
            # Two reports of one execution are one seed: the history holds them once.
            told = sum(m.finished and m.label in finished for m in inputs.history)
            done.setdefault(run.name, DoneSeeds(finished[0], max(1, told)))
    return done


def runs_ahead(
    workspace: Workspace, inputs: RunInputs, variants: Sequence[VariantInput]
) -> list[RunFiles]:
    """Return the runs that are no variants and have not finished; where none is left, more.

    Without a run that is ahead the finished ones stand for the project's runs, and without a run
    of its own its variants do.
    """
    others = _variant_names(workspace, inputs, variants)
    runs, readings = inputs.gathered.runs, inputs.gathered.readings
    own = [run for run in runs if run.name not in others] or list(runs)
    return [r for r in own if not any(readings[log].finished for log in r.prior_logs)] or own


def _variant_names(
    workspace: Workspace, inputs: RunInputs, variants: Sequence[VariantInput]
) -> set[str]:
    """Return the names jobs of the matrix' variants go by: they are no main runs."""
    listed = [v for reading in inputs.gathered.readings.values() for v in reading.variants]
    names = [v.name for v in listed if read_change(v.change, workspace.reference).points != ((),)]
    names += [v.name for v in variants if v.changes or v.multiplier is not None]
    return {*names, *map(variant_job_name, names)}
