"""One writer per project at a time, among threads and among processes.

Several clients may each have started a server for the same project. Where the system has flock(2)
the lock is taken on the root folder itself and vanishes with the process that held it; elsewhere
(Windows, some network file systems) an exclusively created lock file takes its place.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from compute_budget_planner.errors import ProjectError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK_NAME = ".compute-budget-planner.lock"
PATIENCE_SECONDS = 10.0
_PAUSE_SECONDS = 0.02

# One lock for all projects of this process; who holds it may take it again.
_PROCESS = threading.RLock()
_DEPTH: dict[Path, int] = {}


@contextmanager
def project_lock(root: Path) -> Iterator[None]:
    """Hold the project `root` (resolved) for a read-modify-write; may be nested.

    Raises:
        ProjectError: another process held it for longer than `PATIENCE_SECONDS`.
    """
    with _PROCESS:
        outermost = root not in _DEPTH
        release = _acquire(root) if outermost else None
        _DEPTH[root] = _DEPTH.get(root, 0) + 1
        try:
            yield
        finally:
            _DEPTH[root] -= 1
            if release is not None:
                del _DEPTH[root]
                release()


def _acquire(root: Path) -> Callable[[], None]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    try:
        while True:
            release = _try_lock(root)
            if release is not None:
                return release
            if time.monotonic() > deadline:
                break
            time.sleep(_PAUSE_SECONDS)
    except OSError as error:
        raise ProjectError(
            f"the project cannot be locked for writing ({error.strerror})",
            where="project root",
            remedy="Check that the folder is writable.",
        ) from error
    raise ProjectError(
        "another process is writing to this project",
        where="project root",
        remedy=f"Try again; if no other planner runs, delete `{LOCK_NAME}`.",
    )


def _try_lock(root: Path) -> Callable[[], None] | None:
    """Take the lock and return what releases it, or None while another process has it."""
    if fcntl is None:
        return _try_lock_file(root / LOCK_NAME)
    descriptor = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:  # this file system has no flock, or none for folders (NFS)
        os.close(descriptor)
        return _try_lock_file(root / LOCK_NAME)
    return lambda: os.close(descriptor)


def _try_lock_file(file: Path) -> Callable[[], None] | None:
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return None
    return lambda: file.unlink(missing_ok=True)
