"""Time of collectives, from bytes and links.

Ring volumes per rank for S bytes: all-reduce 2(n−1)/n·S, reduce-scatter or all-gather
(n−1)/n·S. Across machines the node's network carries what its devices exchange with others.
"""

import math
import re

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import Hardware, TrainingRun

_SWITCHED = re.compile(r"NVL(\d+) domain")


def linked_devices(hardware: Hardware) -> int:
    """Return how many devices the direct link joins: a machine, or the racks of an NVL domain."""
    domain = _SWITCHED.search(hardware.accelerator.intra_node_link)
    if domain is not None and hardware.intra_node_link == "nvlink":
        return max(hardware.gpus_per_node, int(domain.group(1)))
    return hardware.gpus_per_node


def link_bytes_per_second(hardware: Hardware, ranks: int, reference: Reference) -> float:
    """Return what one device achieves to its neighbours in the machine, in bytes per second."""
    nominal = hardware.intra_node_gb_s * 1e9
    link = hardware.intra_node_link
    if link == "nvlink":
        return nominal * reference.value("nvlink_share")
    if link == "pcie-host":
        share = reference.value("pcie_host_share")
        return nominal * share / math.sqrt(max(1.0, ranks / 2))
    return nominal * reference.value("pcie_share")


def ring_seconds(
    payload_bytes: float, ranks: int, run: TrainingRun, reference: Reference, stride: int = 1
) -> float:
    """Return seconds for one pass of `payload_bytes` around `ranks` devices (gather or scatter).

    An all-reduce is two passes. Inside a machine the device's link bounds it, across machines
    the node's network, which the devices of the node share for one copy of the payload. Every
    `stride`-th device belongs to the ring; as many rings share the machine and its network.
    """
    if ranks <= 1:
        return 0.0
    hardware = run.hardware
    together = linked_devices(hardware)
    ring_per_node = max(1, together // stride)
    local = min(ranks, ring_per_node)
    seconds = 0.0
    if local > 1:
        rate = link_bytes_per_second(hardware, local, reference)
        seconds = payload_bytes * (local - 1) / local / rate
    nodes = math.ceil(ranks / ring_per_node)
    if nodes > 1:
        machines = together / hardware.gpus_per_node
        network = machines * hardware.inter_node_gbit_s / 8 * 1e9
        network *= reference.value("network_share")
        rings = min(stride, together)
        seconds = max(seconds, rings * payload_bytes * (nodes - 1) / nodes / network)
    return seconds


def all_to_all_seconds(
    payload_bytes: float, ranks: int, run: TrainingRun, reference: Reference
) -> float:
    """Return seconds in which each of `ranks` devices sends parts of its payload to all others.

    Unlike in a ring every device has a payload of its own, so that all devices of a machine
    share its network for what leaves it.
    """
    if ranks <= 1:
        return 0.0
    hardware = run.hardware
    local = min(ranks, linked_devices(hardware))
    link = link_bytes_per_second(hardware, local, reference)
    network = hardware.inter_node_gbit_s / 8 * 1e9 * reference.value("network_share")
    inside = payload_bytes * (local - 1) / ranks / link
    outside = payload_bytes * (ranks - local) / ranks / (network / hardware.gpus_per_node)
    return max(inside, outside)


def data_parallel_seconds(
    run: TrainingRun, params_on_rank: float, trainable_on_rank: float, reference: Reference
) -> float:
    """Return seconds per optimizer step spent on gradients and gathered weights.

    DDP and ZeRO-1/2 move gradients twice around per step; ZeRO-3 and FSDP gather the weights
    for the forward and the backward pass of every micro-step and scatter gradients.
    Tensor- and context-parallel ranks are neighbours, data-parallel ones stand behind them.
    """
    dp = run.parallelism.dp
    if dp <= 1:
        return 0.0
    gradient_bytes = 4.0 if run.numerics.gradient_dtype == "fp32" else 2.0
    inner = run.parallelism.tp * run.parallelism.cp
    gradients = ring_seconds(trainable_on_rank * gradient_bytes, dp, run, reference, inner)
    if run.parallelism.sharding in ("fsdp", "zero3"):
        weight_bytes = reference.precisions[run.numerics.precision].weight_bytes
        if run.numerics.quantization in ("nf4", "fp4"):
            weight_bytes = reference.value("nf4_bytes")
        gathers = 2 * ring_seconds(params_on_rank * weight_bytes, dp, run, reference, inner)
        # With pipeline stages the gathered weights are kept for all micro-steps (torchtitan).
        times = 1 if run.parallelism.pp > 1 else run.batch.grad_accum_steps
        return (gathers + gradients) * times
    return 2 * gradients


def tensor_parallel_seconds(
    run: TrainingRun, model: Architecture, layers: float, tokens: float, reference: Reference
) -> float:
    """Return seconds per micro-step for the all-reduces of tensor parallelism.

    Two forward and two backward per layer (Narayanan 2021 §3.2), two more with full recompute.
    """
    if run.parallelism.tp <= 1:
        return 0.0
    passes = 6 if run.numerics.activation_checkpointing == "full" else 4
    payload = tokens * model.d_model * 2.0
    return passes * 2 * layers * ring_seconds(payload, run.parallelism.tp, run, reference)


def expert_parallel_seconds(
    run: TrainingRun, model: Architecture, moe_layers: float, tokens: float, reference: Reference
) -> float:
    """Return seconds per micro-step for dispatching tokens to experts and back, four times."""
    if run.parallelism.ep <= 1 or model.experts is None:
        return 0.0
    payload = model.experts.experts_per_token * tokens * model.d_model * 2.0
    return 4 * moe_layers * all_to_all_seconds(payload, run.parallelism.ep, run, reference)


def context_parallel_seconds(
    run: TrainingRun, model: Architecture, layers: float, tokens: float, reference: Reference
) -> float:
    """Return seconds per micro-step for passing keys and values around the context ring."""
    cp = run.parallelism.cp
    if cp <= 1:
        return 0.0
    payload = tokens * cp * 2 * model.n_kv_heads * model.head_dim * 2.0
    return 3 * layers * ring_seconds(payload, cp, run, reference, run.parallelism.tp)
