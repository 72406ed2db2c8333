"""Accelerators as sources write them: with host names, watts and memory in any order."""

import re

from compute_budget_planner.guide.reference import Reference

_CHIPS = (
    "GB300|GB200|B300|B200|GH200|H200|H100|H800|A100|A800|V100|L40S|L40|L4|A30|A40|A10G|A10|A6000"
    r"|T4|TPU[ -]?v\d\w*|MI\d{3}X?|RTX[ -]?PRO[ -]?\d{4}"
    r"|(?:Quadro[ -])?RTX[ -]?\w?\d{4}(?:[ -](?:Ada|Ti))?"
)
_CHIP = re.compile(rf"(?:\b|(?<=\dx))({_CHIPS})(?![0-9])", re.IGNORECASE)
_FORM = re.compile(r"\b(SXM|PCIe|NVL)\d?", re.IGNORECASE)
_MEMORY = re.compile(r"(\d+) ?GB", re.IGNORECASE)


def device(text: str, reference: Reference, notes: str = "") -> str:
    """Return the name the guide knows a device by, as exact as the text is.

    A DGX that the notes name tells the form of its accelerators. The text itself where no
    reading of it is known: the refusal then quotes it.
    """
    if "DGX" in notes and not _FORM.search(text):
        text = re.sub("A100|V100", lambda match: f"{match.group()}-SXM", text)
    chip = _CHIP.search(text)
    if chip is None or reference.find_accelerators(text):
        return text
    name = re.sub(r"[ -]+", "-", chip.group(1)).replace("TPUv", "TPU-v")
    rest = text[chip.end() :]
    form, memory = _FORM.search(rest), _MEMORY.search(rest)
    forms = [form.group(1), f"{form.group(1)}2"] if form else []
    size = f"-{memory.group(1)}GB" if memory else ""
    candidates = [f"{name}-{f}{size}" for f in forms] + [f"{name}-{f}" for f in forms]
    candidates += [name + size, name]
    return next((c for c in candidates if reference.find_accelerators(c)), text)
