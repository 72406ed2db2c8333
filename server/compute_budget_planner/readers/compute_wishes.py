"""Compute as people write it in a plan: `4x A100-80GB, at most 200 GPU-hours, by 2026-03-01`."""

import re
from collections.abc import Iterator

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.direct_facts import DirectValue

_GPU_HOURS = re.compile(
    r"(?<![\w.])(\d[\d,]*(?:\.\d+)?\s*k?)\s*(?:[A-Z][\w-]*\s+)?GPU[\s-]?h(?:ours?|rs?)?\b", re.I
)
_DEVICES = re.compile(r"(?<![\w.])(\d{1,5})\s*[x×*]?\s*(?=[A-Za-z])((?:[\w/-]+[ \t]*){1,5})")
_GPU_WORD = re.compile(r"(?<![\w.])(\d{1,5})\s*[x×*]?\s*GPUs?\b(?![\s-]*h)", re.I)
_DEADLINE = re.compile(r"(?:deadline|due|by|until)\b[^0-9]{0,20}(\d{4}-\d{2}-\d{2})", re.I)


def compute_values(text: str, source: str, reference: Reference) -> Iterator[DirectValue]:
    """Return GPU-hours at hand, deadline, and number and type of GPUs a text names."""
    text = text[:1000]
    yield from ceiling_values(text, source)
    for match in _DEVICES.finditer(text):
        words = match[2].strip().split()
        for length in range(len(words), 0, -1):
            name = " ".join(words[:length])
            if reference.find_accelerators(name):
                yield "n_gpus", match[1], source
                yield "gpu", name, source
                return
    if counted := _GPU_WORD.search(text):
        yield "n_gpus", counted[1], source


def ceiling_values(text: str, source: str) -> Iterator[DirectValue]:
    """Return GPU-hours at hand and the deadline a text names."""
    if match := _GPU_HOURS.search(text):
        yield "available_gpu_hours", re.sub(r"[,\s]", "", match[1]), source
    if match := _DEADLINE.search(text):
        yield "deadline", match[1], source
