"""torchtitan's TOML: the model is a name and a flavor; the batch counts one data-parallel rank.

Source: torchtitan's `job_config` (`[training]`, `[parallelism]`, `[activation_checkpoint]`).
"""

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings
from compute_budget_planner.readers.nodes import Document


def _is_torchtitan(document: Document) -> bool:
    root = document.root
    parts = ("activation_checkpoint", "parallelism", "experimental", "checkpoint")
    return root.get("training", "seq_len") is not None and any(
        root.get(part) is not None for part in parts
    )


def _spelling(settings: Settings) -> Spelling:
    return Spelling("torchtitan", "torchtitan", own=[_model(settings)])


def _model(settings: Settings) -> DirectValue:
    name, flavor = settings.text("model.name"), settings.text("model.flavor")
    return settings.say("model", f"{name} {flavor}".strip() or None, "model.name")


READER = FrameworkReader("torchtitan", _is_torchtitan, _spelling)
