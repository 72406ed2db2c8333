"""Bounded reading of files that lie inside the project.

Containment is judged on resolved paths, so neither `..`, nor a symlink, nor a folder whose name
merely begins like the root's gets out. Files that are read as a whole may have 64 MB; of a long
log three stretches are enough.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from io import BufferedReader
from pathlib import Path

from compute_budget_planner.errors import ProjectError
from compute_budget_planner.project.data_files import (
    HEAD_BYTES,
    TAIL_BYTES,
    ends_of,
    is_binary_data,
)

MAX_WHOLE_BYTES = 64 * 2**20
MAX_LOG_BYTES = 4 * 2**20
_STRETCH_BYTES = 2**19
_PROBE_BYTES = 8192
_MAX_NAME_BYTES = 255
_EVENT_FILE = "tfevents"
"""In the name of TensorBoard's event files, the only binary files that are read."""

_LISTED = 500

# Files made of lines that stand alone: any stretch of them is still readable.
_LOG_SUFFIXES = frozenset({"", ".log", ".out", ".err", ".txt", ".jsonl", ".ndjson"})


@dataclass(frozen=True)
class FileText:
    """The text of a file: `path` is relative to the root (POSIX), `size_bytes` that of the file.

    Line ends are kept; a UTF-8 byte order mark is not, and bytes that are not UTF-8 read as
    U+FFFD; of an event file each byte is one character. When `sampled`, the text is whole lines of
    the head, the middle and the tail, and its line numbers are not those of the file.
    """

    path: str
    text: str
    size_bytes: int
    sampled: bool


def locate(
    root: Path, bases: Sequence[str], path: str, known: Callable[[], Iterable[str]]
) -> tuple[Path, str]:
    """Return an existing file as a resolved path and as its path relative to the root.

    `path` may be absolute, relative to the root, or relative to one of `bases` (folders of the
    project, tried in order). `known` lists files for the suggestion in an error.

    Raises:
        ProjectError: the path is ill-formed, leads outside the root, or is not a regular file.
    """
    too_long = any(len(os.fsencode(part)) > _MAX_NAME_BYTES for part in path.split("/"))
    if not path.strip() or too_long or any(ord(c) < 32 or ord(c) == 127 for c in path):
        raise ProjectError(
            f"{path[:80]!r} is not a path", remedy="Give a path relative to the project root."
        )
    outside = False
    for base in (".", *bases):
        candidate = _resolved(root / base / path)
        if not candidate.is_relative_to(root):
            outside = True
        elif _exists(candidate, path):
            relative = candidate.relative_to(root).as_posix()
            _require_regular(candidate, relative)
            return candidate, relative
    if outside:
        raise ProjectError(
            "the path leads outside the project",
            where=path,
            remedy="Only files inside the project root can be read; copy it there, or start with "
            "another --project-root.",
        )
    raise ProjectError("there is no such file", where=path, remedy=_suggestion(root, path, known))


def read_text(file: Path, relative: str) -> FileText:
    """Return the text of a file that `locate` has found.

    Raises:
        ProjectError: the file is binary, too large or unreadable.
    """
    with _opened(file, relative) as stream:
        size = os.fstat(stream.fileno()).st_size
        if is_binary_data(file):
            head = stream.read(HEAD_BYTES)
            stream.seek(max(size - TAIL_BYTES, len(head)))
            return FileText(relative, ends_of(head, stream.read(TAIL_BYTES)), size, sampled=True)
        encoded = _EVENT_FILE not in file.name
        if encoded and b"\0" in stream.read(_PROBE_BYTES):
            raise ProjectError(
                "the file is binary, not text",
                where=relative,
                remedy="Name a script, a config or a log in UTF-8.",
            )
        stream.seek(0)
        if size > MAX_LOG_BYTES and file.suffix.lower() in _LOG_SUFFIXES:
            return FileText(relative, _decoded(_sample(stream, size)), size, sampled=True)
        content = stream.read(MAX_WHOLE_BYTES + 1)
        if len(content) > MAX_WHOLE_BYTES:
            raise ProjectError(
                f"the file has {size / 2**20:,.0f} MB, and at most 64 MB are read",
                where=relative,
                remedy="Name a smaller file, or state its facts as arguments.",
            )
        text = _decoded(content) if encoded else content.decode("latin-1")
        return FileText(relative, text, len(content), sampled=False)


def file_sha256(file: Path, relative: str) -> str:
    """Return the SHA-256 of a file's bytes in hexadecimal, whatever its size.

    Raises:
        ProjectError: the file cannot be read.
    """
    with _opened(file, relative) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # a loop of symlinks
        raise ProjectError(
            "the path cannot be followed", where=path.name, remedy="Name the file itself."
        ) from error


def _exists(file: Path, path: str) -> bool:
    try:
        return file.exists()
    except OSError as error:
        raise ProjectError(
            f"the path cannot be followed ({error.strerror})",
            where=path,
            remedy="Check the permissions of its folders.",
        ) from error


def _require_regular(file: Path, relative: str) -> None:
    if file.is_dir():
        inside = _names_in(file)
        example = f", such as `{relative}/{inside[0]}`" if inside else ""
        raise ProjectError(
            "this is a folder", where=relative, remedy=f"Name a file in it{example}."
        )
    if not file.is_file():
        raise ProjectError(
            "this is a device, pipe or socket", where=relative, remedy="Name a regular file."
        )


def _opened(file: Path, relative: str) -> BufferedReader:
    # O_NONBLOCK: a pipe put in the file's place since it was checked must not hang the server.
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        descriptor = os.open(file, flags)
    except OSError as error:
        raise ProjectError(
            f"the file cannot be opened ({error.strerror})",
            where=relative,
            remedy="Check its permissions.",
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ProjectError(
            "this is not a regular file", where=relative, remedy="Name a regular file."
        )
    return os.fdopen(descriptor, "rb")


def _sample(stream: BufferedReader, size: int) -> bytes:
    stretches = []
    middle = (size - _STRETCH_BYTES) // 2
    for start in (0, middle, size - _STRETCH_BYTES):
        stream.seek(start)
        stretches.append(
            _whole_lines(
                stream.read(_STRETCH_BYTES), first=start > 0, last=start + _STRETCH_BYTES < size
            )
        )
    return b"\n".join(stretches)


def _whole_lines(stretch: bytes, *, first: bool, last: bool) -> bytes:
    # Progress bars end their lines with a carriage return only.
    for end in (b"\n", b"\r"):
        if end in stretch:
            begin = stretch.index(end) + 1 if first else 0
            finish = stretch.rindex(end) if last else len(stretch)
            return stretch[begin:finish]
    return stretch


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", errors="replace").removeprefix("\ufeff")


def _names_in(folder: Path) -> list[str] | None:
    """Return the names in a folder that can be shown in a message; None if it is no folder."""
    try:
        names = sorted(child.name for child in folder.iterdir())
    except OSError:
        return None
    return [name for name in names if name.isprintable()][:_LISTED]


def _suggestion(root: Path, path: str, known: Callable[[], Iterable[str]]) -> str:
    folder = root / path
    names = _names_in(folder)
    while names is None and folder != root:
        folder = folder.parent
        names = _names_in(folder)
    place = folder.relative_to(root).as_posix()
    beside = [name if place == "." else f"{place}/{name}" for name in names or ()]
    choices = list(dict.fromkeys([*beside, *known()]))
    wanted = path.rsplit("/", maxsplit=1)[-1]
    same_name = [choice for choice in choices if choice.rsplit("/", maxsplit=1)[-1] == wanted]
    near = (same_name or get_close_matches(path, choices, n=3, cutoff=0.6))[:3]
    if near:
        return "Did you mean " + " or ".join(f"`{choice}`" for choice in near) + "?"
    there = "the project root" if place == "." else f"`{place}`"
    listed = ", ".join(f"`{choice}`" for choice in beside[:8])
    return f"In {there} there are: {listed}." if listed else f"Nothing is in {there}."
