"""nanotron: the ranks of its parallelism are all the devices there are.

Source: the configuration classes in nanotron's documentation.
"""

from math import prod

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings, has_keys

_RANKS = ("parallelism.dp", "parallelism.tp", "parallelism.pp")


def _spelling(settings: Settings) -> Spelling:
    ranks = [settings.whole(key) for key in _RANKS]
    counted = [rank for rank in ranks if rank is not None]
    devices = prod(counted) if len(counted) == len(ranks) else None
    is_llama = settings.scalar("model.model_config.is_llama_config") is True
    return Spelling(
        "nanotron",
        "nanotron",
        own=[
            settings.give("optimizer", "optimizer.optimizer_factory.name"),
            settings.give("ep", "parallelism.expert_parallel_size"),
        ],
        derived=[
            settings.say("n_gpus", devices, "parallelism.dp"),
            settings.say(
                "model_family",
                "llama" if is_llama else None,
                "model.model_config.is_llama_config",
            ),
        ],
    )


READER = FrameworkReader(
    "nanotron",
    has_keys("tokens.micro_batch_size", "tokens.batch_accumulation_per_replica"),
    _spelling,
)
