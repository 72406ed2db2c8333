"""torchtune recipes: model, adapters and data set are named by `_component_`.

`batch_size` counts one data-parallel rank. Source: torchtune's configuration documentation.
"""

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.contract import Problem
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings, last_part
from compute_budget_planner.readers.nodes import Document


def _is_torchtune(document: Document) -> bool:
    return any(
        leaf.key == "_component_"
        and isinstance(leaf.value, str)
        and leaf.value.startswith("torchtune.")
        for leaf in document.leaves()
    )


def _spelling(settings: Settings) -> Spelling:
    model = last_part(settings.text("model._component_"))
    return Spelling(
        "torchtune",
        "torchtune",
        own=[settings.say("model", model or None, "model._component_"), _dataset(settings)],
        derived=_method(settings, model),
        problems=_sliced(settings),
        left_out=("profiler", "dataset_val", "metric_logger", "checkpointer"),
        # The loading class of a checkpoint, and a folder of this machine.
        dropped=frozenset({"model_family"}),
    )


def _dataset(settings: Settings) -> DirectValue:
    source = settings.scalar("dataset.source")
    if isinstance(source, str) and not source.startswith(("/", "~")):
        return settings.say("dataset", source, "dataset.source")
    name = last_part(settings.text("dataset._component_")).removesuffix("_dataset")
    return settings.say("dataset", name or None, "dataset._component_")


def _sliced(settings: Settings) -> list[Problem]:
    split = settings.text("dataset.split")
    if "[" not in split:
        return []
    text = f"only `{split[:60]}` is trained on; give the `dataset_examples` of that part."
    return [settings.ask(text, "dataset.split")]


def _method(settings: Settings, model: str) -> list[DirectValue]:
    """Whether adapters are trained stands in the name of the model's builder alone."""
    place = "model._component_"
    if model.startswith("qlora_"):
        return [
            settings.say("method", "qlora", place),
            settings.say("quantization", "nf4", place),
        ]
    if model.startswith(("lora_", "dora_")):
        return [settings.say("method", "lora", place)]
    return [settings.say("method", "full-ft", place)] if model else []


READER = FrameworkReader("torchtune", _is_torchtune, _spelling)
