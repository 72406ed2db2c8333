"""yacs configurations of vision projects: upper-case sections over `BASE` files.

Swin and its kin give one device's batch as `DATA.BATCH_SIZE`; a `TRAIN.BATCH_SIZE` counts one
device in some projects and all in others, and is asked about. Most values stand in the project's
`config.py`: what a file does not say is unknown. Source: `config.py` of microsoft/Swin-Transformer
and of facebookresearch/SlowFast.
"""

import posixpath

from compute_budget_planner.errors import FormatError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_reading import Spelling, config_reading
from compute_budget_planner.readers.contract import FileReference, Reading, SourceFile
from compute_budget_planner.readers.framework_reader import Settings
from compute_budget_planner.readers.nodes import Document, Node
from compute_budget_planner.readers.structured import load_mapping, mapping_of
from compute_budget_planner.readers.tree_merge import from_file, merged, without

_SECTIONS = {"DATA", "TRAIN", "MODEL", "SOLVER", "AUG", "TEST", "OUTPUT"}
_MOST_BASES = 20


class YacsReader:
    """A YAML file of upper-case sections."""

    format = "yacs"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping has a model, and data or training, in upper case."""
        document = mapping_of(file)
        keys = document.root.mapping.keys() if document is not None else set()
        sections = keys & _SECTIONS
        return ("MODEL" in sections and len(sections) >= 2) or (
            "MODEL" in sections and all(key.isupper() for key in keys)
        )

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the settings over those of the base files.

        Raises:
            FormatError: a file is broken, or the base files name one another without end.
        """
        included: list[str] = []
        settings = Settings(file, Document(with_bases(file, "BASE", included), ()))
        spelling = Spelling(
            self.format,
            own=[
                settings.give("micro_batch_size", "DATA.BATCH_SIZE"),
                settings.give("image_size", "DATA.IMG_SIZE", "DATA.TRAIN_CROP_SIZE"),
                settings.give("epochs", "TRAIN.EPOCHS", "SOLVER.MAX_EPOCH"),
                settings.give("model", "MODEL.NAME", "MODEL.MODEL_NAME"),
            ],
            left_out=("TEST", "AUG", "DATA.BATCH_SIZE", "MODEL"),
            references=[FileReference(path, "included", file.at(1)) for path in included],
        )
        return config_reading(file, settings.document, reference, spelling)


def with_bases(file: SourceFile, key: str, included: list[str]) -> Node:
    """Return the settings over those of the files named under `key`, and add these to `included`.

    Raises:
        FormatError: a file is broken, or the base files name one another without end.
    """
    if len(included) > _MOST_BASES:
        raise FormatError(
            f"the `{key}` files name one another without end",
            where=file.path,
            remedy="Remove the file that builds on itself.",
        )
    root = load_mapping(file).root
    own = without(from_file(root, file.path) if included else root, key)
    named = root.get(key)
    base = Node({}, 1)
    for item in (named.items or (named,)) if named is not None else ():
        path = str(item.scalar) if item.scalar else ""
        inner = file.beside(posixpath.normpath(path)) if path else None
        if inner is not None:
            included.append(inner.path)
            base = merged(base, with_bases(inner, key, included))
    return merged(base, own)


READER = YacsReader()
