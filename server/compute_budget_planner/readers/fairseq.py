"""fairseq's Hydra configurations.

The batch is dynamic: `dataset.max_tokens` bounds one device's tokens, or audio samples, and gives
no number of examples. Source: fairseq's documentation of its configuration groups.
"""

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.contract import Problem
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings, has_keys
from compute_budget_planner.readers.nodes import Document

_BACKENDS = {
    "legacy_ddp": "ddp",
    "pytorch_ddp": "ddp",
    "c10d": "ddp",
    "no_c10d": "ddp",
    "fully_sharded": "fsdp",
}


def _is_fairseq(document: Document) -> bool:
    lengths = ("max_update", "max_epoch")
    return has_keys("task._name", "optimization")(document) and any(
        document.root.get("optimization", key) is not None for key in lengths
    )


def _spelling(settings: Settings) -> Spelling:
    backend = settings.text("distributed_training.ddp_backend")
    dynamic = settings.whole("dataset.max_tokens")
    return Spelling(
        "fairseq",
        "fairseq",
        own=[
            settings.give("d_model", "model.encoder_embed_dim", "model.decoder_embed_dim"),
            settings.give("optimizer", "optimizer._name"),
            settings.give("n_layers", "model.encoder_layers"),
        ],
        derived=[
            settings.say("sharding", _BACKENDS.get(backend), "distributed_training.ddp_backend")
        ],
        problems=[_ask_batch(settings)] if dynamic else [],
    )


def _ask_batch(settings: Settings) -> Problem:
    return settings.ask(
        "`max_tokens` fills a batch of one device up to so many tokens (of audio: samples). How"
        " many examples is that? Give `micro_batch_size`.",
        "dataset.max_tokens",
    )


READER = FrameworkReader("fairseq", _is_fairseq, _spelling)
