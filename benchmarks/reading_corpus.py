"""A folder of files, what should be read from them, and what the product reads.

The expected file has one line a unit: a file or a small set of files with its `facts`, those of
them that a reader need not give (`not_literal`), and what must be left open (`unresolved`). The
files of a unit lie in the corpus folder of its name, at their paths in the project they are from.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from compute_budget_planner.errors import PlannerError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.planner.sources.gather import gather, loose_facts, run_facts
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.project import Project
from compute_budget_planner.readers.contract import Reading
from compute_budget_planner.workload.facts import Fact, Layer
from compute_budget_planner.workload.merge import merge, same
from compute_budget_planner.workload.vocabulary import VOCABULARY

INDEX = "INDEX.json"
"""Beside the units: for a unit of many files those to name (`read`); the rest may be followed."""

_OPEN_PHRASES = {
    r"data ?set size": ("dataset_examples", "dataset_tokens"),
    r"data ?set tokens": ("dataset_tokens",),
    r"train manifest": ("dataset",),
    r"batch[_ ]sizes?|all sizes|batch(?=/steps)": ("micro_batch_size", "global_batch_size"),
    r"max_iters|steps": ("max_steps",),
    r"max_epochs": ("epochs",),
    r"grad_accum|gradient_accumulation_steps": ("grad_accum_steps",),
    r"per gpu|per epoch": (),
    r"devices?|gpus": ("n_gpus",),
    r"lora rank": ("lora_rank",),
    r"wall time": ("wall_clock_hours",),
    r"^time$": ("time_limit_hours",),
}
"""How a line says in other words which facts it leaves open; the longer phrases stand first."""

_EVERYTHING = re.compile(r"everything|all values")
_OF_THE_TRAINING = {"model", "model detail", "data", "schedule", "batch", "numerics", "parallelism"}
_SAY_WHAT_IT_IS = {"framework", "framework_drop_last", "method", "objective", "model"}
"""Facts a file gives by calling a program; "everything else is open" is not about them."""


@dataclass(frozen=True)
class Line:
    """What should be read from a unit: `required` facts, `weaker` ones, names left `open`."""

    unit: str
    format: str
    required: Mapping[str, object]
    weaker: Mapping[str, object]
    open: frozenset[str]


@dataclass(frozen=True)
class UnitReading:
    """What the product reads: for each fact its different values over the runs of the unit.

    `formats` gives for each file read the reader that took it, `unfollowed` the paths that files
    name and that are not at hand, `refused` the error where the product read nothing.
    """

    facts: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    problems: Sequence[str] = ()
    unfollowed: Sequence[str] = ()
    refused: str = ""


def expected_lines(path: Path) -> list[Line]:
    """Return the lines of an expected file, in its order."""
    rows = [json.loads(row) for row in path.read_text(encoding="utf-8").splitlines() if row]
    return [_line(row) for row in rows]


def _line(row: Mapping[str, object]) -> Line:
    facts: Mapping[str, object] = row["facts"]  # type: ignore[assignment]
    loose = set(row["not_literal"])  # type: ignore[call-overload]
    opened = {name for text in row["unresolved"] for name in open_facts(text)}  # type: ignore[attr-defined]
    return Line(
        unit=str(row["unit"]).strip("/"),
        format=str(row["format"]),
        required={name: value for name, value in facts.items() if name not in loose},
        weaker={name: value for name, value in facts.items() if name in loose},
        open=frozenset(opened - set(facts)),
    )


def open_facts(text: str) -> set[str]:
    """Return the facts a sentence such as `n_gpus (in its sbatch)` leaves open."""
    named = re.split(r" \(|: | = ", text, maxsplit=1)[0].lower()
    if _EVERYTHING.match(named):
        training = {name for name, spec in VOCABULARY.items() if spec.group in _OF_THE_TRAINING}
        return training - _SAY_WHAT_IT_IS
    found: set[str] = set()
    for phrase, facts in _OPEN_PHRASES.items():
        named, times = re.subn(rf"(?<!\w)(?:{phrase})(?!\w)", " ", named)
        if times:
            found.update(facts)
    found.update(word for word in re.findall(r"\w+", named) if word in VOCABULARY)
    return found


def files_of(corpus: Path, unit: str) -> list[str]:
    """Return the files of a unit to name; none when the corpus lacks it."""
    index = corpus / INDEX
    listed = json.loads(index.read_text(encoding="utf-8")) if index.is_file() else {}
    entry = listed.get(unit) or listed.get(f"{unit}/") or {}
    folder = corpus / unit
    found = sorted(f.relative_to(folder).as_posix() for f in folder.rglob("*") if f.is_file())
    return list(entry.get("read", found))


def read_unit(folder: Path, files: Sequence[str], reference: Reference) -> UnitReading:
    """Read files as the tools do, in a project that holds nothing but the unit's folder.

    The facts are those of the run the files form, with what a log says of the run it is from and
    the devices in all where nodes and devices of each are read; nothing of the guide and nothing
    assumed is among them.
    """
    workspace = Workspace(Project(folder), reference, datetime.now(tz=UTC).date())
    try:
        gathered = gather(workspace, files)
    except PlannerError as error:
        return UnitReading(refused=str(error))
    readings = list(gathered.readings.values())
    measured = [fact for reading in readings for fact in reading.measured]
    runs = [run_facts(gathered, run) for run in gathered.runs] or [loose_facts(gathered)]
    return UnitReading(
        facts=_by_name([_merged([*facts, *measured]) for facts in runs]),
        formats={reading.path: reading.format for reading in readings},
        problems=[f"{p.source}: {p.text}" for reading in readings for p in reading.problems],
        unfollowed=_unfollowed(readings),
    )


def _merged(facts: Sequence[Fact]) -> dict[str, Fact]:
    read = merge(fact for fact in facts if fact.layer < Layer.REFERENCE)[0]
    nodes, per_node = read.get("n_nodes"), read.get("gpus_per_node")
    if "n_gpus" not in read and nodes is not None and per_node is not None:
        devices = int(nodes.value) * int(per_node.value)
        read["n_gpus"] = replace(
            per_node, name="n_gpus", value=devices, layer=max(nodes.layer, per_node.layer)
        )
    return read


def _by_name(runs: Sequence[Mapping[str, Fact]]) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = {}
    for facts in runs:
        for name, fact in facts.items():
            known = found.setdefault(name, [])
            if not any(same(fact.value, other.value) for other in known):
                known.append(fact)
    return found


def _unfollowed(readings: Sequence[Reading]) -> list[str]:
    at_hand = [reading.path for reading in readings]
    named = {reference.path for reading in readings for reference in reading.references}
    return sorted(
        path
        for path in named
        if not any(f"/{p}".endswith("/" + path.lstrip("./")) for p in at_hand)
    )
