"""NeMo: a Lightning trainer, an `exp_manager`, and data loaders under `model`.

Source: NVIDIA's NeMo configuration documentation. The speech collections give one device's batch
in `train_ds`; the language collections give `micro_batch_size` and `global_batch_size`.
"""

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import (
    FrameworkReader,
    Settings,
    has_keys,
    last_part,
)
from compute_budget_planner.readers.nodes import Document

_STRATEGIES = {"DDPStrategy": "ddp", "NLPDDPStrategy": "ddp", "FSDPStrategy": "fsdp"}


def _is_nemo(document: Document) -> bool:
    data = ("train_ds", "data")
    return has_keys("trainer", "exp_manager", "model")(document) and any(
        document.root.get("model", key) is not None for key in data
    )


def _spelling(settings: Settings) -> Spelling:
    return Spelling(
        "nemo",
        "nemo",
        own=[
            settings.give("model", "name"),
            settings.say(
                "micro_batch_size",
                settings.whole("model.micro_batch_size", "model.train_ds.batch_size"),
                "model.micro_batch_size",
                "model.train_ds.batch_size",
            ),
        ],
        derived=[_sharding(settings)],
        left_out=(
            *("model.validation_ds", "model.test_ds", "model.tokenizer", "model.preprocessor"),
            *("exp_manager", "model.train_ds.max_duration"),
        ),
        dropped=frozenset({"sharding", "num_classes"}),
    )


def _sharding(settings: Settings) -> DirectValue:
    word = settings.scalar("trainer.strategy")
    if isinstance(word, str):
        return settings.say("sharding", word, "trainer.strategy")
    name = last_part(settings.text("trainer.strategy._target_"))
    return settings.say("sharding", _STRATEGIES.get(name), "trainer.strategy._target_")


READER = FrameworkReader("nemo", _is_nemo, _spelling)
