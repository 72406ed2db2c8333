"""Configurations of the OpenMMLab libraries: Python assignments over base files.

`_base_` names files this one is laid over, `_delete_=True` drops what the base says of a part.
The batch counts one device, and the number of devices stands in no configuration. Source:
OpenMMLab's configuration documentation (mmengine, and mmcv before it).
"""

import posixpath
import re
from collections.abc import Iterator

from compute_budget_planner.errors import FormatError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_reading import Spelling, config_reading
from compute_budget_planner.readers.contract import FileReference, Reading, SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import Settings
from compute_budget_planner.readers.nodes import Document, Node
from compute_budget_planner.readers.python_values import assigned, module_of
from compute_budget_planner.readers.tree_merge import from_file, merged, without

_ASSIGNS = re.compile(
    r"^(_base_|model|train_dataloader|data|optimizer|optim_wrapper|train_cfg|runner)\s*=", re.M
)
_MARKS = re.compile(r"^_base_\s*=|samples_per_gpu|train_dataloader\s*=\s*dict|optim_wrapper", re.M)
_MOST_BASES = 60
_SHAPE = {
    "d_model": ("embed_dims", "embed_dim"),
    "n_layers": ("num_layers", "depth"),
    "n_heads": ("num_heads",),
    "patch_size": ("patch_size",),
}
_DATASETS = {"CocoDataset": "coco", "ImageNet": "imagenet", "CIFAR10": "cifar10"}


class MmengineConfigReader:
    """A training configuration of mmdetection, mmpretrain, mmsegmentation and their kin."""

    format = "mmengine"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a Python file assigns the parts these libraries are configured by."""
        if not file.name.endswith(".py") or not _MARKS.search(file.text):
            return False
        return len(set(_ASSIGNS.findall(file.text))) >= 1 and module_of(file) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the settings over all base files.

        Raises:
            FormatError: the base files name one another without end.
        """
        included: list[str] = []
        root = _with_bases(file, included, top=True)
        settings = Settings(file, Document(without(root, "_base_"), ()))
        spelling = Spelling(
            self.format,
            "mmengine",
            own=[
                *_batch(settings),
                settings.give("epochs", "train_cfg.max_epochs", "runner.max_epochs"),
                settings.give("max_steps", "train_cfg.max_iters", "runner.max_iters"),
                settings.give("optimizer", "optim_wrapper.optimizer.type", "optimizer.type"),
                settings.give("learning_rate", "optim_wrapper.optimizer.lr", "optimizer.lr"),
                *_backbone(settings),
            ],
            derived=[settings.say("dataset", _dataset(settings), "dataset_type", "data")],
            defaults=[settings.say("precision", _precision(settings))],
            left_out=tuple(key for key in root.mapping if key not in _TRAINING),
            references=[FileReference(path, "included", file.at(1)) for path in included],
        )
        return config_reading(file, settings.document, reference, spelling)


_TRAINING = {"train_cfg", "runner", "optim_wrapper", "optimizer", "seed"}
"""Only these parts are read by the general names of options; models nest what looks like them."""


def _with_bases(file: SourceFile, included: list[str], *, top: bool) -> Node:
    module = module_of(file)
    if module is None:
        return Node({}, 1)
    if len(included) > _MOST_BASES:
        raise FormatError(
            "the base files name one another without end",
            where=file.path,
            remedy="Remove the file that builds on itself.",
        )
    base = Node({}, 1)
    for path in _bases(assigned(module.body[:200]).root):
        inner = file.beside(path)
        if inner is not None:
            included.append(inner.path)
            base = merged(base, _with_bases(inner, included, top=False))
    own = assigned(module.body).root
    return merged(base, own if top else from_file(own, file.path))


def _bases(root: Node) -> Iterator[str]:
    node = root.get("_base_")
    for item in (node.items or (node,)) if node is not None else ():
        if isinstance(item.value, str) and "::" not in item.value:
            yield posixpath.normpath(item.value)


def _batch(settings: Settings) -> Iterator[DirectValue]:
    keys = ("train_dataloader.batch_size", "data.samples_per_gpu")
    yield settings.say("micro_batch_size", settings.whole(*keys), *keys)
    keys = ("optim_wrapper.accumulative_counts", "optimizer_config.cumulative_iters")
    yield settings.say("grad_accum_steps", settings.whole(*keys), *keys)


def _backbone(settings: Settings) -> Iterator[DirectValue]:
    """Yield the shape of a transformer backbone; a convolutional one has no such keys."""
    for fact, keys in _SHAPE.items():
        paths = [f"model.backbone.{key}" for key in keys]
        yield settings.say(fact, settings.whole(*paths), *paths)


def _dataset(settings: Settings) -> str | None:
    kind = settings.text("train_dataloader.dataset.type", "data.train.type", "dataset_type")
    return _DATASETS.get(kind)


def _precision(settings: Settings) -> str | None:
    """Automatic mixed precision is a wrapper of its own, or an `fp16` block in older files."""
    mixed = settings.text("optim_wrapper.type").startswith("Amp") or settings.node("fp16")
    return None if mixed else "fp32"


READER = MmengineConfigReader()
