"""From a path one file names to the file of the project it means."""

import posixpath

from compute_budget_planner.errors import ProjectError
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.project import Project
from compute_budget_planner.readers.contract import FileReference, SourceFile
from compute_budget_planner.readers.runs import reference_places

_LONGEST_NAME = 255
_LONGEST_PATH = 2_000
"""In bytes: what common file systems take, with room for the root in front."""


def source_file(project: Project, path: str) -> SourceFile:
    """Return a file of the project for a reader, with the way to the files beside it.

    Raises:
        ProjectError: the file is missing, outside the project or not readable.
    """
    found = project.read(path)
    folder = posixpath.dirname(found.path)

    def beside(relative: str) -> SourceFile | None:
        wanted = posixpath.normpath(posixpath.join(folder, relative))
        outside = wanted.startswith("..") or posixpath.isabs(wanted)
        if outside or not _is_nameable(wanted) or not (project.root / wanted).is_file():
            return None
        try:
            return source_file(project, wanted)
        except ProjectError:
            return None

    return SourceFile(found.path, found.text, found.sampled, beside, found.size_bytes)


def locate_reference(workspace: Workspace, origin: str, reference: FileReference) -> str | None:
    """Return the project path of a file that another names, None when there is none."""
    if reference.role in ("data", "output", "log", "log_dir"):
        return None
    project = workspace.project
    for path in candidate_paths(project, origin, reference.path):
        for candidate in (path, f"{path}/config.json"):
            if (project.root / candidate).is_file():
                return candidate
    return None


def candidate_paths(project: Project, origin: str, path: str) -> list[str]:
    """Return the paths inside the project that a path named in the file `origin` may mean."""
    places = reference_places(origin, project.code_dir)
    found = [posixpath.normpath(posixpath.join(place, path)) for place in places]
    return [
        p for p in found if not p.startswith("..") and not posixpath.isabs(p) and _is_nameable(p)
    ]


def _is_nameable(path: str) -> bool:
    """Tell whether a file can have this path: asking for others is an error of the system."""
    name = path.encode(errors="replace")
    longest = max(map(len, name.split(b"/")))
    return b"\0" not in name and longest <= _LONGEST_NAME and len(name) <= _LONGEST_PATH
