"""Which member of the Hugging Face family a file belongs to, and what that takes for granted.

Source of the defaults: the documentation of `transformers.TrainingArguments`, of TRL's
`SFTConfig`, `DPOConfig` and `GRPOConfig`, and the argument classes of LLaMA-Factory. Older TRL
releases had the Trainer's own precision and activation checkpointing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from compute_budget_planner.readers.nodes import Document

_TRAINER: dict[str, object] = {
    "micro_batch_size": 8,
    "grad_accum_steps": 1,
    "epochs": 3,
    "learning_rate": 5e-5,
    "precision": "fp32",
    "optimizer": "adamw",
    "activation_checkpointing": "none",
    "checkpoint_every_steps": 500,
}
_TRL: dict[str, object] = _TRAINER | {
    "precision": "bf16",
    "activation_checkpointing": "full",
    "method": "full-ft",
}
_TRL_MARKS = {
    "dataset_mixer",
    "dataset_mixture",
    "dataset_text_field",
    "max_prompt_length",
    "max_completion_length",
    "num_generations",
    "beta",
}
_TRL_MARKS_WITH_DATASET = {"use_peft", "max_length", "packing", "assistant_only_loss"}
_LLAMAFACTORY_MARKS = {"finetuning_type", "cutoff_len", "neat_packing"}


@dataclass(frozen=True)
class Dialect:
    """Framework, objective (empty: the file does not say) and defaults by fact name."""

    framework: str
    objective: str
    defaults: Mapping[str, object]


TRANSFORMERS = Dialect("transformers", "", _TRAINER)
TRL_SFT = Dialect("trl", "", _TRL | {"learning_rate": 2e-5, "seq_len": 1024})
TRL_DPO = Dialect("trl", "dpo", _TRL | {"learning_rate": 1e-6, "seq_len": 1024})
TRL_GRPO = Dialect("trl", "grpo", _TRL | {"learning_rate": 1e-6, "num_generations": 8})
LLAMAFACTORY = Dialect(
    "llama-factory",
    "",
    _TRAINER | {"activation_checkpointing": "full", "seq_len": 2048, "method": "lora"},
)


def dialect_of(document: Document) -> Dialect:
    """Return the family member whose own keys the file uses."""
    keys = document.keys() | document.root.mapping.keys()
    if keys & _LLAMAFACTORY_MARKS:
        return LLAMAFACTORY
    if keys & {"num_generations", "max_completion_length"}:
        return TRL_GRPO
    if "beta" in keys:
        return TRL_DPO
    own = keys & _TRL_MARKS or ("dataset_name" in keys and keys & _TRL_MARKS_WITH_DATASET)
    return TRL_SFT if own else TRANSFORMERS
