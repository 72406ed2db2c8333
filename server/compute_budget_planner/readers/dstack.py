"""dstack run configurations of type `task` (format `dstack`).

`gpu` is a name, a memory, a count, or these joined by `:`; `24GB..` is a range of memory, `1..8`
one of counts. Source: dstack's reference of `.dstack.yml`.
"""

import re

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.container_script import script_of_lines, text_of, variables_of
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.job_reading import Granted, job_reading, whole_number
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.structured import load_mapping, mapping_of

_TYPES = ("task", "dev-environment")
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(s|m|h|d|w)?", re.IGNORECASE)
_HOURS = {"s": 1 / 3600, "m": 1 / 60, "h": 1.0, "d": 24.0, "w": 168.0}
_MEMORY = re.compile(r"(?:\d+(?:\.\d+)?\s*[GMT]i?B)?(?:\.\.)?(?:\d+(?:\.\d+)?\s*[GMT]i?B)?", re.I)


class DstackReader:
    """Reader of dstack tasks."""

    format = "dstack"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a mapping is a task with resources, nodes or commands."""
        document = mapping_of(file) if file.name.endswith((".yaml", ".yml")) else None
        if document is None or text_of(document.root.get("type")) not in _TYPES:
            return False
        root = document.root
        asks = root.get("resources", "gpu") or root.get("nodes")
        return asks is not None or (root.get("commands") is not None and "dstack" in file.path)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return GPUs, nodes, longest duration and commands.

        Raises:
            FormatError: the YAML is broken.
        """
        document = load_mapping(file)
        root = document.root
        granted = Granted(problems=list(document.problems), job_name=text_of(root.get("name")))
        nodes = root.get("nodes")
        granted.n_nodes = 1 if nodes is None else whole_number(text_of(nodes))
        granted.nodes_at = file.at(root.line_of("nodes"))
        if granted.n_nodes is None:
            granted.ask(granted.nodes_at, "`nodes` is no count. Give `n_nodes`.")
        _gpu(file, granted, root.get("resources", "gpu"), reference)
        _limit(file, granted, root.get("max_duration"))
        counts = {
            "DSTACK_NODES_NUM": granted.n_nodes,
            "DSTACK_GPUS_PER_NODE": granted.gpus_per_node,
            "DSTACK_GPUS_NUM": granted.whole,
        }
        known = variables_of(root.get("env"))
        known |= {name: str(count) for name, count in counts.items() if count}
        commands = root.get("commands")
        script = script_of_lines(file, commands.items if commands is not None else (), known)
        return job_reading(file, self.format, granted, script, reference)


def _gpu(file: SourceFile, granted: Granted, node: Node | None, reference: Reference) -> None:
    if node is None:
        granted.ask(file.path, "no `resources.gpu`. Give `gpu` and `n_gpus`.")
        return
    place = granted.gpus_at = file.at(node.line)
    names: list[str] = []
    count = "1"
    if node.mapping:
        name = node.get("name")
        names = [text_of(item) for item in (name.items if name and name.items else ())]
        names = names or [text_of(name)]
        count = text_of(node.get("count")) or "1"
    else:
        for part in text_of(node).split(":"):
            if re.fullmatch(r"\d{1,4}(\.\.(\d{1,4})?)?|\.\.\d{1,4}", part.strip()):
                count = part.strip()
            elif not _MEMORY.fullmatch(part.strip()):
                names += part.split(",")
    granted.gpus_per_node = whole_number(count)
    if granted.gpus_per_node is None:
        text = f"the number of GPUs is `{count[:40]}`, a range. Give `n_gpus`."
        granted.ask(place, text)
    granted.name_device("|".join(filter(None, names)), place, reference)
    if not granted.gpu:
        granted.ask(place, "no single GPU type is named. Give `gpu`.")


def _limit(file: SourceFile, granted: Granted, node: Node | None) -> None:
    text = text_of(node)
    if node is None or text in ("off", "false", "-1"):
        return
    place = granted.time_at = file.at(node.line)
    match = _DURATION.fullmatch(text.strip())
    if match and float(match[1]) > 0:
        granted.time_limit_hours = float(match[1]) * _HOURS[(match[2] or "s").lower()]
    else:
        granted.ask(place, f"`max_duration` is `{text[:40]}`. It takes `2h`, `1d` or seconds.")


READER = DstackReader()
