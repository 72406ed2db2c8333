"""A W&B sweep: how many runs it stands for, and what they share.

A grid is the product of its lists. Random and Bayesian sweeps have no number of their own unless
`run_cap` gives one: agents stop at their `--count`. Source: W&B's sweep configuration reference.
"""

from collections.abc import Iterator
from math import prod

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_reading import Spelling, config_reading
from compute_budget_planner.readers.contract import FileReference, Problem, Reading, SourceFile
from compute_budget_planner.readers.framework_reader import Settings
from compute_budget_planner.readers.nodes import Document, Node
from compute_budget_planner.readers.option_values import fact_of_key, option_key
from compute_budget_planner.readers.structured import load_mapping, mapping_of
from compute_budget_planner.readers.sweep_bounds import MOST_RUNS, differing

_METHODS = {"grid", "random", "bayes"}


class WandbSweepReader:
    """A sweep configuration of Weights & Biases."""

    format = "wandb_sweep"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping names a search method and parameters."""
        document = mapping_of(file)
        if document is None:
            return False
        method, parameters = document.root.get("method"), document.root.get("parameters")
        named = method is not None and method.scalar in _METHODS
        return named and parameters is not None and bool(parameters.mapping)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return what all runs share, and their number where the file settles it.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        settings = Settings(file, document)
        fixed, lists, open_ended = _parameters(document.root.mapping["parameters"])
        n_runs = settings.whole("run_cap")
        if n_runs is None and settings.text("method") == "grid" and not open_ended:
            n_runs = min(prod(len(node.items) for node in lists.values()), MOST_RUNS)
        shared = Document(Node(fixed, 1), document.problems)
        varied = [*lists, *open_ended]
        spelling = Spelling(
            self.format,
            problems=[*_asked(settings, n_runs), *differing(settings, "parameters", varied)],
            dropped=frozenset(f for k in varied if (f := fact_of_key(option_key(k), ""))),
            references=_program(settings),
            n_runs=n_runs or 1,
        )
        return config_reading(file, shared, reference, spelling)


def _parameters(parameters: Node) -> tuple[dict[str, Node], dict[str, Node], list[str]]:
    """Return parameters of one value, those of a list, and the names of all others."""
    fixed: dict[str, Node] = {}
    lists: dict[str, Node] = {}
    open_ended: list[str] = []
    for key, node in parameters.mapping.items():
        value, values = node.get("value"), node.get("values")
        if value is not None:
            fixed[key] = value
        elif values is not None and len(values.items) == 1:
            fixed[key] = values.items[0]
        elif values is not None and values.items:
            lists[key] = values
        else:
            open_ended.append(key)
    return fixed, lists, open_ended


def _asked(settings: Settings, n_runs: int | None) -> Iterator[Problem]:
    method = settings.text("method")
    if n_runs is None:
        yield settings.ask(
            f"a `{method}` sweep has no number of runs of its own: how many does `wandb agent"
            " --count` start, times the agents? Give `tuning_trials`, or `run_cap` in the file.",
            "method",
        )
    if settings.node("early_terminate") is not None:
        yield settings.ask(
            "`early_terminate` ends weak runs early: the number of runs times a whole run is an"
            " upper bound.",
            "early_terminate",
        )


def _program(settings: Settings) -> list[FileReference]:
    program = settings.text("program")
    if not program or "$" in program:
        return []
    return [FileReference(program[:400], "script", settings.place("program"))]


READER = WandbSweepReader()
