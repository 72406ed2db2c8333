"""Training data on disk: sizes, the ends of a binary file, the names in a folder.

Data are never loaded: of a binary file its head and tail are enough to tell how much it holds, of
a folder the names and sizes of what lies in it.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

_ENDINGS = frozenset({".bin", ".idx", ".npy", ".parquet"})
_WEIGHTS = re.compile(r"model|weight|optimi[sz]er|scheduler|training_args|adapter|rng", re.I)

HEAD_BYTES = 4096
TAIL_BYTES = 2**20
_MOST_ENTRIES = 200_000
_MOST_DEPTH = 4


@dataclass(frozen=True)
class FolderFiles:
    """The files below a folder: their number and bytes by (subfolder, ending).

    `cut` says that there are more than were looked at.
    """

    counts: dict[tuple[str, str], tuple[int, int]]
    cut: bool


def is_binary_data(file: Path) -> bool:
    """Tell by its name whether size or metadata of a binary file tell how much it holds."""
    weights = file.suffix.lower() == ".bin" and _WEIGHTS.search(file.stem)
    return file.suffix.lower() in _ENDINGS and not weights


def ends_of(content_head: bytes, content_tail: bytes) -> str:
    """Return head and tail of a binary file as text, one character a byte."""
    return (content_head + content_tail).decode("latin-1")


def list_folder(folder: Path) -> FolderFiles:
    """Count the regular files below a folder; links are not followed, hidden names skipped."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    waiting = [(folder, "", 0)]
    seen = 0
    while waiting:
        place, name, depth = waiting.pop()
        try:
            entries = os.scandir(place)
        except OSError:
            continue
        with entries:
            for entry in entries:
                seen += 1
                if seen > _MOST_ENTRIES:
                    return FolderFiles(counts, cut=True)
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if depth < _MOST_DEPTH:
                        waiting.append((Path(entry.path), f"{name}/{entry.name}", depth + 1))
                elif entry.is_file(follow_symlinks=False):
                    key = (name.strip("/"), Path(entry.name).suffix.lower())
                    number, size = counts.get(key, (0, 0))
                    counts[key] = (number + 1, size + entry.stat(follow_symlinks=False).st_size)
    return FolderFiles(counts, cut=False)
