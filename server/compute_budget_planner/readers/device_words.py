"""Accelerators in the names of queues, partitions, node pools and labels."""

import re

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.cloud_instances import instance_of

_CARD = re.compile(r"(?:rtx|gtx)-?\d{4}\w*", re.IGNORECASE)
_PACKED = re.compile(
    r"(?:nvidia|amd|tesla|gpu|\d{1,2}(?=[a-z]))*[_-]*(?P<chip>[a-z]{1,3}\d{1,7}[a-z]?)[_-]?"
    r"(?P<form>nvlink|sxm\d??|pcie)?[_-]?(?P<memory>\d{2,3})?(?:gb?)?[_-]?(?P<tail>sxm\d?|pcie)?",
    re.IGNORECASE,
)
_MACHINE = re.compile(r"[a-z]\d+-[a-z]+gpu-\d+g", re.IGNORECASE)
_DIGITS = re.compile(r"(?P<letters>[a-z]+)(?P<digits>\d+)", re.IGNORECASE)


def accelerator_words(text: str, reference: Reference) -> list[str]:
    """Return the words of a name that mean accelerators, such as `h100` in `gpu_h100`.

    A queue `4a100-40` has four A100 with 40 GB in a node, a label `h100nvlink80` an H100 with 80.
    """
    found = []
    for word in re.split(r"[|&,\[\]()*\s]+", text[:200]):
        instance = instance_of(word, reference)
        if instance is not None or _MACHINE.fullmatch(word):
            found += [instance.gpu] if instance is not None and instance.gpu not in found else []
            continue
        full = re.sub(r"(\d)g$", r"\1gb", word)
        parts = [full, *_unpacked(word), *re.split(r"[_:-]", word)]
        known = next((p for p in parts if p and reference.find_accelerators(p)), None)
        known = known or next((p for p in parts if _CARD.fullmatch(p)), None)
        if known is not None and known not in found:
            found.append(known)
    return found


def _unpacked(word: str) -> list[str]:
    """Return the spellings of chip, form and memory that stand in a word without separators."""
    match = _PACKED.fullmatch(word)
    if match is None:
        return []
    form = (match["form"] or match["tail"] or "").lower().rstrip("0123456789")
    kinds = [form] if form in ("sxm", "pcie") else []
    pairs = [(match["chip"], match["memory"] or "")]
    if not match["memory"] and (number := _DIGITS.fullmatch(match["chip"])):
        # `A10080` is an A100 with 80 GB: the digits do not tell where the name ends.
        pairs = [
            (number["letters"] + number["digits"][:end], number["digits"][end:])
            for end in (3, len(number["digits"]), 2)
        ]
    found = []
    for chip, size in pairs:
        memory = f"{size}gb" if size else ""
        for parts in ([chip, *kinds, memory], [chip, memory, *kinds], [chip, memory]):
            found.append("-".join(filter(None, parts)))
    return [*found, pairs[0][0]]
