"""Measured rows of `llm_throughput.csv` as facts and a measured speed.

Only what a row states becomes a fact; nothing here looks at a measured column except
`measured_tokens_per_second_per_gpu`, which is called after predicting.
"""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.vocabulary import parse_fact

Row = Mapping[str, str]

_DIRECT = {
    "n_layers": "n_layers",
    "d_model": "d_model",
    "n_heads": "n_heads",
    "n_kv_heads": "n_kv_heads",
    "d_ff": "d_ff",
    "vocab": "vocab_size",
    "seq_len": "seq_len",
    "global_batch_seqs": "global_batch_size",
    "micro_batch_seqs": "micro_batch_size",
    "gpu": "gpu",
    "n_gpus": "n_gpus",
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
_FRAMEWORKS = {
    "megatron-deepspeed": "megatron-deepspeed",
    "HF SFTTrainer (fms-hf-tuning) + fms-acceleration": "trl",
    "llm-foundry/composer": "llm-foundry",
    "megatron-bridge": "megatron-bridge",
    "torchtitan": "torchtitan",
    "torchtitan+torchao": "torchtitan",
    "fsdp_qlora (PyTorch FSDP + bnb/hqq)": "pytorch",
}
_FRAMEWORK_PREFIXES = {"NeMo": "nemo", "nemo": "nemo", "TensorFlow": "tensorflow", "llm.c": "llm.c",
                       "PyTorch": "pytorch", "pytorch": "pytorch", "maxtext": "maxtext",
                       "paxml": "paxml", "flash-attn": "megatron"}  # fmt: skip


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a csv file."""
    with path.open(encoding="utf-8", newline="") as handle:
        yield from csv.DictReader(handle)


def source_of(row: Row) -> str:
    """Return the source a row is left out with: up to the first space or @."""
    return row["source"].split(" ")[0].split("@")[0]


def row_facts(row: Row, reference: Reference) -> list[Fact]:
    """Return the facts a row states."""
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
    framework = _FRAMEWORKS.get(row["framework"]) or next(
        (v for k, v in _FRAMEWORK_PREFIXES.items() if row["framework"].startswith(k)), None
    )
    if framework:
        raw["framework"] = framework
    raw["max_steps"] = 1000
    if not {"n_layers", "d_model", "n_heads"} <= raw.keys() and row["params_total"]:
        raw["params_total"] = float(row["params_total"])
    return [
        Fact(n, parse_fact(n, v, reference, row["id"]), Basis.STATED, row["id"], Layer.ARGUMENT)
        for n, v in raw.items()
    ]


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
