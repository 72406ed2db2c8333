"""Measurements become rows from which the guide computes what was measured."""

from dataclasses import replace

import pytest
from compute_budget_planner.errors import RequestError
from compute_budget_planner.estimation.communication import link_bytes_per_second
from compute_budget_planner.estimation.device_rate import device_rate
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.measuring.backend import Device
from compute_budget_planner.measuring.guide_rows import Identity, cell, guide_rows, identify
from compute_budget_planner.measuring.lab_page import table
from compute_budget_planner.measuring.measurements import Measurements, Plan, measure
from compute_budget_planner.workload.run import Hardware
from made_up_device import CPU, H200, UNLISTED, MadeUpDevice


def measured(backend: MadeUpDevice, *, quick: bool = False) -> Measurements:
    return measure(Plan(backend, 60.0, quick, lambda _: None))


def with_rows(found: Measurements, identity: Identity) -> Reference:
    rows = guide_rows(found, identity, load_reference())
    page = "\n\n".join(table(name, "a test", "2026-11-30", r) for name, r in rows.items())
    return load_reference([("measured", page)])


# Which device it is


@pytest.mark.parametrize(
    ("driver", "memory_gib", "name"),
    [
        ("NVIDIA H200", 139.8, "H200-SXM-141GB"),
        ("NVIDIA H100 80GB HBM3", 79.1, "H100-SXM-80GB"),
        ("NVIDIA A100-SXM4-40GB", 39.4, "A100-SXM-40GB"),
        ("NVIDIA GeForce RTX 3080", 9.7, "RTX-3080-10GB"),
        ("NVIDIA GeForce RTX 3080", 11.6, "RTX-3080-12GB"),
        ("Tesla V100-SXM2-16GB", 15.8, "V100-SXM2-16GB"),
    ],
)
def test_a_drivers_name_and_memory_tell_the_device(
    driver: str, memory_gib: float, name: str
) -> None:
    device = replace(H200, name=driver, memory_gib=memory_gib)
    assert identify(device, load_reference(), None) == Identity(name, listed=True)


def test_a_device_the_guide_lacks_gets_its_drivers_name() -> None:
    assert identify(UNLISTED, load_reference(), None) == Identity(
        "NVIDIA-H200-MIG-3g.71gb", listed=False
    )


def test_a_cpu_is_never_taken_for_a_device_of_the_guide() -> None:
    assert identify(CPU, load_reference(), "A100") == Identity("CPU-x86-64-4-threads", listed=False)


def test_the_user_decides_where_the_driver_is_vague() -> None:
    device = replace(H200, name="A100", memory_gib=79.3)
    with pytest.raises(RequestError, match="`A100-PCIe-80GB` or `A100-SXM-80GB`") as refused:
        identify(device, load_reference(), None)
    assert refused.value.remedy == "Say which with --gpu A100-PCIe-80GB."
    chosen = identify(device, load_reference(), "A100-SXM4-80GB")
    assert chosen == Identity("A100-SXM-80GB", listed=True)


def test_a_device_nobody_knows_cannot_be_named() -> None:
    with pytest.raises(RequestError, match="'H200-SXL' is no device of the guide"):
        identify(H200, load_reference(), "H200-SXL")


# Rows of a listed device


def test_a_listed_device_keeps_its_data_sheet_and_gets_measured_rates() -> None:
    found = measured(MadeUpDevice())
    identity = Identity("H200-SXM-141GB", listed=True)
    before, after = load_reference(), with_rows(found, identity)
    assert after.accelerators[identity.name] == replace(
        before.accelerators[identity.name], achievable_bf16_tflops=720, achievable_fp16_tflops=700
    )
    # 4,320 of 4,800 GB/s (NVIDIA H200 data sheet).
    share = after.quantity("bandwidth_share")
    assert (share.low, share.expected, share.high) == (0.9, 0.9, 0.9)
    assert after.value("compile_launch") == 0.5
    rate = device_rate(after.accelerators[identity.name], "bf16", after)
    assert rate.bytes_per_second == pytest.approx(4320e9)
    assert rate.achievable_flops == pytest.approx(720e12)


def test_the_launch_time_of_one_class_scales_that_of_all() -> None:
    before = load_reference()
    after = with_rows(measured(MadeUpDevice()), Identity("H200-SXM-141GB", listed=True))
    factor = (
        after.framework_classes["pytorch-native"].launch_us
        / before.framework_classes["pytorch-native"].launch_us
    )
    assert after.framework_classes == {
        name: replace(known, launch_us=pytest.approx(known.launch_us * factor, rel=1e-3))
        for name, known in before.framework_classes.items()
    }


@pytest.mark.parametrize(
    ("driver", "name", "n_gpus", "link"),
    [
        ("NVIDIA H200", "H200-SXM-141GB", 8, "nvlink"),
        ("NVIDIA L40S", "L40S", 4, "pcie"),
        ("NVIDIA GeForce RTX 4090", "RTX-4090", 2, "pcie-host"),
        ("NVIDIA GeForce RTX 4090", "RTX-4090", 8, "pcie-host"),
    ],
)
def test_links_achieve_in_the_guide_what_they_achieved_when_measured(
    driver: str, name: str, n_gpus: int, link: str
) -> None:
    device = replace(H200, name=driver, count=n_gpus)
    after = with_rows(
        measured(MadeUpDevice(device=device, link_gb_s=11.0)), Identity(name, listed=True)
    )
    accelerator = after.accelerators[name]
    assert accelerator.intra_node_gb_s is not None
    hardware = Hardware(accelerator, n_gpus, n_gpus, link, accelerator.intra_node_gb_s, 100.0, None)
    assert link_bytes_per_second(hardware, n_gpus, after) == pytest.approx(11e9, rel=1e-3)


# Rows of a device the guide lacks


@pytest.mark.parametrize("precision", ["fp32", "tf32", "fp16", "bf16"])
def test_an_unlisted_device_reaches_in_the_guide_what_it_reached(precision: str) -> None:
    backend = MadeUpDevice(device=UNLISTED)
    identity = identify(UNLISTED, load_reference(), None)
    after = with_rows(measured(backend), identity)
    (accelerator,) = after.find_accelerators("NVIDIA H200 MIG 3g.71gb")
    rate = device_rate(accelerator, precision, after)
    assert rate.achievable_flops == pytest.approx(backend.tflops[precision] * 1e12, rel=1e-3)
    assert rate.bytes_per_second == pytest.approx(4320e9, rel=1e-3)
    assert (accelerator.memory_gib, accelerator.generation) == (69.5, "hopper")
    assert accelerator.usd_per_gpu_hour is None


def test_a_cpu_says_nothing_of_the_overheads_of_gpus() -> None:
    identity = identify(CPU, load_reference(), None)
    rows = guide_rows(
        measured(MadeUpDevice(device=CPU, tflops={"fp32": 0.2, "bf16": 0.5})),
        identity,
        load_reference(),
    )
    assert set(rows) == {
        "accelerator_names",
        "accelerator_compute",
        "accelerator_memory",
        "accelerator_price",
    }


@pytest.mark.parametrize(
    ("device", "backend"),
    [
        (UNLISTED, {"gb_s": 0.0}),
        (UNLISTED, {"tflops": {"fp32": 50.0}}),
        (CPU, {"tflops": {"bf16": 1.0}}),
    ],
)
def test_a_device_too_little_is_known_of_is_refused(
    device: Device, backend: dict[str, object]
) -> None:
    identity = identify(device, load_reference(), None)
    found = measured(MadeUpDevice(device=device, **backend))  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=f"too little could be measured .* `{identity.name}`"):
        guide_rows(found, identity, load_reference())


def test_drivers_text_cannot_break_a_row() -> None:
    wicked = replace(UNLISTED, name="GPU | A100; `x`\n<!-- evil -->")
    identity = identify(wicked, load_reference(), None)
    assert identity.name == "GPU-A100-x-evil"
    after = with_rows(measured(MadeUpDevice(device=wicked)), identity)
    assert after.accelerators[identity.name].aliases == ("GPU A100 x !-- evil --",)


def test_cells_are_plain_numbers_of_four_digits() -> None:
    assert [cell(n) for n in (0.000123456, 0.9, 794.46, 12345.6)] == [
        "0.0001235",
        "0.9",
        "794.5",
        "12,350",
    ]


def test_wide_repeats_are_doubted_aloud() -> None:
    found = measured(MadeUpDevice(jitter=(1.0, 1.0, 1.0, 2.0)), quick=True)
    doubted = [p for p in found.problems if "something else using the machine" in p]
    assert doubted
    assert found.best("bf16") != Range.exact(720.0)
