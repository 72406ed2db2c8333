"""GPT-NeoX: Megatron's arguments as one mapping, dashed or underscored.

Source: `configs/neox_arguments.md` of EleutherAI/gpt-neox.
"""

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings
from compute_budget_planner.readers.nodes import Document, Node

_ATTENTION = ("attention_config", "attention-config")
_MARKS = {"train_micro_batch_size_per_gpu", "num_layers", "train_iters"}


def _is_neox(document: Document) -> bool:
    return {key.replace("-", "_") for key in document.root.mapping} >= _MARKS


def _spelling(settings: Settings) -> Spelling:
    kinds = _layer_kinds(settings)
    attention_free = bool(kinds) and kinds <= {"mamba", "rwkv"}
    return Spelling(
        "neox",
        "gpt-neox",
        derived=[
            settings.say("model_family", kinds.pop() if len(kinds) == 1 else None, *_ATTENTION)
            if attention_free
            else settings.say("model_family", None)
        ],
        # Layers without attention have no heads, whatever the file says.
        dropped=frozenset({"n_heads", "n_kv_heads"} if attention_free else ()),
    )


def _layer_kinds(settings: Settings) -> set[str]:
    """Return the kinds of layers named in `[[["mamba"], 48]]`."""
    node = next((n for key in _ATTENTION if (n := settings.node(key)) is not None), None)
    return {kind for group in (node.items if node else ()) for kind in _words(group)}


def _words(group: Node) -> set[str]:
    named = group.items[0].items if group.items else ()
    return {item.value for item in named if isinstance(item.value, str)}


READER = FrameworkReader("neox", _is_neox, _spelling)
