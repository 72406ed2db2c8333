"""What all configuration readers share: leaves of a tree as options, paths as references."""

import re
from collections.abc import Iterable

from compute_budget_planner.readers.contract import Fact, FileReference, Problem, SourceFile
from compute_budget_planner.readers.nodes import Document, Leaf
from compute_budget_planner.readers.option_names import Option, is_known_option

_OPTION_OF_MEMBER = {
    "lora_rank": "lora.r lora.rank peft.r peft.rank adapter.r lora_config.r peft_config.r",
    "use_lora": "lora.enabled lora.enable peft.enabled",
    "dataset": "dataset.name data.name data.dataset dataset.path datasets.path",
    "optimizer": "optim.name optim.type",
}
_OPTION = {member: name for name, words in _OPTION_OF_MEMBER.items() for member in words.split()}
_ROLES = {
    "base": "base _base_ base_config inherit inherits extends parent",
    "model_config": "model_config model_config_path config_name model_cfg",
    "deepspeed": "deepspeed deepspeed_config deepspeed_config_file ds_config",
    "accelerate": "accelerate_config config_file",
    "data": "data_path data_dir dataset_path dataset_dir train_file train_data data_root",
    "script": "script entrypoint program",
}
_ROLE = {key: role for role, words in _ROLES.items() for key in words.split()}
_PATH = re.compile(
    r"[^\s:${}<>|]+/[^\s:${}<>|]*|[^\s:/${}<>|]+\.(?:ya?ml|json|toml|py|jsonl|csv|txt)"
)
_ASIDE = {"hub", "wandb", "mlflow", "tensorboard", "tracking"}
_NETWORKS = {"model", "net", "network", "backbone", "encoder", "decoder"}
_BITS = re.compile(r"(?:bnb[._-]?)?(?:nf|int)?([48])(?:[ _-]?bits?)?", re.I)
_OUTPUT_KEYS = ("output_dir", "out_dir", "save_dir", "output_path", "checkpoint_dir")


def options_of(file: SourceFile, leaves: Iterable[Leaf]) -> list[Option]:
    """Return leaves as (dotted name, value, `path:line`); lists stay lists.

    Sections that only publish, track or tune a detail are left out: a `strategy` there is no
    sharding.
    """
    options: list[Option] = []
    for leaf in leaves:
        if any(part in _ASIDE or part.endswith("_kwargs") for part in leaf.sections):
            continue
        if leaf.key == "input_size" and _NETWORKS.intersection(leaf.sections):
            continue  # the width of a layer's input, no edge of an image
        where = leaf.place(file)
        if leaf.key in ("quantization", "quant") and (bits := _BITS.fullmatch(str(leaf.value))):
            options.append(("quantization_bit", bits[1], where))
            continue
        member = ".".join(leaf.path[-2:]).lower()
        raw = list(leaf.value) if isinstance(leaf.value, tuple) else leaf.value
        options.append((_OPTION.get(member, leaf.dotted), raw, where))
    return options


def references_of(file: SourceFile, document: Document) -> tuple[FileReference, ...]:
    """Return the files a configuration names, each with the role its key gives it."""
    found = []
    for leaf in document.leaves():
        role = _ROLE.get(leaf.key.lower())
        values = leaf.value if isinstance(leaf.value, tuple) else (leaf.value,)
        for value in values:
            if role and isinstance(value, str) and len(value) < 400 and _PATH.fullmatch(value):
                found.append(FileReference(value, role, leaf.place(file)))
    return tuple(found)


def output_dir_of(document: Document) -> str:
    """Return the folder a configuration writes to, or an empty text."""
    for leaf in document.leaves():
        if leaf.key.lower() in _OUTPUT_KEYS and isinstance(leaf.value, str):
            return leaf.value[:400]
    return ""


def sweep_problems(
    file: SourceFile, document: Document, facts: Iterable[Fact]
) -> tuple[Problem, ...]:
    """Return a problem for every known key that gives several values instead of one."""
    used = {fact.source for fact in facts}
    found = []
    for leaf in document.leaves():
        where = leaf.place(file)
        several = isinstance(leaf.value, tuple) and len(leaf.value) > 1
        if several and is_known_option(leaf.dotted) and where not in used:
            text = f"`{leaf.dotted[:80]}` gives several values; state the one of this run"
            found.append(Problem(where, text))
    return tuple(found)
