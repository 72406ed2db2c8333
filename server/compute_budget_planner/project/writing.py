"""Writing the few files the product may write.

What is written here is read as instructions by later agents, so a target is never a free path: it
is one of a closed list, reached through no symlink, and replaced as a whole or not at all.
"""

import hashlib
import os
import re
import secrets
import stat
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from compute_budget_planner.errors import ProjectError
from compute_budget_planner.project.layout import (
    AGENT_DIRECTORY,
    BUDGET_NAME,
    LAB_PAGE_NAME,
    PROJECT_YAML,
    joined,
)
from compute_budget_planner.project.reading import MAX_WHOLE_BYTES

WRITABLE_BOARDS = (
    "memory/risk-board.md",
    "memory/decision-log.md",
    "memory/evidence-board.md",
    "memory/action-board.md",
    "memory/handoff-board.md",
    "memory/project-conventions.md",
)
WORKTREE_STATUS_NAME = "worktree-status.md"
_PLOT_NAME = re.compile(r"compute-budget[A-Za-z0-9_-]*\.svg")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class WriteOutcome:
    """What a write did: `sha256` is that of the file as it now is, in hexadecimal."""

    path: str
    changed: bool
    sha256: str


@dataclass(frozen=True)
class Targets:
    """The files of one project that may be written: `files` by path, plots in `agent_dir`."""

    files: tuple[str, ...]
    agent_dir: str

    @classmethod
    def of(cls, agent_dir: str, *, in_worktree: bool) -> "Targets":
        """Return budget and lab page with the boards or, in a worktree, with its status alone.

        Boards belong to the whole project; work in progress on a branch is not yet theirs.
        """
        others = (
            (joined(agent_dir, WORKTREE_STATUS_NAME),)
            if in_worktree
            else (*WRITABLE_BOARDS, PROJECT_YAML)
        )
        own = tuple(joined(agent_dir, name) for name in (BUDGET_NAME, LAB_PAGE_NAME))
        return cls((*own, *others), agent_dir)

    def require(self, path: str) -> None:
        """Refuse a path that is not on the list.

        Raises:
            ProjectError: naming what may be written here.
        """
        folder, _, name = path.rpartition("/")
        if path in self.files or (folder == self.agent_dir and _PLOT_NAME.fullmatch(name)):
            return
        raise ProjectError(
            "this file is not written by the planner",
            where=ascii(path)[1:-1],
            remedy="It writes only "
            + ", ".join(f"`{file}`" for file in self.files)
            + f" and plots `{self.agent_dir}/compute-budget*.svg`.",
        )


def write(
    root: Path, targets: Targets, path: str, text: str, *, expected_sha256: str | None
) -> WriteOutcome:
    """Make `text` the content of `path`; the caller holds the project's lock.

    The same text leaves the file untouched. Mode and byte order mark are kept. A missing `.agent`
    folder is made, no other.

    Raises:
        ProjectError: the path may not be written, is reached through a symlink, is not UTF-8, or
            no longer has `expected_sha256`.
    """
    old = _present(root, targets, path)
    if expected_sha256 is not None and (old is None or expected_sha256 != _sha256(old)):
        raise ProjectError(
            "the file has changed since it was read" if old is not None else "the file is gone",
            where=path,
            remedy="Read it again, redo the change on what it holds now, and pass its new "
            "expected_sha256.",
        )
    new = _encoded(path, text)
    if old is not None and old.startswith(_BYTE_ORDER_MARK):
        new = _BYTE_ORDER_MARK + new
    if new == old:
        return WriteOutcome(path, changed=False, sha256=_sha256(new))
    file = root / path
    try:
        if file.parent.name == AGENT_DIRECTORY:
            file.parent.mkdir(exist_ok=True)
        _replace(file, new)
    except OSError as error:
        raise ProjectError(
            f"the file could not be written ({error.strerror})",
            where=path,
            remedy=f"Nothing was changed. Check that `{path.rpartition('/')[0]}` exists, is "
            "writable and has room.",
        ) from error
    return WriteOutcome(path, changed=True, sha256=_sha256(new))


def difference(root: Path, targets: Targets, path: str, new_text: str) -> str:
    """Return what writing would change as a unified diff, empty when nothing would.

    Raises:
        ProjectError: as `write` would.
    """
    old = _present(root, targets, path)
    _encoded(path, new_text)
    before = "" if old is None else old.removeprefix(_BYTE_ORDER_MARK).decode("utf-8")
    lines = unified_diff(
        _lines(before), _lines(new_text), "/dev/null" if old is None else f"a/{path}", f"b/{path}"
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _present(root: Path, targets: Targets, path: str) -> bytes | None:
    """Return the bytes of an allowed target, None when it does not exist yet."""
    targets.require(path)
    place = root
    for part in path.split("/"):
        place /= part
        try:
            mode = place.lstat().st_mode
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ProjectError(
                f"the path cannot be followed ({error.strerror})",
                where=path,
                remedy="Check the permissions of its folders.",
            ) from error
        if stat.S_ISLNK(mode):
            raise ProjectError(
                f"`{place.relative_to(root).as_posix()}` is a symlink, and nothing is written "
                "through one",
                where=path,
                remedy="Replace it by the file or folder itself.",
            )
    if not stat.S_ISREG(mode):
        raise ProjectError("this is not a regular file", where=path, remedy="Move it away.")
    try:
        content = place.read_bytes() if place.stat().st_size <= MAX_WHOLE_BYTES else None
        if content is not None:
            content.decode("utf-8")
            return content
    except OSError as error:
        raise ProjectError(
            f"the file cannot be read ({error.strerror})",
            where=path,
            remedy="Check its permissions.",
        ) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ProjectError(
            "the file is not UTF-8, and a rewrite would damage it",
            where=f"{path}:{line}",
            remedy="Convert it to UTF-8.",
        ) from error
    raise ProjectError("the file is over 64 MB", where=path, remedy="Shorten it.")


def _encoded(path: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ProjectError(
            f"the new text has a character at {error.start} that is not valid Unicode",
            where=path,
            remedy="Remove the lone surrogate.",
        ) from error


def _replace(file: Path, content: bytes) -> None:
    """Put the content in the file's place at once: a reader sees the old or the new, never half."""
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if file.exists():
            temporary.chmod(stat.S_IMODE(file.stat().st_mode))
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _lines(text: str) -> list[str]:
    # Not splitlines(): a form feed or U+2028 inside a line is the author's, not a line end.
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
