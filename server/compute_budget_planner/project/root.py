"""Which folder is the project.

At a terminal the search starts where the person stands and goes up. A server is told its root by
its flag, its client or its environment, and takes the current directory only when it plainly is a
project: an MCP server is often started in the user's home.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from compute_budget_planner.errors import ProjectError

ROOT_VARIABLES = ("COMPUTE_BUDGET_PROJECT_ROOT", "CLAUDE_PROJECT_DIR")
MARKERS = ("memory", "jobs", "configs", "experiments", "code")

_HOW_TO_SET = (
    "Pass --project-root /path/to/project to the server, or set COMPUTE_BUDGET_PROJECT_ROOT in "
    "its environment."
)
_WINDOWS_DRIVE = re.compile(r"^/(?=[A-Za-z]:)")


def find_root(start: Path) -> Path:
    """Return the project around `start` (a folder or a file), as a resolved path.

    That is the nearest ancestor that holds `memory/`, else the nearest git top level, else
    `start` itself. Ancestors too wide to be a project (see `too_wide`) are passed over.

    Raises:
        ProjectError: `start` does not exist.
    """
    folder = _existing(start, "the start of the search")
    if not folder.is_dir():
        folder = folder.parent
    ancestors = [a for a in (folder, *folder.parents) if not too_wide(a, os.environ)]
    for is_root in (_holds_memory, _holds_git):
        for ancestor in ancestors:
            if is_root(ancestor):
                return ancestor
    return folder


def resolve_root(
    flag: str | Path | None,
    client_roots: Sequence[str],
    environ: Mapping[str, str],
    cwd: Path,
) -> Path:
    """Return the root a server works in, as a resolved path.

    The order is `flag`, then `client_roots` (paths or `file://` URIs; those with a project's
    folders first), then `environ`, then `cwd` if it holds one of `MARKERS`. The flag and the
    variables are orders and refused when they are wrong; client roots are hints and passed over.

    Raises:
        ProjectError: nothing names a usable folder; the message says how to set one.
    """
    if flag is not None and str(flag):
        return _ordered(str(flag), "--project-root", environ)
    hints = list(_usable(client_roots, environ))
    if hints:
        return next((hint for hint in hints if _has_marker(hint)), hints[0])
    for variable in ROOT_VARIABLES:
        if environ.get(variable):
            return _ordered(environ[variable], variable, environ)
    here = cwd.resolve()
    if _has_marker(here) and not too_wide(here, environ):
        return here
    raise ProjectError(
        "no project root is set, and the current directory does not look like a project "
        f"({', '.join(f'{marker}/' for marker in MARKERS)} are all missing)"
        if not too_wide(here, environ)
        else "no project root is set, and the current directory is the home directory, the "
        "agent's own or the file system's root",
        where="project root",
        remedy=_HOW_TO_SET,
    )


def too_wide(folder: Path, environ: Mapping[str, str]) -> bool:
    """Tell whether a resolved folder is HOME, holds HOME, or is the agent's own `~/.codex`."""
    homes = {Path(environ[name]).resolve() for name in ("HOME", "USERPROFILE") if environ.get(name)}
    return folder == folder.parent or any(
        home.is_relative_to(folder) or folder == home / ".codex" for home in homes
    )


def is_worktree(folder: Path) -> bool:
    """Tell whether `folder` is the top of a linked git worktree.

    There `.git` is a file that points into `worktrees/` of the main repository
    (gitrepository-layout(5)); a submodule's `.git` file points into `modules/`.
    """
    target = git_directory(folder)
    return target is not None and (folder / ".git").is_file() and target.parent.name == "worktrees"


def git_directory(folder: Path) -> Path | None:
    """Return the git directory of the repository or worktree whose top is `folder`, if it is one.

    It may lie outside the project; nothing is read there.
    """
    marker = folder / ".git"
    if marker.is_dir():
        return marker
    if not marker.is_file():
        return None
    try:
        with marker.open(encoding="utf-8", errors="replace") as stream:
            line = stream.readline(4096)
    except OSError:
        return None
    name, _, target = line.partition(":")
    return folder / target.strip() if name == "gitdir" and target.strip() else None


def _holds_memory(folder: Path) -> bool:
    # A Python package called `memory` is code, not the boards of a project.
    memory = folder / "memory"
    return memory.is_dir() and not (memory / "__init__.py").exists()


def _holds_git(folder: Path) -> bool:
    return git_directory(folder) is not None


def _has_marker(folder: Path) -> bool:
    return any((folder / marker).is_dir() for marker in MARKERS)


def _existing(path: Path, where: str) -> Path:
    try:
        return path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise ProjectError(
            f"`{path}` does not exist", where=where, remedy="Name an existing folder."
        ) from error


def _ordered(text: str, source: str, environ: Mapping[str, str]) -> Path:
    folder = _existing(Path(text), source)
    if not folder.is_dir():
        raise ProjectError(f"`{text}` is not a folder", where=source, remedy="Name its folder.")
    if too_wide(folder, environ):
        raise ProjectError(
            f"`{text}` is the home directory, holds it or is the agent's own",
            where=source,
            remedy="Name the folder of one project below it.",
        )
    return folder


def _usable(client_roots: Sequence[str], environ: Mapping[str, str]) -> Iterator[Path]:
    for root in client_roots:
        path = _path_of(root)
        if path is None or not path.is_dir():
            continue
        folder = path.resolve()
        if not too_wide(folder, environ):
            yield folder


def _path_of(root: str) -> Path | None:
    if "\0" in root:
        return None
    if "://" not in root:
        return Path(root) if Path(root).is_absolute() else None
    parts = urlsplit(root)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = Path(_WINDOWS_DRIVE.sub("", unquote(parts.path)))
    return None if "\0" in str(path) else path
