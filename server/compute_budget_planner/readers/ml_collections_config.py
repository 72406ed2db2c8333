"""ml_collections configurations: a `get_config()` that fills a `ConfigDict`.

Read as text, never called. Batch sizes of the JAX projects that use it (big_vision, vit_jax,
U-ViT) count all devices. Source: big_vision's `configs` and its `common.py`.
"""

import ast
import re

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_reading import Spelling, config_reading
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import Settings
from compute_budget_planner.readers.nodes import Document
from compute_budget_planner.readers.python_values import assigned, module_of

_CROP = re.compile(r"(?:crop|resize)\((\d{2,4})\)")
_BATCH = ("input.batch_size", "batch_size", "train.batch_size")
_EPOCHS = ("total_epochs", "num_epochs", "num_train_epochs")
_STEPS = ("total_steps", "num_train_steps", "train.n_steps")


class MlCollectionsConfigReader:
    """A Python function that returns a `ConfigDict`."""

    format = "ml_collections"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a Python file has a `get_config` that fills a `ConfigDict`."""
        if "get_config" not in file.text or "ConfigDict" not in file.text:
            return False
        return _function(file) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return what the function assigns; what a call or an argument decides is left open."""
        function = _function(file)
        values = assigned(function.body if function is not None else [])
        named = (values.root.get(name) for name in ("config", "cfg", "c"))
        config = next((node for node in named if node and node.mapping), values.root)
        settings = Settings(file, Document(config, ()))
        spelling = Spelling(
            self.format,
            "big_vision",
            own=[
                settings.say("global_batch_size", settings.whole(*_BATCH), *_BATCH),
                settings.give("epochs", *_EPOCHS),
                settings.give("max_steps", *_STEPS),
                settings.give("learning_rate", "lr", "optimizer.lr", "learning_rate"),
                settings.give("dataset", "input.data.name", "dataset.name", "dataset"),
            ],
            derived=[_model(settings), _image_size(settings)],
            left_out=("evals", "mixup", "schedule", "input"),
            dropped=frozenset({"model", "dataset", "micro_batch_size"}),
        )
        return config_reading(file, settings.document, reference, spelling)


def _function(file: SourceFile) -> ast.FunctionDef | None:
    module = module_of(file)
    for statement in module.body if module is not None else ():
        if isinstance(statement, ast.FunctionDef) and statement.name == "get_config":
            return statement
    return None


def _model(settings: Settings) -> DirectValue:
    """big_vision names the architecture and its variant apart: `vit` and `S/16`."""
    variant, name = settings.text("model.variant"), settings.text("model_name")
    if variant and name.rsplit(".", maxsplit=1)[-1] == "vit" and "$" not in variant:
        return settings.say("model", f"ViT-{variant}", "model.variant")
    return settings.say("model", None)


def _image_size(settings: Settings) -> DirectValue:
    """Return the edge the preprocessing crops to, when all its crops have the same."""
    sizes = set(_CROP.findall(settings.text("input.pp", "pp_train")))
    edge = int(sizes.pop()) if len(sizes) == 1 else None
    return settings.say("image_size", edge, "input.pp", "pp_train")


READER = MlCollectionsConfigReader()
