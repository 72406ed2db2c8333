"""The `environments.yaml` of the companion skill `run-experiment` (format `environments`)."""

from collections.abc import Iterable

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Environment, Problem, Reading, SourceFile
from compute_budget_planner.readers.durations import SLURM_FORMS, slurm_hours
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.structured import load_mapping, mapping_of

_SCHEDULERS = ("slurm", "runai", "local")
_OWN_KEYS = {"display_name", "partitions", "defaults", "login_node", "default_image", "scheduler"}
_UNFILLED = "FILL_IN"


class EnvironmentsReader:
    """Reader of the compute environments a lab has written down."""

    format = "environments"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping describes environments: a known `type` and keys of theirs."""
        document = mapping_of(file)
        return document is not None and any(_is_environment(n) for _, n in _entries(document.root))

    def read(self, file: SourceFile, reference: Reference) -> Reading:  # noqa: ARG002  every reader takes it
        """Return every environment with its limits and GPU types."""
        document = load_mapping(file)
        problems = list(document.problems)
        found = [
            _environment(file, key, node, problems)
            for key, node in _entries(document.root)
            if _is_environment(node)
        ]
        return Reading(
            path=file.path,
            format=self.format,
            kind="environments",
            problems=tuple(problems),
            environments=tuple(found),
        )


def _entries(root: Node) -> Iterable[tuple[str, Node]]:
    inner = root.get("environments")
    return (inner if inner is not None and inner.mapping else root).mapping.items()


def _is_environment(node: Node) -> bool:
    return _text(node.get("type")) in _SCHEDULERS and bool(_OWN_KEYS & node.mapping.keys())


def _text(node: Node | None) -> str:
    """Return a scalar as text; nothing for one that is empty or was never filled in."""
    value = node.scalar if node is not None else None
    if value is None or isinstance(value, bool) or _UNFILLED in str(value):
        return ""
    return str(value).strip()


def _environment(file: SourceFile, key: str, node: Node, problems: list[Problem]) -> Environment:
    gpu_types: dict[str, None] = {}
    counts = []
    partitions = node.get("partitions")
    for partition in partitions.mapping.values() if partitions is not None else ():
        types = partition.get("gpu_types")
        gpu_types |= dict.fromkeys(t for n in (types.items if types else ()) if (t := _text(n)))
        most = _text(partition.get("max_gpus_per_job"))
        if most.isdecimal() and 0 < len(most) < 7 and int(most) > 0:
            counts.append(int(most))
        elif most:
            place = file.at(_line(partition, "max_gpus_per_job"))
            text = f"`max_gpus_per_job` is `{most[:40]}`. It takes a whole number of at least 1."
            problems.append(Problem(place, text))
    return Environment(
        key=key,
        scheduler=_text(node.get("type")),
        time_limit_hours=_hours(file, node, "walltime", problems),
        max_time_limit_hours=_hours(file, node, "max_walltime", problems),
        max_gpus=max(counts, default=None),
        gpu_types=tuple(gpu_types),
        source=file.at(_line(node, "type")),
    )


def _line(node: Node, key: str) -> int | None:
    member = node.get(key)
    return member.line if member is not None else node.line


def _hours(file: SourceFile, node: Node, key: str, problems: list[Problem]) -> float | None:
    member = node.get("defaults", key)
    text = _text(member)
    if not text or member is None:
        return None
    try:
        return slurm_hours(text)
    except ValueError as error:
        problems.append(Problem(file.at(member.line), f"`{key}`: {error}. {SLURM_FORMS}"))
        return None


READER = EnvironmentsReader()
