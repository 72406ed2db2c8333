"""Kubernetes jobs: Job, Pod, Kubeflow's PyTorchJob, MPIJob and TrainJob, JobSet, RayJob, Volcano.

The devices of a job are the limits of its pods times their number; a launcher without a device
is no node. Fields: the API references of Kubernetes, Kubeflow Trainer, JobSet and KubeRay.
"""

import re
from collections.abc import Iterable

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.container_script import (
    NO_COMMANDS,
    container_script,
    script_of,
    text_of,
    variables_of,
)
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.job_reading import Granted, job_reading, whole_number
from compute_budget_planner.readers.kubernetes_pods import (
    PodGroup,
    containers,
    device_model,
    devices,
    pod_groups,
    type_labels,
)
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.shell_script import ShellScript
from compute_budget_planner.readers.structured import load_mapping
from compute_budget_planner.readers.yaml_documents import document_with

_KINDS = re.compile(
    r"^kind:\s*[\"']?(?:Job|Pod|CronJob|PyTorchJob|MPIJob|TFJob|JAXJob|PaddleJob|XGBoostJob|TrainJob"
    r"|JobSet|RayJob|RayCluster)[\"']?\s*(?:#.*)?$",
    re.MULTILINE,
)
_API = re.compile(r"^apiVersion:", re.MULTILINE)
_DEADLINES = (
    ("activeDeadlineSeconds",),
    ("runPolicy", "activeDeadlineSeconds"),
    ("template", "spec", "activeDeadlineSeconds"),
)


class KubernetesReader:
    """Reader of manifests of the kinds that run to an end."""

    format = "kubernetes"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a YAML file holds such a manifest."""
        named = file.name.lower().endswith((".yaml", ".yml"))
        return named and bool(_API.search(file.text) and _KINDS.search(file.text))

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return devices, time limit and command of the first such manifest.

        Raises:
            FormatError: the YAML is broken, as a template that is not yet filled in is.
        """
        document = load_mapping(document_with(file, _KINDS))
        root = document.root
        spec = root.get("spec") or Node({}, None)
        if text_of(root.get("kind")) == "CronJob":
            spec = spec.get("jobTemplate", "spec") or spec
        granted = Granted(problems=list(document.problems), starts_ranks=True)
        granted.job_name = text_of(root.get("metadata", "name"))
        groups = list(pod_groups(spec))
        if (trainer := spec.get("trainer")) is not None:
            _trainer(file, granted, trainer)
        else:
            _pods(file, granted, groups, reference)
            _tasks(file, granted, spec)
        _deadline(file, granted, spec)
        script = _script(file, spec, groups, granted)
        return job_reading(file, self.format, granted, script, reference)


def _pods(
    file: SourceFile, granted: Granted, groups: Iterable[PodGroup], reference: Reference
) -> None:
    nodes, total, sizes, known = 0, 0, set(), True
    for group in groups:
        found = [
            (what, count)
            for container in containers(group.spec)
            for what, count in devices(container.get("resources"))
        ]
        if not found:
            continue
        each = _count(file, granted, found)
        pods = whole_number(group.replicas)
        granted.gpus_at = granted.gpus_at or file.at(found[0][1].line)
        granted.nodes_at = granted.nodes_at or file.at(group.line)
        if pods is None and group.replicas != "0":
            text = f"`replicas` is `{group.replicas[:40]}`: no count of pods. Give `n_nodes`."
            granted.ask(file.at(group.line), text)
        known = known and each is not None and (pods is not None or group.replicas == "0")
        nodes, total = nodes + (pods or 0), total + (pods or 0) * (each or 0)
        sizes.add(each)
        for text, line in type_labels(group.spec):
            granted.name_device(text, file.at(line), reference)
        for what, count in found:
            granted.name_device(device_model(what), file.at(count.line), reference)
    if not sizes:
        granted.ask(file.path, "no pod of this job asks for GPUs. Give `n_gpus`.")
    if len(sizes) == 1:
        granted.gpus_per_node = sizes.pop()
    if known and nodes:
        granted.n_nodes, granted.n_gpus = nodes, total


def _count(file: SourceFile, granted: Granted, found: Iterable[tuple[str, Node]]) -> int | None:
    """Add up the devices of one pod; a count that is a placeholder is asked about."""
    total = 0
    for what, node in found:
        place = file.at(node.line)
        count = whole_number(text_of(node))
        if what.startswith("mig-") or what.endswith(".shared"):
            text = f"`{what[:40]}` is a slice of a GPU: it is counted as one whole GPU."
            granted.ask(place, text)
        if count is None:
            text = f"the number of GPUs of a pod is `{text_of(node)[:40]}`. Give `n_gpus`."
            granted.ask(place, text)
            return None
        total += count
    return total


def _trainer(file: SourceFile, granted: Granted, trainer: Node) -> None:
    """Read the `trainer` of a TrainJob; what it leaves out stands in the runtime it names."""
    nodes = trainer.get("numNodes")
    granted.n_nodes = whole_number(text_of(nodes))
    granted.nodes_at = file.at(nodes.line if nodes else trainer.line)
    found = list(devices(trainer.get("resourcesPerNode")))
    if found:
        granted.gpus_at = file.at(found[0][1].line)
        granted.gpus_per_node = _count(file, granted, found)
    if granted.n_nodes is None or granted.gpus_per_node is None:
        text = "nodes or devices of this TrainJob stand in its runtime. Give `n_gpus`."
        granted.ask(file.at(trainer.line), text)


def _tasks(file: SourceFile, granted: Granted, spec: Node) -> None:
    """Tell several runs from several nodes: pods of an indexed job work together."""
    counts = [whole_number(text_of(spec.get(key))) or 1 for key in ("parallelism", "completions")]
    node = spec.get("completions") or spec.get("parallelism")
    indexed = text_of(spec.get("completionMode")) == "Indexed"
    if max(counts) == 1 or node is None or (indexed and counts[0] == counts[1]):
        return
    granted.n_nodes, granted.n_gpus = 1, granted.gpus_per_node
    granted.n_runs = max(counts)
    text = f"{max(counts)} pods without an index are taken as so many runs of one node each."
    granted.ask(file.at(node.line), text)


def _deadline(file: SourceFile, granted: Granted, spec: Node) -> None:
    for path in _DEADLINES:
        node = spec.get(*path)
        seconds = text_of(node)
        if node is not None and re.fullmatch(r"[1-9]\d{0,9}", seconds):
            granted.time_limit_hours = int(seconds) / 3600
            granted.time_at = file.at(node.line)
            return


def _script(
    file: SourceFile, spec: Node, groups: Iterable[PodGroup], granted: Granted
) -> ShellScript:
    """Read the entrypoint of a RayJob, else the first container that runs a program."""
    if (entrypoint := spec.get("entrypoint")) is not None:
        return script_of(file, entrypoint, {})
    holders = [spec.get("trainer"), *(c for g in groups for c in containers(g.spec))]
    for holder in holders:
        if holder is None:
            continue
        known = variables_of(holder.get("env"))
        script = container_script(file, holder.get("command"), holder.get("args"), known)
        if any(command.words[0] not in ("sleep", "tail") for command in script.commands):
            for name, key in (("cpus", "cpu"), ("mem", "memory")):
                limit = holder.get("resources", "limits", key)
                setattr(granted, name, text_of(limit))
            return script
    return NO_COMMANDS


READER = KubernetesReader()
