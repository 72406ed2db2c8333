"""How many runs the sweeper block of a Hydra configuration stands for.

`a,b,c` of the basic sweeper is a grid; Optuna's `n_trials` is the number of trials whatever
`n_jobs` is. `interval(...)` and `choice(...)` have no count of their own. A trial's cost depends
on the values tried, so these are left open.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from compute_budget_planner.readers.contract import Problem, SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.nodes import Document, Node
from compute_budget_planner.readers.option_values import fact_of_key, option_key

_MOST_RUNS = 10**6


@dataclass(frozen=True)
class Sweep:
    """Runs of a grid, facts that differ between runs, and what to ask."""

    n_runs: int = 1
    facts: frozenset[str] = frozenset()
    values: tuple[DirectValue, ...] = ()
    problems: tuple[Problem, ...] = ()


def sweep_of(file: SourceFile, document: Document) -> Sweep:
    """Return the sweep a composed configuration runs; one run where its mode is no MULTIRUN."""
    sweeper = document.root.get("hydra", "sweeper")
    mode = document.root.get("hydra", "mode")
    if sweeper is None or mode is None or str(mode.scalar).upper() != "MULTIRUN":
        return Sweep()
    params = sweeper.get("params")
    lists = dict(_lists(params)) if params is not None else {}
    trials = sweeper.get("n_trials")
    values = [("tuning_trials", trials.scalar, trials.place(file))] if trials is not None else []
    searched = params.mapping if params is not None and trials is not None else lists
    named = {key: fact for key in searched if (fact := fact_of_key(option_key(key), ""))}
    return Sweep(
        n_runs=1 if trials is not None else min(prod(len(v) for v in lists.values()), _MOST_RUNS),
        facts=frozenset(named.values()),
        values=tuple(values),
        problems=tuple(_asked(file, params, trials)),
    )


def _lists(params: Node) -> Iterator[tuple[str, list[str]]]:
    """Yield the parameters that list their values: `1,2,3`, `choice(1, 2)`, `range(0, 4)`."""
    for key, node in params.mapping.items():
        text = str(node.scalar) if node.scalar is not None else ""
        inner = text.partition("(")[2].rstrip(") ")
        if text.startswith("choice("):
            yield key, inner.split(",")
        elif text.startswith("range("):
            bounds = inner.split(",")
            if all(b.strip().lstrip("-").isdigit() and len(b) < 10 for b in bounds):
                first, last = (0, int(bounds[0])) if len(bounds) == 1 else map(int, bounds[:2])
                step = max(int(bounds[2]), 1) if len(bounds) > 2 else 1
                yield key, [""] * min(len(range(first, last, step)), _MOST_RUNS)
        elif "," in text and "(" not in text and not text.startswith(("[", "{")):
            yield key, text.split(",")
        elif node.items:
            yield key, [str(item.scalar) for item in node.items]


def _asked(file: SourceFile, params: Node | None, trials: Node | None) -> Iterator[Problem]:
    if params is None or not params.mapping:
        return
    names = ", ".join(f"`{key[:60]}`" for key in list(params.mapping)[:8])
    how = f"{trials.scalar} trials search" if trials is not None else "the sweep goes over"
    yield Problem(
        params.place(file),
        f"{how} {names}: runs of different values cost differently. State the values of the run"
        " to be estimated, or cost the runs as variants.",
    )
