"""The pods of a Kubernetes job: how many there are, what accelerators each one gets.

Resource names are those of the vendors' device plugins (`nvidia.com/gpu`, `amd.com/gpu`, …); a
model in place of `gpu` names the device (`nvidia.com/a100`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from compute_budget_planner.readers.container_script import text_of
from compute_budget_planner.readers.nodes import Node

_VENDORS = re.compile(r"(nvidia|amd|gpu\.intel|habana|aws\.amazon|google)\.(com|ai)/(?P<what>\S+)")
_NO_DEVICE = re.compile(r"efa|hugepages|rdma|hostdev|network", re.IGNORECASE)
_ANY_DEVICE = ("gpu", "i915", "gaudi", "tpu", "neuron", "neurondevice", "neuroncore")
_TYPE_LABEL = re.compile(
    r"gpu[./_-]?(product|type|model|name|class)|accelerator|instance-type", re.IGNORECASE
)
_MOST_PODS = 200


@dataclass(frozen=True)
class PodGroup:
    """Pods alike: how many (a text as written), their specification and the line of the count."""

    role: str
    replicas: str
    spec: Node
    line: int | None


def pod_groups(spec: Node) -> Iterator[PodGroup]:
    """Yield the groups of pods below a job's `spec`, whichever of the known kinds it is."""
    for key, member in spec.mapping.items():
        if key.lower().endswith("replicaspecs"):
            for role, replica in member.mapping.items():
                yield _group(role, replica, replica.get("replicas"))
        elif key in ("replicatedJobs", "tasks", "workerGroupSpecs", "headGroupSpec"):
            for item in (member.items or (member,))[:_MOST_PODS]:
                role = "head" if key == "headGroupSpec" else text_of(item.get("name"))
                inner = item.get("template", "spec") if key == "replicatedJobs" else item
                count = item.get("replicas")
                if key == "replicatedJobs" and inner is not None:
                    yield from _replicated(role, inner, count)
                else:
                    yield _group(role, item, count)
        elif key in ("rayClusterSpec", "template") and member.get("workerGroupSpecs") is not None:
            yield from pod_groups(member)
    if spec.get("containers") is not None:
        yield PodGroup("", "1", spec, spec.line)
    elif (inner := spec.get("template", "spec")) is not None:
        count = spec.get("parallelism")
        yield PodGroup("", text_of(count) or "1", inner, count.line if count else inner.line)


def _replicated(role: str, job: Node, count: Node | None) -> Iterator[PodGroup]:
    """Yield the pods of one replicated job of a JobSet: replicas times parallelism."""
    pods = job.get("template", "spec")
    if pods is None:
        return
    times, each = text_of(count) or "1", text_of(job.get("parallelism")) or "1"
    both = times.isdecimal() and each.isdecimal() and len(times + each) < 10
    replicas = str(int(times) * int(each)) if both else f"{times} x {each}"
    yield PodGroup(role, replicas, pods, count.line if count else pods.line)


def _group(role: str, holder: Node, count: Node | None) -> PodGroup:
    spec = holder.get("template", "spec") or Node({}, holder.line)
    return PodGroup(role, text_of(count) or "1", spec, count.line if count else holder.line)


def containers(spec: Node) -> tuple[Node, ...]:
    """Return the containers of a pod."""
    found = spec.get("containers")
    return found.items[:_MOST_PODS] if found is not None else ()


def devices(resources: Node | None) -> Iterator[tuple[str, Node]]:
    """Yield the accelerators of `resources`: what is named behind the vendor, and the count.

    Limits count; where only requests are given they are the limits too.
    """
    for part in ("limits", "requests"):
        named = resources.get(part) if resources is not None else None
        found = [
            (match["what"], node)
            for key, node in (named.mapping if named is not None else {}).items()
            if (match := _VENDORS.fullmatch(key)) and not _NO_DEVICE.search(key)
        ]
        if found:
            yield from found
            return


def device_model(what: str) -> str:
    """Return the model a resource such as `a100` or `mig-1g.5gb` names; nothing for `gpu`."""
    word = what.removesuffix(".shared")
    return "" if word in _ANY_DEVICE or word.startswith("mig-") else word


def type_labels(spec: Node) -> Iterator[tuple[str, int | None]]:
    """Yield the device names a pod selects its node by, with their lines."""
    selector = spec.get("nodeSelector")
    for key, node in selector.mapping.items() if selector is not None else ():
        if _TYPE_LABEL.search(key):
            yield text_of(node), node.line
    path = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = spec.get(*path, "nodeSelectorTerms")
    for term in terms.items if terms is not None else ():
        expressions = term.get("matchExpressions")
        for each in expressions.items if expressions is not None else ():
            values = each.get("values")
            if text_of(each.get("operator")) == "In" and _TYPE_LABEL.search(
                text_of(each.get("key"))
            ):
                listed = values.items if values is not None else ()
                joined = "|".join(text_of(value) for value in listed)
                yield joined, values.line if values is not None else None
