"""detectron2 and other yacs configurations: upper-case sections over a `_BASE_` file.

`SOLVER.IMS_PER_BATCH` counts all devices, `SOLVER.STEPS` are milestones of the learning rate.
Source: detectron2's configuration reference.
"""

import ast

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_reading import Spelling, config_reading
from compute_budget_planner.readers.contract import FileReference, Reading, SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import Settings
from compute_budget_planner.readers.nodes import Document
from compute_budget_planner.readers.structured import mapping_of
from compute_budget_planner.readers.yacs import with_bases

_BASE = "_BASE_"


class Detectron2ConfigReader:
    """A YAML configuration of detectron2."""

    format = "detectron2"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping builds on `_BASE_` or has detectron2's solver."""
        document = mapping_of(file)
        if document is None:
            return False
        solver = document.root.get("SOLVER", "IMS_PER_BATCH")
        return solver is not None or (
            document.root.get(_BASE) is not None and document.root.get("MODEL") is not None
        )

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the settings over those of all base files.

        Raises:
            FormatError: a file is broken, or the base files name one another without end.
        """
        included: list[str] = []
        settings = Settings(file, Document(with_bases(file, _BASE, included), ()))
        spelling = Spelling(
            self.format,
            "detectron2",
            own=[
                settings.give("global_batch_size", "SOLVER.IMS_PER_BATCH"),
                settings.give("max_steps", "SOLVER.MAX_ITER"),
                settings.give("learning_rate", "SOLVER.BASE_LR"),
                settings.give("checkpoint_every_steps", "SOLVER.CHECKPOINT_PERIOD"),
                _dataset(settings),
            ],
            left_out=("DATASETS", "INPUT", "TEST", "MODEL"),
            defaults=[
                settings.say("global_batch_size", 16),
                settings.say("max_steps", 40_000),
            ],
            references=[FileReference(path, "included", file.at(1)) for path in included],
        )
        return config_reading(file, settings.document, reference, spelling)


def _dataset(settings: Settings) -> DirectValue:
    """`("coco_2017_train",)` is a text with a tuple in it."""
    node = settings.node("DATASETS.TRAIN")
    names = [str(item.scalar) for item in node.items] if node is not None else []
    if node is not None and isinstance(node.value, str):
        try:
            written = ast.literal_eval(node.value[:2_000])
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            written = node.value
        names = [str(n) for n in written] if isinstance(written, tuple | list) else [str(written)]
    return settings.say("dataset", " + ".join(names)[:200] or None, "DATASETS.TRAIN")


READER = Detectron2ConfigReader()
