"""LitGPT: the global batch counts all devices; `max_tokens` is the length.

Source: LitGPT's `config_hub` and training arguments.
"""

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import (
    FrameworkReader,
    Settings,
    has_keys,
    last_part,
)


def _spelling(settings: Settings) -> Spelling:
    return Spelling(
        "litgpt",
        "litgpt",
        own=[
            _model(settings),
            _data(settings),
            settings.give("train_tokens", "train.max_tokens"),
            _optimizer(settings),
            settings.give("eval_every_steps", "eval.interval"),
        ],
        derived=[settings.say("method", _method(settings), "quantize", "lora_r")],
        left_out=("data", "eval"),
    )


def _model(settings: Settings) -> DirectValue:
    """Return the model; its checkpoint lies under `checkpoints/<organisation>/<model>`."""
    if settings.scalar("model_name") is not None:
        return settings.give("model", "model_name")
    folder = settings.text("checkpoint_dir").rstrip("/").removeprefix("checkpoints/")
    own = folder.startswith(("/", "~", ".", "out"))
    return settings.say("model", folder if folder and not own else None, "checkpoint_dir")


def _data(settings: Settings) -> DirectValue:
    name = last_part(settings.text("data", "data.class_path"))
    is_file = name in ("JSON", "TextFiles", "LitData")
    return settings.say("dataset", None if is_file else name or None, "data.class_path", "data")


def _optimizer(settings: Settings) -> DirectValue:
    name = last_part(settings.text("optimizer.class_path", "optimizer"))
    return settings.say("optimizer", name or None, "optimizer.class_path", "optimizer")


def _method(settings: Settings) -> str | None:
    if settings.whole("lora_r") is None:
        return None
    return "qlora" if settings.text("quantize").startswith("bnb.nf4") else "lora"


READER = FrameworkReader(
    "litgpt", has_keys("train.global_batch_size", "train.micro_batch_size"), _spelling
)
