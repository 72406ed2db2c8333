"""What a job's Slurm options allocate: nodes, accelerators, their type; contradictions are told."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.batch_directives import Directive
from compute_budget_planner.readers.contract import Problem, SourceFile
from compute_budget_planner.readers.device_words import accelerator_words
from compute_budget_planner.readers.slurm_directives import gres_count, typed_count


@dataclass
class Allocation:
    """Counts with the line they come from (None: default or not given).

    `contradiction` is true when two options ask for different numbers of GPUs.
    """

    n_nodes: int = 1
    nodes_line: int | None = None
    n_gpus: int | None = None
    gpus_line: int | None = None
    gpus_per_node: int | None = None
    ntasks: int | None = None
    gpu: str = ""
    gpu_line: int | None = None
    contradiction: bool = False
    problems: list[Problem] = field(default_factory=list)


def read_allocation(
    file: SourceFile, directives: Iterable[Directive], reference: Reference
) -> Allocation:
    """Return what the options allocate; the last of an option given twice counts."""
    last = {directive.name: directive for directive in directives}
    found = Allocation()
    _nodes(file, last, found)
    per_node, total = _gpu_options(file, last, found)
    totals = {d: count * found.n_nodes for d, count in per_node.items()} | total
    if totals:
        directive = next(iter(totals))
        found.n_gpus, found.gpus_line = totals[directive], directive.line
        if found.n_gpus % found.n_nodes == 0:
            found.gpus_per_node = found.n_gpus // found.n_nodes
    if len(set(totals.values())) > 1:
        found.contradiction = True
        asked = ", ".join(f"`--{d.name}={d.value}` (line {d.line})" for d in totals)
        text = f"these options contradict each other: {asked}. Give `n_gpus`."
        found.problems.append(Problem(file.at(found.gpus_line), text))
    if not found.gpu:
        _named_type(file, last, found, reference)
    return found


def _whole(file: SourceFile, directive: Directive | None, found: Allocation) -> int | None:
    if directive is None:
        return None
    if re.fullmatch(r"\d{1,6}", directive.value) and int(directive.value) > 0:
        return int(directive.value)
    _refuse(file, directive, found, "a whole number")
    return None


def _refuse(file: SourceFile, directive: Directive, found: Allocation, accepted: str) -> None:
    text = f"`--{directive.name}` is `{directive.value[:60]}`. It takes {accepted}."
    found.problems.append(Problem(file.at(directive.line), text))


def _nodes(file: SourceFile, last: dict[str, Directive], found: Allocation) -> None:
    nodes = last.get("nodes")
    if nodes is not None and (match := re.fullmatch(r"(\d{1,6})-(\d{1,6})", nodes.value)):
        text = f"`--nodes={nodes.value}` is a range; {match[1]} is used. Give `n_nodes`."
        found.problems.append(Problem(file.at(nodes.line), text))
        nodes = Directive(nodes.name, match[1], nodes.line)
    count = _whole(file, nodes, found)
    if nodes is not None and count is not None:
        found.n_nodes, found.nodes_line = count, nodes.line
    per_node = _whole(file, last.get("ntasks-per-node"), found)
    ntasks = _whole(file, last.get("ntasks"), found)
    found.ntasks = ntasks or (per_node * found.n_nodes if per_node else None)


def _gpu_options(
    file: SourceFile, last: dict[str, Directive], found: Allocation
) -> tuple[dict[Directive, int], dict[Directive, int]]:
    """Return what each option asks for: per node, and in all."""
    per_node: dict[Directive, int] = {}
    total: dict[Directive, int] = {}
    for name in ("gres", "gpus-per-node", "gpus", "gpus-per-task"):
        directive = last.get(name)
        if directive is None:
            continue
        try:
            parsed = (gres_count if name == "gres" else typed_count)(directive.value)
        except ValueError:
            accepted = "`gpu[:type][:count]`" if name == "gres" else "`[type:]count`"
            _refuse(file, directive, found, accepted)
            continue
        if parsed is None or parsed[1] == 0:
            continue
        kind, count = parsed
        if name == "gpus":
            total[directive] = count
        elif name == "gpus-per-task":
            total[directive] = count * (found.ntasks or found.n_nodes)
        else:
            per_node[directive] = count
        if kind and not found.gpu:
            found.gpu, found.gpu_line = kind, directive.line
    return per_node, total


def _named_type(
    file: SourceFile, last: dict[str, Directive], found: Allocation, reference: Reference
) -> None:
    """Take the type from the names of constraint, partition or quality of service."""
    for name in ("constraint", "partition", "qos"):
        directive = last.get(name)
        if directive is None:
            continue
        kinds = accelerator_words(directive.value, reference)
        if len(kinds) == 1:
            found.gpu, found.gpu_line = kinds[0], directive.line
            return
        if kinds:
            text = f"`--{name}` allows {' or '.join(kinds)}. Give `gpu`."
            found.problems.append(Problem(file.at(directive.line), text))
            return
