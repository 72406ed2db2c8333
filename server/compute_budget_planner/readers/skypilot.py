"""SkyPilot task files (format `skypilot`).

`accelerators: A100:8` is per node, no `:N` means one; `A100` is the 40 GB card, `A100-80GB` a
name of its own. Source: SkyPilot's YAML reference.
"""

import re

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.container_script import script_of, text_of, variables_of
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.job_reading import Granted, job_reading, whole_number
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.structured import load_mapping, mapping_of

_RESOURCES = {"accelerators", "cloud", "infra", "any_of", "ordered", "use_spot", "instance_type"}
_ASKED = re.compile(r"(?P<name>[A-Za-z][\w.-]*)(?::(?P<count>\d{1,4}))?")


class SkypilotReader:
    """Reader of SkyPilot tasks."""

    format = "skypilot"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a mapping asks for SkyPilot's resources and has a script to run."""
        document = mapping_of(file) if file.name.endswith((".yaml", ".yml")) else None
        if document is None or document.root.get("run") is None:
            return False
        resources = document.root.get("resources")
        return resources is not None and bool(_RESOURCES & resources.mapping.keys())

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return accelerators, nodes and the commands of `run`; `setup` is passed over.

        Raises:
            FormatError: the YAML is broken.
        """
        document = load_mapping(file)
        root = document.root
        granted = Granted(problems=list(document.problems), job_name=text_of(root.get("name")))
        nodes = root.get("num_nodes")
        granted.n_nodes = whole_number(text_of(nodes)) if nodes is not None else 1
        granted.nodes_at = file.at(root.line_of("num_nodes"))
        if granted.n_nodes is None:
            granted.ask(granted.nodes_at, "`num_nodes` is no count. Give `n_nodes`.")
        _accelerators(file, granted, root.get("resources") or root)
        known = variables_of(root.get("envs"))
        known |= {"SKYPILOT_NUM_NODES": str(granted.n_nodes or "")}
        known |= {"SKYPILOT_NUM_GPUS_PER_NODE": str(granted.gpus_per_node or "")}
        script = script_of(file, root.get("run"), {k: v for k, v in known.items() if v})
        return job_reading(file, self.format, granted, script, reference)


def _accelerators(file: SourceFile, granted: Granted, resources: Node) -> None:
    """Read the one choice there is; of several none is taken."""
    nodes = [resources.get("accelerators")]
    for key in ("any_of", "ordered"):
        choices = resources.get(key)
        nodes += [item.get("accelerators") for item in (choices.items if choices else ())]
    named = [(node, text) for node in nodes if node is not None for text in _texts(node)]
    place = file.at(named[0][0].line if named else resources.line)
    wanted = {text for _, text in named}
    if len(wanted) > 1:
        listed = " or ".join(f"`{text[:40]}`" for text in sorted(wanted)[:8])
        granted.ask(place, f"SkyPilot may take {listed}. Give `gpu` and `n_gpus`.")
    matches = [_ASKED.fullmatch(text.strip()) for text in wanted]
    counts = {int(match["count"] or 1) for match in matches if match}
    names = {match["name"] for match in matches if match}
    granted.gpus_at = granted.gpu_at = place
    if not wanted:
        granted.ask(place, "no `accelerators` are asked for. Give `gpu` and `n_gpus`.")
    elif not all(matches) or 0 in counts:
        granted.ask(place, "`accelerators` is no `NAME:COUNT`. Give `gpu` and `n_gpus`.")
    else:
        granted.gpus_per_node = counts.pop() if len(counts) == 1 else None
        granted.gpu = names.pop() if len(names) == 1 else ""


def _texts(node: Node) -> list[str]:
    if node.mapping:
        return [f"{name}:{text_of(count)}" for name, count in node.mapping.items()]
    return [text_of(item) for item in node.items] or [text_of(node)]


READER = SkypilotReader()
