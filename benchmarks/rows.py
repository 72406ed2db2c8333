"""Measured rows of `llm_throughput.csv` as facts and a measured speed.

Only what a row states becomes a fact: its columns, and what its notes say of the software, the
recipe and the model's name. Nothing here looks at a measured column except
`measured_tokens_per_second_per_gpu`, which is called after predicting.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from compute_budget_planner.errors import FactError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.known_models import catalogue_facts, model_of_widths
from compute_budget_planner.workload.vocabulary import parse_fact

Row = Mapping[str, str]

_DIRECT = {
    "n_layers": "n_layers",
    "d_model": "d_model",
    "n_heads": "n_heads",
    "n_kv_heads": "n_kv_heads",
    "d_ff": "d_ff",
    "vocab": "vocab_size",
    "params_total": "params_total",
    "params_active": "params_active",
    "seq_len": "seq_len",
    "global_batch_seqs": "global_batch_size",
    "micro_batch_seqs": "micro_batch_size",
    "gpu": "gpu",
    "n_gpus": "n_gpus",
    "gpus_per_node": "gpus_per_node",
    "tp": "tp",
    "pp": "pp",
    "cp": "cp",
    "ep": "ep",
    "act_ckpt": "activation_checkpointing",
    "method": "method",
    "lora_rank": "lora_rank",
}
_FAMILIES = {"llama": "llama", "bert": "bert", "mpt": "mpt", "gpt3": "gpt2", "gpt": "gpt2"}
_SHARDINGS = {"fsdp-full": "fsdp", "hsdp": "fsdp", "fsdp-grad-op": "zero2", "zero1": "zero1",
              "none": "none", "ddp": "ddp"}  # fmt: skip
_PRECISIONS = {"mxfp8": "fp8", "nvfp4": "fp8"}
_FRAMEWORKS = (
    (r"megatron-deepspeed", "megatron-deepspeed"),
    (r"HF SFTTrainer", "trl"),
    (r"llm-foundry", "llm-foundry"),
    (r"megatron-bridge", "megatron-bridge"),
    (r"torchtitan", "torchtitan"),
    # Hugging Face model code under PyTorch FSDP.
    (r"fsdp_qlora", "transformers"),
    (r"build-nanogpt|accelerate|ForgeLM|pytorch torch\.compile", "pytorch"),
    (r"NeMo|nemo", "nemo"),
    (r"maxtext", "maxtext"),
    (r"paxml", "paxml"),
    (r"llm\.c", "llm.c"),
    (r"flash-attn training", "flash-attn"),
    # NVIDIA's BERT and Transformer examples: apex kernels, written in 2019 and 2020.
    (r"\(DLE", "apex"),
    (r"TensorFlow", "tensorflow"),
    (r"PaddlePaddle", "paddlepaddle"),
)
_SAID_IN_NOTES = (
    (r"FOAK fused kernels|Liger fused", "framework", "fms-acceleration"),
    (r"base weights GPTQ 4-bit|bnb NF4", "quantization", "nf4"),
    (r"\bCPU offload", "offload", "parameters"),
    (r"CPU \+ activation offload", "offload", "parameters"),
    (r"\bLAMB\b", "optimizer", "lamb"),
    (r"SQuAD (v1\.1 )?fine-tune|SQuAD$", "objective", "classification"),
    (r"mp_mode=PURE|pure-16-bit weights", "precision", "bf16-true"),
    (r"Liger fused linear CE|FOAK fused kernels", "fused_loss", True),
    (r"AC every 2nd layer", "activation_checkpointing", None),
)


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a csv file."""
    with path.open(encoding="utf-8", newline="") as handle:
        yield from csv.DictReader(handle)


def source_of(row: Row) -> str:
    """Return the source a row is left out with: up to the first space or @."""
    return row["source"].split(" ", maxsplit=1)[0].split("@", maxsplit=1)[0]


def row_facts(row: Row, reference: Reference) -> list[Fact]:
    """Return the facts a row states.

    Raises:
        FactError: a cell is not a value of its fact.
    """
    raw: dict[str, object] = {}
    for column, name in _DIRECT.items():
        text = row[column].strip()
        if text:
            raw[name] = float(text) if _is_number(text) else text
    if row["family"] in _FAMILIES:
        raw["model_family"] = _FAMILIES[row["family"]]
    if row["glu"]:
        raw["glu"] = float(row["glu"]) > 0
    raw["precision"] = _PRECISIONS.get(row["precision"], row["precision"])
    if row["flash_attn"]:
        raw["attention"] = "flash" if float(row["flash_attn"]) else "eager"
    if row["compile"]:
        raw["compile"] = float(row["compile"]) > 0
    if row["sharding"] in _SHARDINGS:
        raw["sharding"] = _SHARDINGS[row["sharding"]]
    raw |= _links(row)
    software = next((name for words, name in _FRAMEWORKS if re.search(words, row["framework"])), "")
    if software:
        raw["framework"] = software
    raw |= _notes(row)
    # Speed does not depend on the length of the run, but a run has one.
    raw["max_steps"] = 1000
    facts = [
        Fact(n, parse_fact(n, v, reference, row["id"]), Basis.STATED, row["id"], Layer.ARGUMENT)
        for n, v in raw.items()
    ]
    return _completed(facts, row, reference)


def _links(row: Row) -> dict[str, object]:
    """Return the links a row names; a rate per card counts for all cards of the machine."""
    text = row["interconnect"]
    raw: dict[str, object] = {}
    if "PCIe" in text:
        raw["intra_node_link"] = "pcie"
    elif "NVL" in text or "NVSwitch" in text:
        raw["intra_node_link"] = "nvlink"
    if any(word in text for word in ("IB", "RoCE", "RDMA", "EFA", "CX-7")):
        raw["inter_node_link"] = "infiniband"
    rate = re.search(r"(\d+) ?Gb(?:/s|ps)?\b", text)
    if rate:
        cards = float(row["gpus_per_node"]) if re.search(r"(per |/)GPU", text) else 1.0
        raw["inter_node_gbit_s"] = float(rate.group(1)) * cards
    return raw


def _notes(row: Row) -> dict[str, object]:
    raw: dict[str, object] = {}
    for words, name, value in _SAID_IN_NOTES:
        if not re.search(words, row["notes"] + ";" + row["source"]):
            continue
        if name == "precision" and row["precision"] != "bf16":
            continue
        if value is not None:
            raw[name] = value
    return raw


def _completed(facts: list[Fact], row: Row, reference: Reference) -> list[Fact]:
    """Return the facts with what the catalogue knows of a mixture of experts of these widths."""
    if row["family"] != "moe":
        return facts
    values = {fact.name: fact.value for fact in facts}
    known = model_of_widths(values, reference)
    if known is None:
        raise FactError("no known mixture of experts has these widths", where=row["id"])
    given = set(values) - {"d_ff", "params_total", "params_active", "glu"}
    kept = [f for f in facts if f.name not in ("d_ff", "params_total", "params_active", "glu")]
    return kept + [f for f in catalogue_facts(known, reference) if f.name not in given]


def measured_tokens_per_second_per_gpu(row: Row) -> float | None:
    """Return the measured speed in tokens per second and accelerator."""
    gpus = float(row["n_gpus"])
    if row["tokens_per_s_per_gpu"]:
        return float(row["tokens_per_s_per_gpu"])
    if row["tokens_per_s_total"]:
        return float(row["tokens_per_s_total"]) / gpus
    if row["samples_per_s_total"] and row["seq_len"]:
        return float(row["samples_per_s_total"]) * float(row["seq_len"]) / gpus
    if row["step_time_s"] and row["global_batch_seqs"] and row["seq_len"]:
        tokens = float(row["global_batch_seqs"]) * float(row["seq_len"])
        return tokens / float(row["step_time_s"]) / gpus
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
