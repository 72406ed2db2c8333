"""Several files of a project for readers that look at what a file includes."""

import posixpath
from collections.abc import Mapping

from compute_budget_planner.readers.contract import SourceFile


def tree(files: Mapping[str, str], path: str) -> SourceFile:
    """Return one of several files (path → text) with the way to the others."""

    def beside(relative: str) -> SourceFile | None:
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(path), relative))
        return tree(files, wanted) if wanted in files else None

    return SourceFile(path, files[path], beside=beside)
