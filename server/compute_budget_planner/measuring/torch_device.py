"""What PyTorch says of the device it would train on, in the guide's words."""

import os
import platform
from typing import Any

from compute_budget_planner.errors import RequestError
from compute_budget_planner.measuring.backend import Device

# NVIDIA compute capability (major, minor; None: any) → architecture, generation of the guide.
_CAPABILITIES: tuple[tuple[int, int | None, str, str], ...] = (
    (6, None, "Pascal", "volta-turing"),
    (7, 5, "Turing", "volta-turing"),
    (7, None, "Volta", "volta-turing"),
    (8, 0, "Ampere", "a100"),
    (8, 9, "Ada", "ampere-workstation"),
    (8, None, "Ampere", "ampere-workstation"),
    (9, None, "Hopper", "hopper"),
    (10, None, "Blackwell", "blackwell"),
    (12, None, "Blackwell", "ampere-workstation"),
)
_FP8_SINCE = (8, 9)


def describe_device(torch: Any) -> Device:
    """Return the first CUDA or ROCm device, or the CPU where there is none."""
    return _gpu(torch) if torch.cuda.is_available() else _cpu(torch)


def _gpu(torch: Any) -> Device:
    count = torch.cuda.device_count()
    properties = torch.cuda.get_device_properties(0)
    names = {torch.cuda.get_device_name(index) for index in range(count)}
    if len(names) > 1:
        raise RequestError(
            f"different devices are visible: {', '.join(sorted(names))}",
            where="measure",
            remedy="Show it one kind, such as CUDA_VISIBLE_DEVICES=0.",
        )
    capability = torch.cuda.get_device_capability(0)
    if torch.version.hip:
        name = str(properties.name)
        instinct = "instinct" in name.lower()
        vendor, architecture = "AMD", str(properties.gcnArchName).split(":")[0]
        generation = "amd-instinct" if instinct else "other"
        runtime, native_bf16, fp8 = f"ROCm {torch.version.hip}", True, False
    else:
        vendor, (architecture, generation) = "NVIDIA", _of_capability(*capability)
        runtime = f"CUDA {torch.version.cuda}"
        native_bf16, fp8 = capability >= (8, 0), capability >= _FP8_SINCE
    return Device(
        name=str(properties.name),
        is_cpu=False,
        count=count,
        memory_gib=properties.total_memory / 2**30,
        vendor=vendor,
        architecture=architecture,
        generation=generation,
        software=f"PyTorch {torch.__version__}, {runtime}",
        precisions=("fp32", "tf32", "fp16", "bf16", *(("fp8",) if fp8 else ())),
        training_precision="bf16" if native_bf16 else "fp16",
    )


def _of_capability(major: int, minor: int) -> tuple[str, str]:
    for known_major, known_minor, architecture, generation in _CAPABILITIES:
        if major == known_major and known_minor in (None, minor):
            return architecture, generation
    return f"compute capability {major}.{minor}", "other"


def _cpu(torch: Any) -> Device:
    machine = platform.machine() or "unknown"
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if _counts_pages() else 0
    return Device(
        name=f"CPU-{machine}-{torch.get_num_threads()}-threads",
        is_cpu=True,
        count=1,
        memory_gib=pages / 2**30,
        vendor="CPU",
        architecture=machine,
        generation="other",
        software=f"PyTorch {torch.__version__}",
        precisions=("fp32", "bf16"),
        training_precision="fp32",
    )


def _counts_pages() -> bool:
    return "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {})
