"""Predicted against published GPU-hours of whole runs.

Scored are the kinds of hours that hold a whole run: the authors' total, wall-clock × devices,
and MLPerf's time to train. A row that does not say how long was trained, or what one sample
costs, nobody can predict: it is set aside with the reason.
"""

import math
import re
from collections.abc import Iterable
from functools import lru_cache, partial
from pathlib import Path

from compute_budget_planner.guide.reference import Reference
from devices import device
from held_out import references_by_source
from report import Scored
from rows import Row, read_rows, source_of
from sample_rows import RawFacts, gpu_hours, gpu_hours_after_start, scored
from vision import HELD_OUT

_KINDS = {"reported", "wall_x_gpus", "mlperf_ttt"}
_MODELS: tuple[tuple[str, RawFacts], ...] = (
    (r"^ResNet-50|resnet50", {"model": "resnet50"}),
    (r"^ResNet-18", {"model": "resnet18"}),
    (r"se-resnext101-32x4d", {"model": "seresnext101_32x4d"}),
    (r"^ViT-B/16$", {"model": "vit-b/16"}),
    (r"^(DETR|detr) R50", {"model": "detr-r50", "objective": "detection"}),
    (r"^detr-dc5", {"model": "detr-dc5-r50", "objective": "detection"}),
    (
        r"^deformable-detr(-iter|-two-stage)? R50",
        {"model": "deformable-detr-r50", "objective": "detection"},
    ),
    (r"^faster-rcnn-fpn R50", {"model": "faster-rcnn-r50-fpn", "objective": "detection"}),
    (r"Mask R-CNN R50-FPN", {"model": "mask-rcnn-r50-fpn", "objective": "detection"}),
    (r"Stable Diffusion v2", {"model": "stable-diffusion-2.1-base", "objective": "diffusion"}),
    (r"^GPT-3 175B", {"model": "gpt3-175b"}),
    (r"^Llama-3.1-405B", {"model": "llama-3.1-405b"}),
    (r"^Llama-3.1-8B", {"model": "llama-3.1-8b"}),
    (r"^BERT|^ELECTRA", {"model_family": "bert", "objective": "mlm"}),
    (r"pruned\+distilled", {"objective": "distillation"}),
)
_SHAPE = ("n_layers", "d_model", "n_heads", "n_kv_heads", "d_ff")
_SOFTWARE = (
    (r"HF BERT|^transformers", "transformers"),
    (r"PEFT", "peft"),
    (r"FFCV", "ffcv"),
    (r"llm-foundry", "llm-foundry"),
    (r"gpt-neox|GPT-NeoX", "gpt-neox"),
    (r"Megatron\+DeepSpeed", "megatron-deepspeed"),
    (r"Megatron", "megatron-lm"),
    (r"NeMo", "nemo"),
    (r"DeepSpeed", "deepspeed"),
    (r"fairseq", "fairseq"),
    (r"TF1|TensorFlow", "tensorflow"),
    (r"open_clip", "open-clip"),
    (r"timm", "timm"),
    (r"PyTorch|xformers|FSDP", "pytorch"),
)
_PROJECTS = {"NVIDIA": "NVIDIA/DeepLearningExamples", "MLPerf": "mlcommons"}
"""Sources of hours whose speeds belong to the fit: they are predicted without them."""

_METHODS = {"pretrain": "pretrain", "finetune": "full-ft", "qlora": "qlora"}


def score(path: Path, reference: Reference) -> list[Scored]:
    """Return every run that says what was trained for how long on what."""
    found = []
    reference_of = lru_cache(maxsize=None)(references_by_source(reference, path=HELD_OUT))
    for row in read_rows(path):
        if row["hours_kind"] not in _KINDS or set_aside(row):
            continue
        unseen = reference_of(_PROJECTS.get(source_of(row), ""))
        found.append(
            scored(
                row["id"],
                row_facts(row, unseen),
                unseen,
                quantity="gpu_hours",
                regime=f"{_kind(row)} {row['hours_kind']}",
                source=source_of(row),
                measured=partial(measured_gpu_hours, row),
                read=gpu_hours_after_start if "excl. init" in row["notes"] else gpu_hours,
            )
        )
    return found


def measured_gpu_hours(row: Row) -> float:
    """Return the published GPU-hours."""
    return float(row["gpu_hours_calc"])


def aside(rows: Iterable[Row]) -> dict[str, int]:
    """Return how many rows of the scored kinds are set aside for which reason."""
    counts: dict[str, int] = {}
    for row in rows:
        reason = set_aside(row) if row["hours_kind"] in _KINDS else ""
        if reason:
            counts[reason] = counts.get(reason, 0) + 1
    return counts


def set_aside(row: Row) -> str:
    """Return why nobody could predict a run from its row; empty when one can."""
    if row["modality"] == "rl":
        return "the length of the rollouts is not stated"
    if _cost(row) is None:
        return "what one sample costs is not stated"
    if not _length(row):
        return "how long was trained is not stated"
    if not row["gpu"]:
        return "the accelerator is not stated"
    return ""


def row_facts(row: Row, reference: Reference) -> RawFacts:
    """Return the facts a row states."""
    raw: dict[str, object] = {
        **(_cost(row) or {}),
        **_length(row),
        "gpu": device(row["gpu"], reference, row["notes"]),
        "n_gpus": _whole(row["n_gpus"]),
        "precision": _precision(row),
        "framework": next((n for w, n in _SOFTWARE if re.search(w, row["framework"])), ""),
        "method": _METHODS[row["method"]],
    }
    if row["hours_kind"] == "mlperf_ttt" and row["modality"] != "llm":
        raw["framework"] = "mlperf"
    said = row["framework"] + ";" + row["precision"] + ";" + row["notes"]
    if re.search(r"grad(ient)?\.? (ckpt|checkpointing)|act\. checkpointing", said):
        raw["activation_checkpointing"] = "full"
    zero = re.search(r"ZeRO-(\d)", row["framework"])
    if zero:
        raw["sharding"] = f"zero{zero.group(1)}"
    elif "FSDP" in row["framework"]:
        raw["sharding"] = "fsdp"
    for name in ("tp", "pp", "ep"):
        size = re.search(rf"\b{name.upper()}(\d+)", row["framework"])
        if size:
            raw[name] = int(size.group(1))
    raw |= _shared_equally(_batch(row), raw)
    if "channels_last" in row["precision"]:
        raw["channels_last"] = True
    if "XLA" in row["precision"]:
        raw["compile"] = True
    return raw


def _cost(row: Row) -> RawFacts | None:
    """Return what says how much one sample costs, None when the row does not."""
    known = next((facts for words, facts in _MODELS if re.search(words, row["arch"])), {})
    image: dict[str, object] = {}
    if _image_size(row["image_size"]):
        image["image_size"] = _image_size(row["image_size"])
    if "model" in known:
        seq_len = _leading(row["seq_len"])
        return {**known, **(image if not seq_len else {"seq_len": seq_len})}
    if row["flops_per_sample_fwd"]:
        return {
            "model_family": re.split(r"[ v]", row["arch"], maxsplit=1)[0],
            "flops_per_sample_forward": float(row["flops_per_sample_fwd"]),
            "params_total": _whole(row["params_total"]),
            "objective": {"clip": "contrastive"}.get(row["modality"], row["modality"])
            if row["modality"] in ("clip", "detection")
            else "classification",
            **image,
        }
    if row["modality"] not in ("llm", "encoder") or not row["seq_len"]:
        return None
    shape: dict[str, object] = {name: _whole(row[name]) for name in _SHAPE}
    shape["vocab_size"] = _whole(row["vocab"])
    shape["params_total"] = _whole(row["params_total"])
    shape["params_active"] = _whole(row["params_active"])
    return {**known, **shape, "seq_len": _leading(row["seq_len"])}


def _length(row: Row) -> RawFacts:
    """Return how long was trained; empty when the row does not say."""
    if row["tokens_total"]:
        return {"train_tokens": float(row["tokens_total"])}
    if row["steps"] and _batch(row):
        return {"max_steps": _whole(row["steps"])}
    samples = _whole(row["trained_seq_or_sample_total"])
    if samples:
        return {"dataset_examples": samples, "epochs": 1}
    if row["dataset_samples"].replace(".", "").isdigit() and re.match(r"[\d.]+$", row["epochs"]):
        return {"dataset_examples": _whole(row["dataset_samples"]), "epochs": float(row["epochs"])}
    return {}


def _batch(row: Row) -> RawFacts:
    text = row["global_batch"]
    tokens = re.match(r"(\d+)M tokens", text)
    seq_len = _leading(row["seq_len"])
    if tokens and seq_len:
        return {"global_batch_size": int(tokens.group(1)) * 2**20 // seq_len}
    each = re.match(r"(\d+) per GPU", text)
    if each:
        return {"micro_batch_size": int(each.group(1))}
    return {"global_batch_size": int(text)} if text.isdigit() else {}


def _shared_equally(batch: RawFacts, raw: RawFacts) -> RawFacts:
    """Return the batch if the ranks can share it; one they cannot is a rounded one."""
    ranks, split = raw["n_gpus"], int(str(raw.get("tp", 1))) * int(str(raw.get("pp", 1)))
    whole = batch.get("global_batch_size")
    if isinstance(whole, int) and isinstance(ranks, int) and whole % max(1, ranks // split):
        return {}
    return batch


def _precision(row: Row) -> str:
    text = row["precision"].lower()
    if "submission" in text:
        # Tuned code uses the narrowest format listed that its device and model have.
        return "fp8" if row["modality"] == "llm" else "fp16"
    if text.startswith("fp8"):
        return "fp8"
    if "bf16" in text:
        return "bf16"
    if "fp16" in text or text == "amp":
        return "fp16"
    return next((name for name in ("tf32", "fp32") if name in text), "")


def _kind(row: Row) -> str:
    kinds = {"llm": "language model", "encoder": "language model", "clip": "contrastive"}
    return kinds.get(row["modality"], row["modality"])


def _image_size(text: str) -> int:
    """Return the edge in pixels; of a size that grows, the mean over the run."""
    grows = re.match(r"(\d+)->(\d+) progressive \((\d+)%/(\d+)%\)", text)
    if grows:
        first, last, before, after = (int(part) for part in grows.groups())
        return round((first * before + last * after) / 100)
    sides = re.match(r"800-1333$", text)
    if sides:
        return round(math.sqrt(800 * 1333))
    return int(text) if text.isdigit() else 0


def _leading(text: str) -> int:
    match = re.match(r"\d+", text)
    return int(match.group()) if match else 0


def _whole(text: str) -> int | None:
    try:
        return round(float(text))
    except ValueError:
        return None
