"""Predicted against measured speed outside language models, whole sources left out.

A row counts when its unit is samples and its model, read from its name, is one whose cost per
sample the catalogue knows or the row states. What remains is set aside with the reason.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from compute_budget_planner.guide.reference import Reference
from devices import device
from report import Scored
from rows import Row, source_of
from sample_rows import RawFacts, scored

_MODELS: tuple[tuple[str, str, RawFacts], ...] = (
    (r"resnet-?50|RN50|^resnet$", "ResNet-50", {"model": "resnet50", "image_size": 224}),
    (r"se-resnext101-32x4d", "image models", {"model": "seresnext101_32x4d"}),
    (r"resnext101-32x4d", "image models", {"model": "resnext101_32x4d"}),
    (r"efficientnet-(b[04])$", "image models", {"model": "efficientnet_{}"}),
    (r"^DiT-XL/2 256px", "diffusion", {"model": "dit-xl/2", "objective": "diffusion"}),
    (
        r"SD2-base U-Net|^stable_diffusion$",
        "diffusion",
        {"model": "stable-diffusion-2.1-base", "objective": "diffusion", "optimizer": "adamw"},
    ),
    (r"R50-FPN \| Faster R-CNN", "detection", {"model": "faster-rcnn-r50-fpn"}),
    (r"R101-FPN \| Faster R-CNN", "detection", {"model": "faster-rcnn-r101-fpn"}),
    (r"R50 \| RetinaNet", "detection", {"model": "retinanet-r50-fpn"}),
    (r"R101 \| RetinaNet", "detection", {"model": "retinanet-r101-fpn"}),
    (r"R50-FPN \| COCO Instance|Baseline R50-FPN \|", "detection", {"model": "mask-rcnn-r50-fpn"}),
    (r"R101-FPN \| COCO Instance", "detection", {"model": "mask-rcnn-r101-fpn"}),
    (r"^maskrcnn$", "detection", {"model": "mask-rcnn-r50-fpn"}),
    (r"^retinanet$", "detection", {"model": "retinanet-r50-fpn"}),
)
_DETECTION: RawFacts = {"objective": "detection", "optimizer": "sgd-momentum"}
_SAMPLES = ("img/s", "clips/s", "samples/s")
_SOFTWARE = (
    ("MxNet", "mxnet"),
    ("PaddlePaddle", "paddlepaddle"),
    ("TensorFlow", "tensorflow"),
    ("PyTorch", "pytorch"),
    ("pytorch", "pytorch"),
)
_MLPERF = "mlperf"
"""The task of rows whose code is tuned for that benchmark: a class of software."""


def score_rows(rows: Sequence[Row], reference_of: Callable[[str], Reference]) -> list[Scored]:
    """Return the rows whose unit and model can be mapped."""
    found = []
    for row in rows:
        if set_aside(row):
            continue
        reference = reference_of(left_out_project(row))
        found.append(
            scored(
                row["id"],
                row_facts(row, reference),
                reference,
                quantity="samples_per_second",
                regime=regime(row),
                source=left_out_project(row),
                measured=partial(measured_samples_per_second, row),
            )
        )
    return found


def set_aside(row: Row) -> str:
    """Return why a row cannot be predicted from what it states; empty when it can."""
    if "SUSPECT" in row["notes"]:
        return "marked SUSPECT"
    if not row["unit"].startswith(_SAMPLES):
        return "the unit is not samples"
    if _known(row) is None:
        return "neither the row nor the catalogue tells the FLOPs of one sample"
    if not row["n_gpus"]:
        return "the number of accelerators is not stated"
    return ""


def left_out_project(row: Row) -> str:
    """Return what a row is left out with: all rounds of MLPerf are one project."""
    source = source_of(row)
    return "mlcommons" if source.startswith("mlcommons/") else source


def aside(rows: Iterable[Row]) -> dict[str, int]:
    """Return how many rows are set aside for which reason."""
    counts: dict[str, int] = {}
    for row in rows:
        reason = set_aside(row)
        if reason:
            counts[reason] = counts.get(reason, 0) + 1
    return counts


def regime(row: Row) -> str:
    """Return kind of model × software × arithmetic."""
    known = _known(row)
    kind = known[0] if known else "unknown"
    software = "tuned" if _framework(row) in ("mxnet", "paddlepaddle", _MLPERF) else "stock"
    return f"{kind} {software} {'16-bit' if _precision(row) == 'fp16' else '32-bit'}"


def row_facts(row: Row, reference: Reference) -> RawFacts:
    """Return the facts a row states."""
    known = _known(row)
    kind, model = known if known else ("", {})
    raw: dict[str, object] = {
        **(_DETECTION if kind == "detection" else {}),
        **model,
        "gpu": device(row["gpu"], reference, row["notes"]),
        "n_gpus": round(float(row["n_gpus"])),
        "precision": _precision(row),
        "framework": _framework(row),
        # Speed does not depend on the length of the run, but a run has one. In epochs, so that
        # another plausible batch size is not another amount of work.
        "epochs": 1,
        "dataset_examples": 1_000_000,
    }
    if "image_size" not in raw and row["image_size_or_seq"].isdigit():
        raw["image_size"] = int(row["image_size_or_seq"])
    batch = re.match(r"\d+(\.\d+)?$", row["per_gpu_batch"])
    if batch and float(batch.group()) >= 1:
        raw["micro_batch_size"] = _per_device(row, float(batch.group()))
    if "XLA" in row["precision"]:
        raw["compile"] = True
    return raw


def measured_samples_per_second(row: Row) -> float:
    """Return the measured samples per second of the whole job."""
    return float(row["samples_per_s_total"])


def _known(row: Row) -> tuple[str, RawFacts] | None:
    for words, kind, facts in _MODELS:
        match = re.search(words, row["model"], re.IGNORECASE)
        if match:
            part = match.group(1) if match.groups() else ""
            return kind, {**facts, "model": str(facts["model"]).format(part)}
    return None


def _precision(row: Row) -> str:
    text = row["precision"].lower()
    if "amp" in text or "fp16" in text or "submission" in text:
        return "fp16"
    return "fp32" if "fp32" in text and "tf32" not in text else "tf32"


def _framework(row: Row) -> str:
    if row["task"] == _MLPERF:
        return _MLPERF
    where = row["source"].partition(":")[2]
    return next((name for word, name in _SOFTWARE if where.startswith(word)), "")


def _per_device(row: Row, batch: float) -> int:
    """Return the batch of one device: some tables list that of the whole job."""
    whole = "batch column as listed" in row["notes"]
    return max(1, round(batch / float(row["n_gpus"]) if whole else batch))
