"""Jobs whose script composes a Hydra configuration: what the composed tree gives them.

The same tree gives each job other facts, so these stand in the reading of the job, each with the
file and line it comes from.
"""

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import replace

from compute_budget_planner.errors import FormatError, ProjectError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import (
    Command,
    FileReference,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.hydra_commands import (
    HydraMain,
    hydra_main,
    named_on_command,
    overrides_of,
)
from compute_budget_planner.readers.hydra_config import read_composition
from compute_budget_planner.readers.hydra_defaults import is_primary
from compute_budget_planner.readers.structured import mapping_of

Locate = Callable[[str, str], SourceFile | None]
"""From (path of the file that names it, path as named) to the file of the project."""


def composed_job(job: Reading, locate: Locate, reference: Reference) -> Reading:
    """Return a job with the facts of the configurations its training commands compose."""
    for command in job.commands:
        head = _head(job, command, locate) if command.trains else None
        if head is None:
            continue
        overrides = [(word, command.source) for word in overrides_of(command.words)]
        try:
            composed = read_composition(head, overrides, reference)
        except (FormatError, ProjectError) as error:
            problem = Problem(error.where or head.path, f"{error.what}. {error.remedy}".strip())
            job = replace(job, problems=(*job.problems, problem))
            continue
        included = (FileReference(head.path, "included", command.source), *composed.references)
        job = replace(
            job,
            facts=(*job.facts, *composed.facts),
            problems=(*job.problems, *composed.problems),
            references=(*job.references, *included),
            n_runs=job.n_runs * composed.n_runs,
        )
    return job


def _head(job: Reading, command: Command, locate: Locate) -> SourceFile | None:
    """Return the configuration a command starts from, None when it composes none."""
    named = named_on_command(command.words)
    script = locate(job.path, command.script) if command.script.endswith(".py") else None
    main = (hydra_main(script.text) if script is not None else None) or HydraMain("", "")
    name = named.name or main.name
    if not name or not (named.name or named.folder or main.name):
        return None
    origin = script.path if script is not None else job.path
    for folder in _folders(named.folder, main.folder):
        for ending in ("", ".yaml", ".yml"):
            head = locate(origin, posixpath.join(folder, name + ending))
            document = mapping_of(head) if head is not None else None
            if head is not None and document is not None and is_primary(document.root):
                return head
    return None


def _folders(*named: str) -> Iterator[str]:
    given = [folder for folder in named if folder]
    yield from given or ("", "conf", "configs", "config")
