"""Levanter (JAX): the batch is global, `per_device_parallelism` is one device's share.

Source: Levanter's configuration documentation. A `save_interval` of `10m` is minutes, no steps.
"""

import re

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings, has_keys

_COMPUTE = re.compile(r"(?:^|,)\s*(?:c|compute)\s*=\s*(\w+)")
_SHORT = {"f32": "fp32", "bf16": "bf16", "f16": "fp16"}
_SHARD = re.compile(r"[._-](?:train|val|validation)?[._-]?[\d{*].*$|[._-]train\b.*$|\..*$")


def _spelling(settings: Settings) -> Spelling:
    return Spelling(
        "levanter",
        "levanter",
        own=[
            settings.give("model_family", "model.type"),
            settings.give("d_model", "model.hidden_dim"),
            settings.give("n_kv_heads", "model.num_kv_heads"),
            settings.give("d_ff", "model.intermediate_dim"),
            settings.give("global_batch_size", "trainer.train_batch_size"),
            settings.give("eval_every_steps", "trainer.steps_per_eval"),
            *_micro_batch(settings),
        ],
        derived=[_precision(settings), _dataset(settings)],
        dropped=frozenset({"checkpoint_every_steps", "model", "dataset"}),
        left_out=("trainer.tracker", "trainer.checkpointer"),
    )


def _micro_batch(settings: Settings) -> list[DirectValue]:
    """Return the share of a device; a parallelism of −1 leaves it to the global batch."""
    share = settings.whole("trainer.per_device_parallelism")
    return [settings.say("micro_batch_size", share, "trainer.per_device_parallelism")]


def _precision(settings: Settings) -> DirectValue:
    policy = settings.text("trainer.mp")
    match = _COMPUTE.search(policy)
    word = match[1] if match else policy if policy in _SHORT else None
    return settings.say("precision", _SHORT.get(word, word) if word else None, "trainer.mp")


def _dataset(settings: Settings) -> DirectValue:
    """Return the name on a hub, else that of the shards: `name_train.{1..128}-of-128.jsonl`."""
    named = settings.scalar("data.id")
    if isinstance(named, str):
        return settings.say("dataset", named, "data.id")
    shards = settings.node("data.train_urls")
    if shards is None or len(shards.items) != 1 or not isinstance(shards.items[0].value, str):
        return settings.say("dataset", None)
    name = _SHARD.sub("", shards.items[0].value.rsplit("/", maxsplit=1)[-1])
    return "dataset", name or None, shards.items[0].place(settings.file)


READER = FrameworkReader(
    "levanter", has_keys("trainer.num_train_steps", "trainer.train_batch_size"), _spelling
)
