"""Run:AI workloads as YAML, each field wrapped in `value` (format `runai_workload`).

Kinds and fields: the Run:AI custom resource reference. `gpu` may be a fraction; a
DistributedWorkload of N workers has a master with GPUs of its own.
"""

import re

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.container_script import (
    container_script,
    text_of,
    without_secrets,
)
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.job_reading import Granted, job_reading, whole_number
from compute_budget_planner.readers.kubernetes_pods import containers, devices
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.structured import load_mapping
from compute_budget_planner.readers.yaml_documents import document_with

_KINDS = re.compile(
    r"^kind:\s*[\"']?(?:TrainingWorkload|InteractiveWorkload|InferenceWorkload"
    r"|DistributedWorkload|RunaiJob)[\"']?\s*(?:#.*)?$",
    re.MULTILINE,
)
_GPUS = ("gpu", "gpuDevicesRequest", "gpuDevices")
_PORTIONS = ("gpuPortionRequest", "gpuMemoryRequest", "gpuMemory", "gpuFraction")
_TYPES = ("nodePools", "nodePool", "nodeType", "gpuType")


class RunaiWorkloadReader:
    """Reader of Run:AI's own kinds of workloads."""

    format = "runai_workload"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a YAML file holds such a workload."""
        named = file.name.lower().endswith((".yaml", ".yml"))
        return named and _KINDS.search(file.text) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return GPUs, pods and the command.

        Raises:
            FormatError: the YAML is broken.
        """
        document = load_mapping(document_with(file, _KINDS))
        root = document.root
        spec = root.get("spec") or Node({}, None)
        granted = Granted(problems=list(document.problems), starts_ranks=True)
        granted.job_name = text_of(root.get("metadata", "name"))
        distributed = text_of(root.get("kind")) == "DistributedWorkload"
        _pods(file, granted, spec, distributed=distributed)
        _gpus(file, granted, spec)
        for key in _TYPES:
            node = _value(spec, key)
            if node is not None:
                names = "|".join(text_of(item) for item in (node.items or (node,)))
                granted.name_device(names, file.at(node.line), reference)
        command, arguments = _value(spec, "command"), _value(spec, "arguments")
        inner = spec.get("template", "spec")
        for container in containers(inner) if inner is not None else ():
            command, arguments = container.get("command"), container.get("args")
        if command is not None and text_of(command) and text_of(arguments):
            # Both are texts of one command line.
            whole = f"{text_of(command)} {text_of(arguments)}"
            command, arguments = Node(whole, command.line), None
        script = container_script(file, command, arguments, _environment(spec))
        return job_reading(file, self.format, granted, script, reference)


def _value(spec: Node, key: str) -> Node | None:
    """Return a field, unwrapped where it stands as `{value: ...}`."""
    node = spec.get(key)
    wrapped = node.get("value") if node is not None else None
    return node if wrapped is None else wrapped


def _pods(file: SourceFile, granted: Granted, spec: Node, *, distributed: bool) -> None:
    workers = _value(spec, "workers") or _value(spec, "numWorkers")
    granted.n_nodes = 1
    if workers is None:
        return
    granted.nodes_at = file.at(workers.line)
    count = whole_number(text_of(workers))
    granted.n_nodes = None if count is None else count + int(distributed)
    if count is None:
        granted.ask(granted.nodes_at, "`workers` is no count. Give `n_nodes`.")


def _gpus(file: SourceFile, granted: Granted, spec: Node) -> None:
    node = next((found for key in _GPUS if (found := _value(spec, key)) is not None), None)
    inner = spec.get("template", "spec")
    for container in containers(inner) if inner is not None and node is None else ():
        node = next((count for _, count in devices(container.get("resources"))), None)
    share = next((found for key in _PORTIONS if (found := _value(spec, key)) is not None), None)
    text = text_of(node)
    place = granted.gpus_at = file.at((node or share or spec).line)
    fraction = re.fullmatch(r"0?\.\d{1,6}", text)
    if re.fullmatch(r"[1-9]\d{0,4}(\.0+)?", text) and share is None:
        granted.gpus_per_node = int(float(text))
    elif fraction or share is not None:
        said = text if fraction else text_of(share)
        problem = (
            f"the job shares a GPU (`{said[:40]}`): it is counted as one whole GPU; its GPU-hours "
            "are that fraction."
        )
        granted.ask(place, problem)
        granted.gpus_per_node = 1
    else:
        granted.ask(place, "the number of GPUs is open. Give `n_gpus`.")


def _environment(spec: Node) -> dict[str, str]:
    items = spec.get("environment", "items")
    found = {}
    for name, node in (items.mapping if items is not None else {}).items():
        found[name] = text_of(node.get("value"))
    return without_secrets(found)


READER = RunaiWorkloadReader()
