"""Ray Tune searches in a Python script: trials, devices of each, and what ends them early.

Read as text with `ast`. Source: Ray's documentation of `tune.run`, `TuneConfig`, `with_resources`
and `ASHAScheduler`.
"""

import ast
from collections.abc import Iterator

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Basis, Layer, Problem, Reading, SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.python_values import module_of

_SEARCHES = {"run", "Tuner", "TuneConfig", "with_resources"}
_STOPPERS = {"ASHAScheduler", "AsyncHyperBandScheduler", "HyperBandScheduler"}


class RayTuneReader:
    """A script that starts a search with Ray Tune."""

    format = "ray_tune"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a Python file imports Ray Tune and starts a search."""
        text = file.text
        if "tune" not in text or "ray" not in text or not file.name.endswith(".py"):
            return False
        starts = "tune.run(" in text or "Tuner(" in text
        return starts and module_of(file) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the trials and the devices of each; how long they run stays open."""
        module = module_of(file)
        calls = [n for n in ast.walk(module) if isinstance(n, ast.Call)] if module else []
        values: list[DirectValue] = []
        problems: list[Problem] = []
        for call in calls:
            name = _called(call)
            if name in _SEARCHES:
                values += _search(file, call)
            elif name in _STOPPERS:
                problems.append(_bounds(file, call))
        facts, faults = direct_facts(values, Basis.CONFIGURED, Layer.CONFIG, reference)
        if not any(fact.name == "tuning_trials" for fact in facts):
            text = "how many trials does the search start (`num_samples`)? Give `tuning_trials`."
            problems.append(Problem(file.path, text))
        return Reading(file.path, self.format, "config", facts, problems=(*faults, *problems))


def _called(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _search(file: SourceFile, call: ast.Call) -> Iterator[DirectValue]:
    for keyword in call.keywords:
        value = keyword.value
        if keyword.arg == "num_samples" and isinstance(value, ast.Constant):
            is_count = isinstance(value.value, int) and value.value > 0
            yield "tuning_trials", value.value if is_count else None, file.at(value.lineno)
        if keyword.arg in ("resources_per_trial", "resources") and isinstance(value, ast.Dict):
            yield from _devices(file, value)


def _devices(file: SourceFile, resources: ast.Dict) -> Iterator[DirectValue]:
    for key, value in zip(resources.keys, resources.values, strict=True):
        named = isinstance(key, ast.Constant) and str(key.value).lower() == "gpu"
        if named and isinstance(value, ast.Constant) and isinstance(value.value, int):
            yield "n_gpus", value.value if value.value > 0 else None, file.at(value.lineno)


def _bounds(file: SourceFile, call: ast.Call) -> Problem:
    given = {
        word.arg: word.value.value
        for word in call.keywords
        if isinstance(word.value, ast.Constant) and isinstance(word.value.value, int)
    }
    most, least = given.get("max_t"), given.get("grace_period", 1)
    span = f": between {least} and {most} rounds a trial" if most else ""
    return Problem(
        file.at(call.lineno),
        f"the scheduler ends weak trials early{span}; trials times the longest is an upper bound.",
    )


READER = RayTuneReader()
