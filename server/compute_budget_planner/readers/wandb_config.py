"""`config.yaml` of a Weights & Biases run: what the run was configured with.

Every key holds its value one level down, with a description in the old form; under `_wandb` stands
what W&B itself adds. With the Hugging Face Trainer it holds the training arguments and the
model's own configuration side by side. Source: the documentation of wandb.
"""

from collections.abc import Iterator

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.nodes import Document, Leaf, Node
from compute_budget_planner.readers.run_log import RunLog
from compute_budget_planner.readers.structured import load_mapping, mapping_of
from compute_budget_planner.workload.model_families import find_family

_OWN = {"_wandb", "wandb_version"}
_OTHER_NAMES = {
    "hidden_dim": "d_model",
    "num_params": "params_total",
    "n_params": "params_total",
    "model/num_parameters": "params_total",
    "ff_hidden": "d_ff",
}
_SHAPE = frozenset(
    ["n_kv_heads", "tie_word_embeddings", "num_key_value_heads", "vocab_size", "head_dim"]
)
_WIDTHS = {"hidden_size", "n_embd", "d_model", "hidden_dim", "dim"}
_TOKENISED = {"packing", "dataset_text_field", "completion_only_loss", "max_prompt_length"}
"""With one of these `max_length` is that of training; else the model's for generating text."""


class WandbConfigReader:
    """The configuration W&B keeps with a run."""

    format = "wandb_config"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether W&B's own block stands among keys that hold a `value` each."""
        document = mapping_of(file)
        return document is not None and bool(_OWN & set(document.root.mapping))

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the configuration as that of an earlier run.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        config = Document(Node(dict(_members(document.root)), 1), ())
        keys = set(config.root.mapping)
        trainer = "per_device_train_batch_size" in keys
        log = RunLog(file, "transformers" if trainer else "")
        log.problems += document.problems
        for leaf in config.leaves():
            if _says_something(leaf, keys):
                raw = list(leaf.value) if isinstance(leaf.value, tuple) else leaf.value
                log.option(_name(leaf, document.root), raw, leaf.line)
        _tell_names(log, config.root, trainer=trainer)
        return log.reading(self.format, reference)


def _members(root: Node) -> Iterator[tuple[str, Node]]:
    """Yield the keys with what their `value` holds."""
    for key, node in root.mapping.items():
        if key not in _OWN:
            value = node.get("value")
            yield key, value if value is not None else node


def _says_something(leaf: Leaf, keys: set[str]) -> bool:
    """Pass over what the configuration of a model holds for other purposes than training."""
    if leaf.dotted == "max_length":
        return "per_device_train_batch_size" not in keys or bool(_TOKENISED & keys)
    if leaf.dotted in _SHAPE:
        return bool(_WIDTHS & keys)
    return leaf.dotted not in ("model_type", "max_position_embeddings")


def _name(leaf: Leaf, root: Node) -> str:
    """Return the option a key stands for; the only device of a host makes its batch the whole."""
    if leaf.dotted in ("batch_size", "train_batch_size") and _single_device(root):
        return "global_batch_size"
    return _OTHER_NAMES.get(leaf.dotted, leaf.dotted)


def _single_device(root: Node) -> bool:
    """Tell whether the run's host has one GPU and the configuration no accumulation."""
    accumulation = ("gradient_accumulation_steps", "grad_accum_steps", "accumulate_grad_batches")
    if any(key in root.mapping for key in accumulation):
        return False
    block = root.get("_wandb", "value", "e") or root.get("_wandb", "e")
    hosts = list(block.mapping.values()) if block is not None else []
    counts = [host.get("gpu_count") for host in hosts]
    return len(counts) == 1 and counts[0] is not None and counts[0].scalar == 1


def _tell_names(log: RunLog, config: Node, *, trainer: bool) -> None:
    """Take the names of model and data set where they stand under other keys than elsewhere."""
    path, family = config.get("_name_or_path"), config.get("model_type")
    if path is not None and isinstance(path.scalar, str) and path.scalar:
        log.option("model", path.scalar, path.line)
    if family is not None and isinstance(family.scalar, str):
        known = find_family(family.scalar)
        log.say("model_family", known.name if known else family.scalar, family.line)
    name, variant = config.get("dataset_name"), config.get("dataset_config")
    # Of `wikitext` and `wikitext-103-raw-v1` the second is the whole name.
    if (
        name is not None
        and variant is not None
        and isinstance(variant.scalar, str)
        and variant.scalar.startswith(str(name.scalar))
    ):
        log.say("dataset", variant.scalar, variant.line)
    if trainer:
        log.say("framework", "transformers", None)


READER = WandbConfigReader()
