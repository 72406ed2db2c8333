"""Axolotl: fine-tuning in one YAML file.

Source of the keys: axolotl's configuration reference. `bf16: auto` is bf16 on every device that
has it, whatever stands beside it.
"""

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.contract import Problem
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings, has_keys

_ADAPTERS = {"lora": "lora", "qlora": "qlora"}


def _spelling(settings: Settings) -> Spelling:
    return Spelling(
        "axolotl",
        "axolotl",
        own=[_precision(settings), _method(settings), _dataset(settings), *_attention(settings)],
        derived=[
            settings.say("sharding", _zero_stage(settings), "deepspeed"),
            settings.say("fused_loss", _fused_loss(settings), _LIGER),
        ],
        problems=_held_back(settings),
        # `model_type` names the loading class, `datasets` are read as a whole.
        dropped=frozenset({"model_family"}),
        left_out=("datasets", "test_datasets"),
    )


_LIGER = "liger_fused_linear_cross_entropy"


def _fused_loss(settings: Settings) -> object:
    return settings.scalar(_LIGER)


def _precision(settings: Settings) -> DirectValue:
    for word in ("bf16", "fp16", "float16", "bfloat16"):
        value = settings.scalar(word)
        if value in (True, "auto", "full", "true"):
            return settings.say("precision", word, word)
    return settings.say("precision", "tf32" if settings.scalar("tf32") is True else None, "tf32")


def _method(settings: Settings) -> DirectValue:
    """Return what is trained: with an empty `adapter` every weight."""
    adapter = settings.text("adapter").lower()
    if settings.node("adapter") is None and settings.node("lora_r") is not None:
        return settings.say("method", None)
    if adapter == "lora" and settings.scalar("load_in_4bit") is True:
        adapter = "qlora"
    if not adapter:
        return settings.say("method", "full-ft", "adapter", "base_model")
    return settings.say("method", _ADAPTERS.get(adapter), "adapter")


def _dataset(settings: Settings) -> DirectValue:
    datasets = settings.node("datasets")
    paths = [i.get("path") for i in datasets.items] if datasets is not None else []
    names = [p.scalar.rstrip("/") for p in paths if p is not None and isinstance(p.scalar, str)]
    # Folders of a machine say nothing; an organisation on a hub is part of the name.
    plain = [n.rsplit("/", 1)[-1] if n.startswith(("/", ".", "~")) else n for n in names]
    place = paths[0].place(settings.file) if paths and paths[0] is not None else ""
    return "dataset", " + ".join(plain)[:200] or None, place or settings.file.path


def _held_back(settings: Settings) -> list[Problem]:
    share = settings.scalar("val_set_size")
    if not isinstance(share, float) or not 0 < share < 1:
        return []
    text = f"`val_set_size` holds back {share:.0%} of the examples; count the rest."
    return [settings.ask(text, "val_set_size")]


def _attention(settings: Settings) -> list[DirectValue]:
    for key, value in (("flash_attention", "flash"), ("sdp_attention", "sdpa")):
        if settings.scalar(key) is True:
            return [settings.say("attention", value, key)]
    return []


def _zero_stage(settings: Settings) -> str | None:
    """Return the stage, which stands in the names of the files axolotl ships."""
    name = settings.text("deepspeed").rsplit("/", maxsplit=1)[-1].lower()
    return next((f"zero{n}" for n in "123" if f"zero{n}" in name), None)


READER = FrameworkReader(
    "axolotl", has_keys("base_model", "micro_batch_size", "datasets"), _spelling
)
