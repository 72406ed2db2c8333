"""Home-made grids and search spaces: lists of values under names of settings.

sweep: {learning_rate: [1e-4, 2e-4], lora_r: [8, 16]}    a grid: the product of its lists
seeds: [42, 123]                                         multiplies it
active_sweep: quick_sweep                                one of several grids is run

batch_size: {type: categorical, values: [1, 2]}          a search space: trials are counted
learning_rate: {type: float, min: 1e-6, max: 1e-2}       where the search is started
"""

from collections.abc import Iterator
from math import prod

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_options import references_of
from compute_budget_planner.readers.contract import Problem, Reading, SourceFile
from compute_budget_planner.readers.framework_reader import Settings
from compute_budget_planner.readers.nodes import Document, Node
from compute_budget_planner.readers.structured import load_mapping, mapping_of
from compute_budget_planner.readers.sweep_bounds import MOST_RUNS, differing

_CHOSEN = "active_sweep"
_GRIDS = ("sweep", "grid", "param_grid", "search_space", "sweep_params")
_KINDS = {"categorical", "float", "int", "uniform", "loguniform", "log_uniform", "choice", "fixed"}
_LIMITS = {"min", "max", "low", "high", "values", "choices", "value"}


class SweepGridReader:
    """A file that lists the values to be tried, in no framework's own format."""

    format = "sweep"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping is a grid of lists or a search space."""
        document = mapping_of(file)
        return document is not None and (_grid(document.root) is not None or _is_space(document))

    def read(self, file: SourceFile, reference: Reference) -> Reading:  # noqa: ARG002  every reader takes it
        """Return the number of runs of a grid; of a search space the question for it.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        settings = Settings(file, document)
        name = _grid(document.root)
        grid = document.root.get(name) if name is not None else None
        n_runs = 1 if grid is None else _runs(document.root, grid)
        place = name or next(iter(document.root.mapping), "")
        lists = _searched(document.root) if grid is None else _lists(grid)
        problems = list(differing(settings, place, lists))
        if grid is None:
            problems.append(_ask_trials(settings, place))
        return Reading(
            file.path,
            self.format,
            "config",
            problems=(*document.problems, *problems),
            references=references_of(file, Document(document.root, ())),
            n_runs=n_runs,
        )


def _grid(root: Node) -> str | None:
    """Return the key of the grid that is run."""
    chosen = root.get(_CHOSEN)
    if chosen is not None and isinstance(chosen.value, str):
        found = root.get(chosen.value)
        return chosen.value if found is not None and _lists(found) else None
    grids = [key for key in _GRIDS if (node := root.get(key)) is not None and _lists(node)]
    return grids[0] if len(grids) == 1 and _is_plain(root.mapping[grids[0]]) else None


def _is_plain(grid: Node) -> bool:
    return all(node.items or node.scalar is not None for node in grid.mapping.values())


def _lists(grid: Node) -> list[str]:
    return [key for key, node in grid.mapping.items() if node.items and key != "seeds"]


def _runs(root: Node, grid: Node) -> int:
    seeds = grid.get("seeds") or root.get("seeds")
    repeats = len(seeds.items) if seeds is not None and seeds.items else 1
    runs = prod(len(node.items) for key, node in grid.mapping.items() if key in _lists(grid))
    return min(runs * repeats, MOST_RUNS)


def _is_space(document: Document) -> bool:
    members = list(document.root.mapping.values())
    spaces = list(_spaces(document.root))
    return len(spaces) >= 2 and len(spaces) == len(members)


def _spaces(root: Node) -> Iterator[str]:
    for key, node in root.mapping.items():
        kind = node.get("type")
        if kind is not None and kind.scalar in _KINDS and node.mapping.keys() & _LIMITS:
            yield key


def _searched(root: Node) -> list[str]:
    return [key for key in _spaces(root) if root.get(key, "value") is None]


def _ask_trials(settings: Settings, place: str) -> Problem:
    return settings.ask(
        "a search space does not say how many trials are run; give `tuning_trials`.", place
    )


READER = SweepGridReader()
