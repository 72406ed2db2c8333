"""Which framework a configuration is written for, told by keys only that framework has.

It matters because a bare `batch_size` counts one device in some frameworks and all in others.
Source of the keys: the configuration documentation of each framework.
"""

from compute_budget_planner.readers.nodes import Document

_KEYS_OF: dict[str, tuple[str, ...]] = {
    "axolotl": ("base_model", "micro_batch_size", "datasets"),
    "composer": ("max_duration", "global_train_batch_size"),
    "gpt-neox": ("train_micro_batch_size_per_gpu", "train_iters"),
    "lightning": ("seed_everything", "trainer"),
    "litgpt": ("train.global_batch_size", "train.micro_batch_size"),
    "nanotron": ("tokens.micro_batch_size", "tokens.batch_accumulation_per_replica"),
    "torchtitan": ("training.seq_len", "activation_checkpoint.mode"),
    "ultralytics": ("imgsz", "nbs"),
}
_TORCHTUNE = "torchtune."
_LIGHTNING_OWN = {"accelerator", "accumulate_grad_batches", "limit_train_batches"}
_LIGHTNING = {"devices", "max_epochs", "max_steps", "strategy", "precision", "gradient_clip_val"}
"""Arguments of Lightning's Trainer: those only it has, and those others have too."""


def framework_of(document: Document) -> str | None:
    """Return the framework whose own keys all stand in the file, or None."""
    root = document.root
    for framework, keys in _KEYS_OF.items():
        if all(root.get(*key.split(".")) is not None for key in keys):
            return framework
    trainer = root.get("trainer")
    arguments = trainer.mapping.keys() if trainer is not None else set()
    if arguments & _LIGHTNING_OWN and arguments & _LIGHTNING:
        return "lightning"
    components = (leaf.value for leaf in document.leaves() if leaf.key == "_component_")
    if any(isinstance(value, str) and value.startswith(_TORCHTUNE) for value in components):
        return "torchtune"
    return None
