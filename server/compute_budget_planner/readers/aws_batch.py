"""AWS Batch job definitions, alone or in a CloudFormation template (format `aws_batch`).

`ResourceRequirements` of type GPU count one node, `NodeProperties.NumNodes` the nodes. Keys are
those of `AWS::Batch::JobDefinition`; the same in lower camel case is the API's JSON. Tags such as
`!Ref` are kept as the text behind them.
"""

import re
from collections.abc import Iterator

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.cloud_instances import instance_of
from compute_budget_planner.readers.container_script import (
    NO_COMMANDS,
    container_script,
    text_of,
    variables_of,
)
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.job_reading import Granted, job_reading, whole_number
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.structured import load_mapping, mapping_of

_TYPE = "AWS::Batch::JobDefinition"


class AwsBatchReader:
    """Reader of job definitions of AWS Batch."""

    format = "aws_batch"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a template or a JSON file defines a job of AWS Batch."""
        if _TYPE not in file.text and "jobDefinitionName" not in file.text:
            return False
        document = mapping_of(file)
        return document is not None and any(_definitions(document.root))

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return nodes, GPUs and command of the one job there is; of several none is chosen.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        found = list(_definitions(document.root))
        granted = Granted(problems=list(document.problems))
        name, definition = found[0]
        if len(found) > 1:
            names = ", ".join(f"`{name[:40]}`" for name, _ in found[:8])
            text = f"{len(found)} jobs are defined: {names}. Give the facts of one."
            granted.ask(file.at(definition.line), text)
            return job_reading(file, self.format, granted, NO_COMMANDS, reference)
        granted.job_name = name
        container = _container(file, granted, definition)
        _gpus(file, granted, container, reference)
        seconds = _get(definition, "Timeout", "AttemptDurationSeconds")
        if seconds is not None and re.fullmatch(r"[1-9]\d{0,8}", text_of(seconds)):
            granted.time_limit_hours = int(text_of(seconds)) / 3600
            granted.time_at = file.at(seconds.line)
        known = variables_of(_get(container, "Environment"))
        script = container_script(file, _get(container, "Command"), None, known)
        return job_reading(file, self.format, granted, script, reference)


def _get(node: Node | None, *path: str) -> Node | None:
    """Return the member at a path, in the template's or in the API's spelling of keys."""
    for key in path:
        if node is None:
            return None
        upper = node.get(key)
        node = node.get(key[0].lower() + key[1:]) if upper is None else upper
    return node


def _definitions(root: Node) -> Iterator[tuple[str, Node]]:
    if root.get("jobDefinitionName") is not None:
        yield text_of(root.get("jobDefinitionName")), root
    resources = root.get("Resources")
    for name, node in (resources.mapping if resources is not None else {}).items():
        properties = node.get("Properties")
        if text_of(node.get("Type")) == _TYPE and properties is not None:
            yield name, properties


def _container(file: SourceFile, granted: Granted, definition: Node) -> Node:
    """Return the container, and count the nodes it runs on."""
    nodes = _get(definition, "NodeProperties")
    granted.n_nodes = 1
    if nodes is None:
        return _get(definition, "ContainerProperties") or definition
    count = _get(nodes, "NumNodes")
    granted.n_nodes = whole_number(text_of(count))
    granted.nodes_at = file.at((count or nodes).line)
    if granted.n_nodes is None:
        granted.ask(granted.nodes_at, "`NumNodes` is no count. Give `n_nodes`.")
    ranges = _get(nodes, "NodeRangeProperties")
    groups = ranges.items if ranges is not None else ()
    if len(groups) > 1:
        text = "the nodes differ; those of the first range are described. Give `n_gpus`."
        granted.ask(granted.nodes_at, text)
        granted.n_nodes = None
    first = groups[0] if groups else nodes
    return _get(first, "Container") or first


def _gpus(file: SourceFile, granted: Granted, container: Node, reference: Reference) -> None:
    needs = _get(container, "ResourceRequirements")
    for need in needs.items if needs is not None else ():
        if text_of(_get(need, "Type")).upper() == "GPU":
            granted.gpus_at = file.at(need.line)
            granted.gpus_per_node = whole_number(text_of(_get(need, "Value")))
    kind = _get(container, "InstanceType")
    instance = instance_of(text_of(kind), reference)
    if kind is not None and instance is not None:
        granted.gpu, granted.gpu_at = instance.gpu, file.at(kind.line)
    if granted.gpus_per_node is None:
        granted.ask(file.at(container.line), "no GPU is asked for. Give `n_gpus`.")


READER = AwsBatchReader()
