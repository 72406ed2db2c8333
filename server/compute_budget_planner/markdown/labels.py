"""From a field's name to the words and the unit a reader sees."""

_UNITS = {
    "hours": "hours",
    "minutes": "minutes",
    "seconds": "seconds",
    "gib": "GiB",
    "usd": "USD",
    "kwh": "kWh",
    "percent": "%",
}
_WORDS = {
    "cpus": "CPUs",
    "flops": "FLOPs",
    "gib": "GiB",
    "gpu": "GPU",
    "gpus": "GPUs",
    "id": "ID",
    "kwh": "kWh",
    "mfu": "MFU",
    "sha256": "SHA-256",
    "usd": "USD",
}


def unit_of(field: str) -> str:
    """Return the unit a field's name ends in, or nothing: `peak_gib` → `GiB`.

    GPU-hours are a quantity of their own: the label says it, so the value has no unit.
    """
    stem, _, last = field.rpartition("_")
    return "" if stem.endswith("gpu") or not stem else _UNITS.get(last, "")


def label_of(field: str) -> str:
    """Return the words of a field without its unit: `wall_clock_hours` → `wall clock`."""
    words = field.split("_")
    if unit_of(field):
        words = words[:-1]
    if words[0] == "n" and len(words) > 1:
        words = ["number", "of", *words[1:]]
    text = " ".join(_WORDS.get(word, word) for word in words)
    return text.replace("GPU hours", "GPU-hours")


def heading_of(field: str) -> str:
    """Return a field's words as they open a line or a section: `flops_total` → `FLOPs total`."""
    words = label_of(field)
    return words[:1].upper() + words[1:]


def column_of(field: str) -> str:
    """Return a field's words and unit as the head of a column: `share_percent` → `share (%)`."""
    unit = unit_of(field)
    return f"{label_of(field)} ({unit})" if unit else label_of(field)
