"""Fill in hardware and parallelism: accelerator, counts, links, ranks."""

import re

from compute_budget_planner.errors import FactError, nearest
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.rows import Accelerator
from compute_budget_planner.numbers import brief
from compute_budget_planner.workload.ledger import Ledger
from compute_budget_planner.workload.run import Hardware, Parallelism

_PEER_TO_PEER_LESS = ("RTX 30", "RTX 40", "RTX 50", "RTX-30", "RTX-40", "RTX-50", "GTX", "TITAN")
_BRIDGE = re.compile(r"\bbridge\b[^;]*\s([0-9.]+)\Z")
_USUAL_PER_NODE = 8


def complete_hardware(ledger: Ledger, reference: Reference) -> Hardware | None:
    """Return the hardware, or None when the accelerator is not known.

    Raises:
        FactError: the accelerator's name is unknown, or counts contradict each other.
    """
    accelerator = _accelerator(ledger, reference)
    usual = _usual_per_node(accelerator)
    n_gpus = _device_count(ledger, usual)
    if accelerator is None:
        return None
    per_node = ledger.count("gpus_per_node")
    if per_node is None:
        per_node = min(n_gpus, usual)
        if n_gpus > per_node:
            ledger.assume("gpus_per_node", per_node, f"usual for {accelerator.name}")
    link, gb_s = _intra_node_link(ledger, accelerator, reference)
    return Hardware(
        accelerator=accelerator,
        n_gpus=n_gpus,
        gpus_per_node=per_node,
        intra_node_link=link,
        intra_node_gb_s=gb_s,
        inter_node_gbit_s=_network_gbit_s(ledger, accelerator, reference, n_gpus > per_node),
        usd_per_gpu_hour=ledger.number("usd_per_gpu_hour"),
    )


def _accelerator(ledger: Ledger, reference: Reference) -> Accelerator | None:
    name = ledger.text("gpu")
    if name is None:
        ledger.missing.append("gpu")
        ledger.questions.append("Which accelerator (`gpu`) will the run use?")
        return None
    found = reference.find_accelerators(name)
    if not found:
        known = [w for a in reference.accelerators.values() for w in (a.name, *a.aliases)]
        raise FactError(
            f"`gpu` is {name!r}, which the guide does not know",
            where=ledger.source("gpu"),
            remedy=nearest(name, known) + " A lab page can add a device.",
        )
    chosen = found[0]
    if len(found) > 1:
        names = [a.name for a in found]
        ledger.questions.append(f"`{name}` may be {' or '.join(names)}: which `gpu` is it?")
        # The middle one by speed stands for the others until somebody answers.
        by_speed = sorted(found, key=lambda a: a.peak_bf16_tflops or a.peak_fp16_tflops or 0.0)
        chosen = by_speed[len(by_speed) // 2]
        why = f"`{name}` is ambiguous"
        ledger.assume("gpu", chosen.name, why, *[n for n in names if n != chosen.name])
    return chosen


def _usual_per_node(accelerator: Accelerator | None) -> int:
    typical = accelerator.typical_gpus_per_node if accelerator is not None else None
    # A card that mostly stands alone, on a desk, says nothing about a job with several of it.
    return typical if typical is not None and typical > 1 else _USUAL_PER_NODE


def _device_count(ledger: Ledger, usual_per_node: int) -> int:
    n_gpus, nodes = ledger.count("n_gpus"), ledger.count("n_nodes")
    per_node = ledger.count("gpus_per_node")
    if n_gpus is None and per_node is not None:
        n_gpus = per_node * (nodes or 1)
        ledger.derive("n_gpus", n_gpus, "n_nodes × gpus_per_node")
    elif n_gpus is None:
        n_gpus = nodes * usual_per_node if nodes else 1
        why = f"{usual_per_node} in each of the `n_nodes`" if nodes else "no file or argument"
        ledger.assume("n_gpus", n_gpus, why if nodes else f"{why} gives a number")
        ledger.questions.append("How many accelerators (`n_gpus`) in all?")
    elif nodes and per_node and nodes * per_node != n_gpus:
        raise FactError(
            f"`n_gpus` is {n_gpus} ({ledger.source('n_gpus')}), but `n_nodes` {nodes} "
            f"({ledger.source('n_nodes')}) × `gpus_per_node` {per_node} "
            f"({ledger.source('gpus_per_node')}) is {nodes * per_node}",
            remedy="Correct one of them, or withdraw it with null.",
        )
    elif nodes and per_node is None:
        if n_gpus % nodes:
            raise FactError(
                f"`n_gpus` {n_gpus} ({ledger.source('n_gpus')}) does not divide evenly among "
                f"`n_nodes` {nodes} ({ledger.source('n_nodes')})",
                remedy="Correct one of them, or withdraw it with null.",
            )
        ledger.derive("gpus_per_node", n_gpus // nodes, "n_gpus / n_nodes")
    return n_gpus


def _intra_node_link(
    ledger: Ledger, accelerator: Accelerator, reference: Reference
) -> tuple[str, float]:
    """Return the link between the accelerators of a machine and its nominal GB/s per device.

    The guide's rate is that of the device's usual link; another link that is stated has its own.
    """
    usual = usual_link(accelerator)
    plain_gb_s = reference.value("default_intra_node_gb_s")
    usual_gb_s = accelerator.intra_node_gb_s or plain_gb_s
    stated = ledger.text("intra_node_link")
    if stated is None:
        ledger.refer("intra_node_link", usual, f"guide: {accelerator.name}")
        return usual, usual_gb_s
    if stated == "nvlink" and usual != "nvlink":
        bridge = _BRIDGE.search(accelerator.intra_node_link)
        if bridge is not None:
            return stated, float(bridge.group(1))
        ledger.warnings.append(
            f"The guide knows no direct link for {accelerator.name}; the rate of {usual} is used."
        )
        return usual, usual_gb_s
    if stated != "nvlink" and usual == "nvlink":
        return stated, min(usual_gb_s, plain_gb_s)
    return stated, usual_gb_s


def usual_link(accelerator: Accelerator) -> str:
    """Return how devices of a kind are joined in a machine: nvlink, pcie or pcie-host."""
    text = accelerator.intra_node_link.lower()
    direct = any(w in text for w in ("nvlink", "nvswitch", "xgmi", "infinity", "ici", "neuron"))
    if direct and "bridge" not in text:
        return "nvlink"
    if any(word in accelerator.name for word in _PEER_TO_PEER_LESS):
        return "pcie-host"
    return "pcie"


def _network_gbit_s(
    ledger: Ledger, accelerator: Accelerator, reference: Reference, crosses_nodes: bool
) -> float:
    link = ledger.text("inter_node_link")
    typical = accelerator.typical_inter_node_gbit_s
    stated = ledger.number("inter_node_gbit_s")
    if stated is not None:
        return stated
    if link == "ethernet":
        if crosses_nodes:
            ledger.warnings.append(
                "Ethernet between machines: adding machines can lower the total speed; "
                "measure two machines against one before planning more."
            )
        return reference.value("ethernet_gbit_s")
    speed = typical or reference.value("default_inter_node_gbit_s")
    if link is None and crosses_nodes:
        ledger.assume(
            "inter_node_link",
            "infiniband",
            f"usual for {accelerator.name}: {brief(speed)} Gbit/s per machine",
        )
    return speed


def complete_parallelism(ledger: Ledger, n_gpus: int) -> Parallelism:
    """Return the ranks; data-parallel size is what tensor, pipeline and context leave over.

    Raises:
        FactError: the product of the sizes does not divide the number of accelerators.
    """
    _assume_model_is_split(ledger, n_gpus)
    tp, pp, cp, ep = (ledger.count(name) or 1 for name in ("tp", "pp", "cp", "ep"))
    if n_gpus % (tp * pp * cp):
        raise FactError(
            f"tp {tp} × pp {pp} × cp {cp} does not divide `n_gpus` {n_gpus}",
            where=ledger.source("n_gpus"),
            remedy="Make n_gpus a multiple of the product.",
        )
    dp = n_gpus // (tp * pp * cp)
    sharding = ledger.text("sharding")
    if sharding is None:
        if dp > 1:
            ledger.assume("sharding", "ddp", "no file or argument names a sharding", "fsdp")
            sharding = "ddp"
        else:
            sharding = "none"
    return Parallelism(sharding, tp, pp, cp, ep, dp)


def _assume_model_is_split(ledger: Ledger, n_gpus: int) -> None:
    """Assume tensor parallelism where the batch has fewer samples than there are devices.

    Not every device can have a sample of its own, so several share one; across machines they
    would share its sequence.
    """
    batch = ledger.count("global_batch_size")
    if any(ledger.has(name) for name in ("tp", "pp", "cp")) or not batch or batch >= n_gpus:
        return
    if n_gpus % batch:
        return
    why = f"a batch of {batch} samples cannot give each of {n_gpus} devices one"
    tp = min(n_gpus // batch, _USUAL_PER_NODE)
    ledger.assume("tp", tp, why)
    if n_gpus // batch > tp and n_gpus % (tp * batch) == 0:
        ledger.assume("cp", n_gpus // batch // tp, why)
