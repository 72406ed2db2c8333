"""Measurements as rows of the guide's tables: of the device, and of the software that drives it.

Where the guide knows a device's nominal figures, what was measured becomes the share of them the
guide multiplies with. Where it does not, nominal figures are written that give, times the
guide's shares, what was measured.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from compute_budget_planner.errors import RequestError, nearest
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.guide.reference import Reference, spelling
from compute_budget_planner.measuring.backend import Device
from compute_budget_planner.measuring.collectives import bucket_rate
from compute_budget_planner.measuring.launch_floor import launch_us
from compute_budget_planner.measuring.measurements import Measurements
from compute_budget_planner.numbers import shown
from compute_budget_planner.workload.complete_hardware import usual_link

_Found = dict[str, list[dict[str, str]]]
Rows = Mapping[str, list[dict[str, str]]]
"""Table name → rows, each column name → cell."""

# A framework sees up to this share less than the driver reports (context, ECC).
_HIDDEN_MEMORY = 0.04
_LINK_SHARES = {"nvlink": "nvlink_share", "pcie": "pcie_share", "pcie-host": "pcie_host_share"}
_PEAK_SHARES = {
    "fp32": "achievable_share_fp32",
    "tf32": "achievable_share_tf32",
    "fp16": "achievable_share",
    "bf16": "achievable_share",
    "fp8": "achievable_share",
}
_MEASURED_CLASS = "pytorch-native"


@dataclass(frozen=True)
class Identity:
    """The device's name in the guide, and whether the guide has it."""

    name: str
    listed: bool


def identify(device: Device, reference: Reference, gpu: str | None) -> Identity:
    """Return which device of the guide was measured, or the name a new one gets.

    `gpu` is the user's word on it. Of several devices that share the driver's name, the one with
    that much memory is meant.

    Raises:
        RequestError: `gpu` is not a device of the guide, or several remain.
    """
    if device.is_cpu:
        return Identity(_as_name(device.name), listed=False)
    found = reference.find_accelerators(gpu or device.name)
    if gpu and not found:
        raise RequestError(
            f"{gpu!r} is no device of the guide",
            where="--gpu",
            remedy=nearest(gpu, reference.accelerators),
        )
    if len(found) > 1:
        found = tuple(a for a in found if _has_memory(a.memory_gib, device)) or found
    if not found:
        return Identity(_as_name(device.name), listed=False)
    if len(found) > 1:
        raise RequestError(
            f"the driver says `{device.name}`, which may be "
            + " or ".join(f"`{a.name}`" for a in found),
            where="measure",
            remedy=f"Say which with --gpu {found[0].name}.",
        )
    return Identity(found[0].name, listed=True)


def guide_rows(measured: Measurements, identity: Identity, reference: Reference) -> Rows:
    """Return the rows that win over those of `reference`.

    Raises:
        RequestError: too little was measured to say anything about the device.
    """
    if identity.listed:
        rows = _listed_device(measured, identity.name, reference)
    else:
        rows = _new_device(measured, identity.name, reference)
    if not measured.device.is_cpu:
        # Elsewhere a CPU's overheads would be taken for those of the GPUs the project plans with.
        rows |= _software(measured, identity, reference)
    if not rows:
        raise _too_little(measured, identity.name)
    return rows


def _listed_device(measured: Measurements, name: str, reference: Reference) -> _Found:
    rows: _Found = {}
    rates = _achievable(measured)
    if rates:
        known = reference.row("accelerator_compute", name).cells
        rows["accelerator_compute"] = [{**known, **rates}]
    known = reference.row("accelerator_memory", name).cells
    unknown = {c: text for c, text in _memory(measured, reference).items() if text and not known[c]}
    if unknown:
        rows["accelerator_memory"] = [{**known, **unknown}]
    return rows


def _new_device(measured: Measurements, name: str, reference: Reference) -> _Found:
    device = measured.device
    best = {p: rate for p in device.precisions if (rate := measured.best(p))}
    if device.training_precision not in best or measured.bandwidth_gb_s is None:
        raise _too_little(measured, name)
    peaks = {
        f"peak_{p}_tflops": cell(rate.expected / reference.value(_PEAK_SHARES[p]))
        for p, rate in best.items()
    }
    found = {
        "accelerator_names": {
            "aliases": "" if spelling(device.name) == spelling(name) else _text(device.name),
            "vendor": device.vendor,
            "architecture": _text(device.architecture),
            "generation": device.generation,
        },
        "accelerator_compute": {**peaks, **_achievable(measured)},
        "accelerator_memory": _memory(measured, reference),
        "accelerator_price": {},
    }
    return {
        table: [{**dict.fromkeys(_columns(reference, table), ""), "name": name, **cells}]
        for table, cells in found.items()
    }


def _too_little(measured: Measurements, name: str) -> RequestError:
    return RequestError(
        f"too little could be measured to describe `{name}` ({'; '.join(measured.problems)})",
        where="measure",
        remedy="Free the device, or update PyTorch, and measure again.",
    )


def _achievable(measured: Measurements) -> dict[str, str]:
    best = {f"achievable_{p}_tflops": measured.best(p) for p in ("bf16", "fp16")}
    return {column: cell(rate.expected) for column, rate in best.items() if rate}


def _memory(measured: Measurements, reference: Reference) -> dict[str, str]:
    """Return nominal figures that give, times the guide's shares, what was measured."""
    device, bandwidth = measured.device, measured.bandwidth_gb_s
    link = bucket_rate(measured.all_reduce)
    share, link_share = (reference.value(name) for name in ("bandwidth_share", "pcie_share"))
    return {
        "memory_gib": cell(device.memory_gib) if device.memory_gib else "",
        "memory_bandwidth_gb_s": cell(bandwidth.expected / share) if bandwidth else "",
        "intra_node_gb_s": cell(link.gb_s.expected / link_share) if link else "",
        "typical_gpus_per_node": str(device.count) if device.count > 1 else "",
    }


def _software(measured: Measurements, identity: Identity, reference: Reference) -> _Found:
    quantities: dict[str, Range] = {}
    floor = measured.launch
    if floor and floor.compiled_share:
        quantities["compile_launch"] = floor.compiled_share
    if identity.listed:
        quantities |= _shares_of_nominal(measured, identity.name, reference)
    rows: _Found = {}
    if quantities:
        rows["step_time"] = [
            _quantity(reference, name, value) for name, value in quantities.items()
        ]
    if floor and floor.layer_seconds:
        rows["framework_classes"] = _framework_classes(
            launch_us(floor.layer_seconds.expected, reference), reference
        )
    return rows


def _shares_of_nominal(measured: Measurements, name: str, reference: Reference) -> dict[str, Range]:
    accelerator = reference.accelerators[name]
    shares = {}
    nominal = accelerator.memory_bandwidth_gb_s
    if nominal and measured.bandwidth_gb_s:
        shares["bandwidth_share"] = measured.bandwidth_gb_s.scaled(1 / nominal)
    link = bucket_rate(measured.all_reduce)
    if link and accelerator.intra_node_gb_s:
        kind = usual_link(accelerator)
        # The guide's share over the host is that of two devices and falls with √(n/2).
        devices = math.sqrt(link.n_gpus / 2) if kind == "pcie-host" else 1.0
        shares[_LINK_SHARES[kind]] = link.gb_s.scaled(devices / accelerator.intra_node_gb_s)
    return shares


def _framework_classes(measured_us: float, reference: Reference) -> list[dict[str, str]]:
    """Return every class with its launch time at this host's speed.

    One class is measured. What the others need beside it they need on any host, so all scale.
    """
    factor = measured_us / reference.framework_classes[_MEASURED_CLASS].launch_us
    return [
        {**row.cells, "launch_us": cell(row.required_number("launch_us") * factor)}
        for row in reference.rows("framework_classes").values()
    ]


def _quantity(reference: Reference, name: str, value: Range) -> dict[str, str]:
    ends = {"low": value.low, "expected": value.expected, "high": value.high}
    row = reference.row("step_time", name)
    return {**row.cells, **{column: cell(number) for column, number in ends.items()}}


def cell(number: float) -> str:
    """Return a number to four significant digits, as the guide's cells take it."""
    return shown(float(f"{number:.4g}"))


def _columns(reference: Reference, table: str) -> Iterable[str]:
    return next(iter(reference.rows(table).values())).cells


def _has_memory(memory_gib: float | None, device: Device) -> bool:
    return memory_gib is not None and (
        (1 - _HIDDEN_MEMORY) * memory_gib <= device.memory_gib <= 1.01 * memory_gib
    )


def _as_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+]+", "-", text).strip("-")[:80] or "unnamed-device"


def _text(text: str) -> str:
    """Return a driver's text as a cell: one line, no wall, no second alias."""
    return re.sub(r"[|;`\\<>\s]+", " ", text).strip()[:80]
