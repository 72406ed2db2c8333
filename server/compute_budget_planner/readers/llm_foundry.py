"""llm-foundry and composer: a global batch, a `max_duration` with its unit.

Source: MosaicML's composer documentation of `Time` (`ba` batches, `ep` epochs, `tok` tokens).
"""

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings, has_keys

_BUILDERS = {"mpt_causal_lm": "mpt"}
_COPY = "my-copy-"
"""llm-foundry's own instructions convert a data set into a folder of this name."""


def _spelling(settings: Settings) -> Spelling:
    builder = settings.text("model.name")
    ratio, width = settings.whole("model.expansion_ratio"), settings.whole("model.d_model")
    return Spelling(
        "llm_foundry",
        "llm-foundry",
        own=[
            settings.give("model", "model.pretrained_model_name_or_path"),
            _dataset(settings),
            settings.give("optimizer", "optimizer.name"),
        ],
        derived=[
            settings.say("model_family", _BUILDERS.get(builder), "model.name"),
            settings.say(
                "d_ff", ratio * width if ratio and width else None, "model.expansion_ratio"
            ),
        ],
        left_out=("eval_loader", "tokenizer", "icl_tasks", "callbacks", "loggers", "scheduler"),
        dropped=frozenset({"model", "dataset"}),
    )


def _dataset(settings: Settings) -> DirectValue:
    keys = ("train_loader.dataset.hf_name", "train_loader.dataset.local", "variables.data_local")
    for key in keys:
        value = settings.scalar(key)
        if not isinstance(value, str) or "$" in value:
            continue
        plain = value.rstrip("/")
        if plain.startswith((".", "/", "~")):
            plain = plain.rsplit("/", maxsplit=1)[-1].removeprefix(_COPY)
        return settings.say("dataset", plain or None, key)
    return settings.say("dataset", None)


READER = FrameworkReader(
    "llm_foundry", has_keys("max_duration", "global_train_batch_size"), _spelling
)
