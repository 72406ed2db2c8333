"""From a path one file names to the file of the project it means."""

import posixpath

from compute_budget_planner.errors import ProjectError
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.project import Project
from compute_budget_planner.readers.contract import FileReference, SourceFile


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
        if outside or not (project.root / wanted).is_file():
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


def reference_places(origin: str, code_dir: str) -> list[str]:
    """Return where a path named in a file may start: its folder, those above, the code folder."""
    folder = posixpath.dirname(origin)
    places = [folder]
    while folder:
        folder = posixpath.dirname(folder)
        places.append(folder)
    return [*places, code_dir]


def candidate_paths(project: Project, origin: str, path: str) -> list[str]:
    """Return the paths inside the project that a path named in the file `origin` may mean."""
    places = reference_places(origin, project.code_dir)
    found = [posixpath.normpath(posixpath.join(place, path)) for place in places]
    return [p for p in found if not p.startswith("..") and not posixpath.isabs(p) and "\0" not in p]
