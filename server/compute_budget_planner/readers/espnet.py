"""ESPnet's training configurations: the batch is divided over the devices.

`batch_bins` fills a batch up to so many numbers of input and output, which is no number of
examples. Source: ESPnet's documentation of `batch_type`.
"""

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.contract import Problem
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings
from compute_budget_planner.readers.nodes import Document

_BY_LENGTH = ("numel", "length")


def _is_espnet(document: Document) -> bool:
    keys = document.root.mapping.keys()
    return "max_epoch" in keys and bool(keys & {"batch_type", "batch_bins", "accum_grad"})


def _spelling(settings: Settings) -> Spelling:
    dynamic = settings.text("batch_type") in _BY_LENGTH or (
        settings.node("batch_type") is None and settings.node("batch_bins") is not None
    )
    batch = None if dynamic else settings.whole("batch_size")
    return Spelling(
        "espnet",
        "espnet",
        own=[
            settings.say("global_batch_size", batch, "batch_size"),
            settings.give("learning_rate", "optim_conf.lr"),
            settings.give("n_layers", "encoder_conf.num_blocks"),
            settings.give("d_model", "encoder_conf.output_size"),
            settings.give("n_heads", "encoder_conf.attention_heads"),
        ],
        left_out=("decoder_conf", "encoder_conf", "frontend_conf", "specaug_conf"),
        dropped=frozenset({"global_batch_size", "micro_batch_size"} if dynamic else ()),
        problems=[_ask_batch(settings)] if dynamic else [],
    )


def _ask_batch(settings: Settings) -> Problem:
    return settings.ask(
        "`batch_bins` fills a batch by length: how many examples is that on average, over all"
        " devices? Give `global_batch_size`.",
        "batch_bins",
        "batch_type",
    )


READER = FrameworkReader("espnet", _is_espnet, _spelling)
