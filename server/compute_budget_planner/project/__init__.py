"""A project on disk: the only code that touches its files.

`Project` is the face; the modules beside it hold one concern each: which folder is the root,
where things lie in it, what files are known, bounded reading, locked and atomic writing, git's
ignore rules, and what must be redacted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from compute_budget_planner.errors import ProjectError
from compute_budget_planner.project import (
    data_files,
    discovery,
    ignore,
    layout,
    locking,
    reading,
    writing,
)
from compute_budget_planner.project.discovery import Discovered
from compute_budget_planner.project.reading import FileText
from compute_budget_planner.project.redaction import clean_text, private_paths
from compute_budget_planner.project.root import find_root, is_worktree, resolve_root
from compute_budget_planner.project.writing import WriteOutcome

__all__ = [
    "Discovered",
    "FileText",
    "Project",
    "WriteOutcome",
    "clean_text",
    "find_root",
    "private_paths",
    "resolve_root",
]


@dataclass(frozen=True)
class Project:
    """The project whose top folder is `root`; every path it takes or gives is relative to it.

    `worktree` is the linked git worktree worked in, relative to the root: empty for none, and `.`
    (found by itself) when the root is one.
    """

    root: Path
    worktree: str = ""

    def __post_init__(self) -> None:
        root = self.root.resolve()
        if not root.is_dir():
            raise ProjectError(
                f"`{self.root}` is not a folder", where="project root", remedy="Name the project."
            )
        object.__setattr__(self, "root", root)
        if is_worktree(root):
            object.__setattr__(self, "worktree", ".")

    @classmethod
    def around(cls, start: Path) -> "Project":
        """Return the project a person stands in, with the worktree `start` lies in, if any.

        Raises:
            ProjectError: `start` does not exist.
        """
        root = find_root(start)
        below = [f for f in (start.resolve(), *start.resolve().parents) if f.is_relative_to(root)]
        inside = next((f for f in below if is_worktree(f)), None)
        return cls(root, "" if inside is None else inside.relative_to(root).as_posix())

    @cached_property
    def _declared(self) -> layout.Declared:
        return layout.read_declared(self.root)

    @property
    def name(self) -> str:
        """The name memory/project.yaml gives, else that of the root folder."""
        return clean_text(self._declared.name or self.root.name, 80)

    @property
    def is_worktree(self) -> bool:
        """Whether work happens in a linked git worktree, where boards are not written."""
        return bool(self.worktree)

    @property
    def code_dir(self) -> str:
        """The folder of the code: as declared, else `code`, else `.`."""
        return layout.code_directory(self.root, self._declared)

    @property
    def agent_dir(self) -> str:
        """The `.agent` folder the budget belongs in; it may not exist yet."""
        return layout.agent_directory(self.root, self._declared, self.worktree)

    @property
    def budget_path(self) -> str:
        """The path of compute-budget.md; it may not exist yet."""
        return layout.joined(self.agent_dir, layout.BUDGET_NAME)

    @property
    def lab_page_path(self) -> str:
        """The path of the lab's own reference tables; it may not exist."""
        return layout.joined(self.agent_dir, layout.LAB_PAGE_NAME)

    @property
    def worktree_status_path(self) -> str | None:
        """The path of the worktree's own status, None outside a worktree."""
        name = writing.WORKTREE_STATUS_NAME
        return layout.joined(self.agent_dir, name) if self.worktree else None

    @property
    def _bases(self) -> list[str]:
        return list(dict.fromkeys(b for b in (self.worktree, self.code_dir, ".") if b))

    @property
    def _targets(self) -> writing.Targets:
        return writing.Targets.of(self.agent_dir, in_worktree=self.is_worktree)

    def discover(self) -> Discovered:
        """List the files of the known places, and the folders whose listing had to be cut."""
        return discovery.discover(self.root, self._bases)

    def known_files(self) -> list[str]:
        """List the files of the known places: worktree, code folder, root; plans last."""
        return list(self.discover().files)

    def memory_boards(self) -> dict[str, bool]:
        """Return for each Markdown board (`memory/risk-board.md`, …) whether it exists."""
        return discovery.memory_boards(self.root)

    def read(self, path: str) -> FileText:
        """Return the text of a file, named by its path from the root, worktree or code folder.

        Raises:
            ProjectError: it is outside the root, missing, binary, too large or unreadable.
        """
        return reading.read_text(*self._locate(path))

    def list_folder(self, path: str) -> data_files.FolderFiles | None:
        """Count the files below a folder of the project, None when `path` is none inside it."""
        try:
            folder = (self.root / path).resolve()
            inside = folder.is_dir() and folder.is_relative_to(self.root)
        except (OSError, RuntimeError, ValueError):
            return None
        if not inside:
            return None
        return data_files.list_folder(folder)

    def sha256(self, path: str) -> str:
        """Return the SHA-256 of a file's bytes in hexadecimal.

        Raises:
            ProjectError: it is outside the root, missing or unreadable.
        """
        return reading.file_sha256(*self._locate(path))

    @contextmanager
    def locked(self, *paths: str) -> Iterator[None]:
        """Keep other threads and processes from writing this project during a read-modify-write.

        `paths`, the files to be written, are checked before anything is done. May be nested.

        Raises:
            ProjectError: a path may not be written, or another process is writing for too long.
        """
        for path in paths:
            self._targets.require(path)
        with locking.project_lock(self.root):
            yield

    def write_text(
        self, path: str, text: str, *, expected_sha256: str | None = None
    ) -> WriteOutcome:
        """Make `text` the content of a file the product may write, atomically.

        Raises:
            ProjectError: the path may not be written, or the file no longer has
                `expected_sha256`; nothing was changed.
        """
        with self.locked(path):
            return writing.write(
                self.root, self._targets, path, text, expected_sha256=expected_sha256
            )

    def unified_diff(self, path: str, new_text: str) -> str:
        """Return what `write_text` would change, empty when nothing.

        Raises:
            ProjectError: the path may not be written.
        """
        return writing.difference(self.root, self._targets, path, new_text)

    def git_ignored(self, path: str) -> str | None:
        """Return `file:line (pattern)` of the rule by which git ignores `path`, else None."""
        return ignore.ignoring_line(self.root, path)

    def _locate(self, path: str) -> tuple[Path, str]:
        return reading.locate(self.root, self._bases, path, self.known_files)
