"""The places where a project keeps jobs, configs, logs and plans.

A listing is bounded: by place in depth and number, and as a whole in number. What was cut is
named, so that a reader of the listing knows that it is not all.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

MAX_FILES = 5_000
_MAX_PER_PLACE = 1_000
_MAX_ENTRIES_PER_FOLDER = 10_000
_MAX_DEPTH = 6

_SKIPPED_FOLDERS = frozenset(
    {".git", "node_modules", ".venv", "venv", ".uv-envs", "__pycache__", ".cache", "site-packages"}
)
_JOBS = ("*.sh", "*.slurm", "*.sbatch")
_CONFIGS = ("*.yaml", "*.yml", "*.json", "*.toml", "*.py")
# A root holds many other YAML and JSON files.
_ROOT_CONFIGS = ("config*.yaml", "config*.yml", "train*.yaml", "train*.yml", "ds_*.json")
_LOGS = ("*.out", "*.err", "*.log", "*.txt", "*.json", "*.jsonl", "*.csv")
_EVENTS = "events.out.tfevents.*"
_RESULTS = ("trainer_state.json", "*_results.json", "*.out", "*.log", "config.json", _EVENTS)
_SKILL = "skills/run-experiment"

BOARDS = (
    "memory/risk-board.md",
    "memory/decision-log.md",
    "memory/evidence-board.md",
    "memory/action-board.md",
    "memory/handoff-board.md",
    "memory/project-conventions.md",
    "memory/claim-board.md",
)


@dataclass(frozen=True)
class Place:
    """Files of a folder whose names match one of `patterns`, down to `depth` folders below it."""

    folder: str
    patterns: tuple[str, ...]
    depth: int = 0


# In the order in which files are listed; the worktree, the code folder and the root have each.
PLACES = (
    Place("jobs", _JOBS),
    Place(".", _JOBS),
    Place("scripts", _JOBS),
    Place("slurm", _JOBS),
    Place("experiments/configs", _CONFIGS, _MAX_DEPTH),
    Place("configs", _CONFIGS, _MAX_DEPTH),
    Place("infra/envs", ("*.yaml", "*.yml")),
    Place(".", ("environments.yaml",)),
    Place(f".agents/{_SKILL}", ("environments.yaml",), 2),
    Place(f".claude/{_SKILL}", ("environments.yaml",), 2),
    Place("docs/runs", ("*.md",)),
    Place("docs/ops/runs", ("*.md",)),
    Place(".agent/run-status", ("runs.yaml", "runs.json")),
    Place("docs/ops", ("runs.yaml",)),
    Place("outputs/logs", _LOGS, _MAX_DEPTH),
    Place("outputs", _RESULTS, 3),
    Place(".", ("slurm-*.out", "config.json", *_ROOT_CONFIGS)),
    Place("logs", _LOGS, 2),
    Place("models", ("config.json",), 3),
    Place("wandb", ("wandb-metadata.json", "wandb-summary.json", "config.yaml", "output.log"), 2),
    Place("lightning_logs", ("metrics.csv", "hparams.yaml", _EVENTS), 2),
    Place("runs", ("results.csv", "args.yaml", _EVENTS), 3),
    Place("mlruns", ("meta.yaml", "*loss*"), 3),
)
PLANS = (
    Place("docs/experiments", ("*.md",), 1),
    Place("docs/reports", ("*.md",), 1),
    Place(".agent", ("data-pipeline-plan.md",)),
)


@dataclass(frozen=True)
class Discovered:
    """The files found, in order, and the folders whose listing was cut."""

    files: tuple[str, ...]
    cut: tuple[str, ...]


def discover(root: Path, bases: Sequence[str]) -> Discovered:
    """List the known files below `bases` (folders of the project, the nearest first).

    All paths are relative to the root. Jobs, configs, environments, run notes, logs and model
    configs come first, then the plans and reports, also those of every code worktree.
    """
    found: dict[str, None] = {}
    listing = _Listing(root)
    worktrees = [path for path, is_folder in listing.children("code-worktrees") if is_folder]
    searches = [(base, place) for base in bases for place in PLACES]
    searches += [(base, place) for base in (*bases, *worktrees) for place in PLANS]
    for base, place in searches:
        folder = (Path(base) / place.folder).as_posix()
        files = list(islice(listing.walk(folder, place, place.depth, set()), _MAX_PER_PLACE + 1))
        room = min(_MAX_PER_PLACE, MAX_FILES - len(found))
        if len(files) > room:
            listing.cut[folder] = None
        found.update(dict.fromkeys(files[:room]))
    return Discovered(tuple(found), tuple(listing.cut))


def memory_boards(root: Path) -> dict[str, bool]:
    """Return for each Markdown board of the suite whether the project has it."""
    return {board: (root / board).is_file() for board in BOARDS}


class _Listing:
    """Folders read in order of name, never outside `root`; `cut` collects those read in part."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cut: dict[str, None] = {}

    def walk(self, folder: str, place: Place, depth: int, seen: set[Path]) -> Iterator[str]:
        """Yield the files of a place: those of a folder first, then those below it."""
        real = (self.root / folder).resolve()
        if real in seen:  # a symlink back into what has been listed
            return
        seen.add(real)
        folders = []
        for path, is_folder in self.children(folder):
            name = path.rsplit("/", maxsplit=1)[-1]
            if is_folder:
                folders.append(path)
            elif any(fnmatchcase(name, pattern) for pattern in place.patterns):
                yield path
        if depth > 0:
            for path in folders:
                yield from self.walk(path, place, depth - 1, seen)

    def children(self, folder: str) -> list[tuple[str, bool]]:
        """Return (path, is a folder) of the regular files and folders in a folder."""
        if not self._inside(self.root / folder):
            return []
        try:
            with os.scandir(self.root / folder) as entries:
                listed = list(islice(entries, _MAX_ENTRIES_PER_FOLDER + 1))
        except OSError:  # absent, not a folder or not readable: nothing is known there
            return []
        if len(listed) > _MAX_ENTRIES_PER_FOLDER:
            self.cut[folder] = None
        children = []
        for entry in sorted(listed[:_MAX_ENTRIES_PER_FOLDER], key=lambda e: e.name):
            if entry.is_symlink() and not self._inside(Path(entry.path)):
                continue
            is_folder = entry.is_dir()
            if entry.is_file() or (is_folder and entry.name not in _SKIPPED_FOLDERS):
                children.append(((Path(folder) / entry.name).as_posix(), is_folder))
        return children

    def _inside(self, path: Path) -> bool:
        try:
            return path.resolve().is_relative_to(self.root)
        except (OSError, RuntimeError):  # a loop of symlinks
            return False
