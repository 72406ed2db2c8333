"""A Hydra configuration with its tree: composed, then read like any other.

The file read is the one with the defaults list; the files its groups stand in are included. What
a sweeper block lists is counted as runs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers import fairseq, nemo
from compute_budget_planner.readers.config_frameworks import framework_of
from compute_budget_planner.readers.config_reading import Spelling, config_reading
from compute_budget_planner.readers.contract import (
    FileReference,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import Settings
from compute_budget_planner.readers.hydra_compose import Composition, composed
from compute_budget_planner.readers.hydra_defaults import experiment_of, is_primary
from compute_budget_planner.readers.hydra_sweeps import Sweep, sweep_of
from compute_budget_planner.readers.nodes import Document
from compute_budget_planner.readers.structured import mapping_of
from compute_budget_planner.readers.tree_merge import without

FORMAT = "hydra"
_DATA_GROUPS = ("dataset", "data", "datamodule")
_UNNAMED = {"default", "base", "train", "local", "custom"}
_TEMPLATE = {"task_name", "ckpt_path", "extras", "paths", "tags"}
"""Keys at the top of lightning-hydra-template, whose data module splits its batch over devices."""


class HydraConfigReader:
    """A configuration whose defaults list names others."""

    format = FORMAT

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping has a defaults list, or is an experiment of one that has."""
        document = mapping_of(file)
        if document is None:
            return False
        return is_primary(document.root) or experiment_of(file) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return what the composed configuration gives.

        Raises:
            FormatError: the file, or one it includes, is broken.
        """
        experiment = experiment_of(file)
        if experiment is None:
            return read_composition(file, (), reference)
        primary, choice = experiment
        reading = read_composition(primary, [(choice, file.at(1))], reference)
        above = FileReference(primary.path, "included", file.at(1))
        others = (r for r in reading.references if r.path != file.path)
        return replace(reading, path=file.path, references=(above, *others))


def read_composition(
    file: SourceFile, overrides: Sequence[tuple[str, str]], reference: Reference
) -> Reading:
    """Return what a configuration gives under overrides (`key=value`, its place).

    Raises:
        FormatError: the file, or one it includes, is broken.
    """
    composition = composed(file, overrides)
    tree = composition.document
    document = Document(without(tree.root, "hydra"), tree.problems)
    sweep = sweep_of(file, tree)
    spelling = _spelling(file, document, composition, sweep)
    return config_reading(file, document, reference, spelling)


def _spelling(
    file: SourceFile, document: Document, composition: Composition, sweep: Sweep
) -> Spelling:
    settings = Settings(file, document)
    included = [
        FileReference(path, "included", file.at(1))
        for path in composition.paths
        if path != file.path
    ]
    for reader in (fairseq.READER, nemo.READER):
        if reader.is_of(document):
            inner = reader.spelling(settings)
            return Spelling(
                FORMAT,
                inner.framework,
                own=inner.own,
                derived=inner.derived,
                defaults=inner.defaults,
                left_out=inner.left_out,
                dropped=inner.dropped | sweep.facts,
                problems=(*inner.problems, *sweep.problems),
                references=included,
                n_runs=sweep.n_runs,
            )
    on_cpu = settings.text("trainer.accelerator") == "cpu"
    return Spelling(
        FORMAT,
        _framework(document),
        own=[
            _dataset(settings, composition),
            *_split(settings),
            *_optimizer(settings),
            settings.give("learning_rate", "optimizer.lr", "model.optimizer.lr"),
        ],
        derived=sweep.values,
        left_out=("callbacks", "logger", "extras", "paths", "eval"),
        dropped=sweep.facts | ({"gpus_per_node", "n_gpus"} if on_cpu else set()),
        problems=(*sweep.problems, *(_on_cpu(settings) if on_cpu else ())),
        references=included,
        n_runs=sweep.n_runs,
    )


def _framework(document: Document) -> str | None:
    trainer = document.root.get("trainer", "_target_")
    if trainer is None or "lightning" not in str(trainer.scalar):
        return framework_of(document)
    template = document.root.mapping.keys() >= _TEMPLATE
    return "lightning-hydra-template" if template else "lightning"


def _dataset(settings: Settings, composition: Composition) -> DirectValue:
    """Return the name the data give themselves, else the option of the group they come from."""
    name, part = settings.text("dataset_name", "dataset.dataset_name"), ""
    for key in ("dataset_config", "dataset.dataset_config_name"):
        part = part or settings.text(key)
    if name and part.startswith(name):
        # A hub's configuration such as `wikitext-103-raw-v1` says which of a data set's parts.
        return settings.say("dataset", part, "dataset_config", "dataset.dataset_config_name")
    if name:
        return settings.say("dataset", name, "dataset_name", "dataset.dataset_name")
    option = next((o for g in _DATA_GROUPS if (o := composition.choices.get(g))), "")
    plain = option.rsplit("/", maxsplit=1)[-1]
    given = plain if plain and plain not in _UNNAMED else None
    return settings.say("dataset", given, *_DATA_GROUPS)


def _split(settings: Settings) -> Iterator[DirectValue]:
    """Yield the examples where the sizes of training, validation and test parts are listed."""
    for key in ("data.train_val_test_split", "datamodule.train_val_test_split"):
        node = settings.node(key)
        if node is not None and node.items and isinstance(node.items[0].value, int):
            yield settings.say("dataset_examples", node.items[0].value, key)


def _optimizer(settings: Settings) -> Iterator[DirectValue]:
    for key in ("optimizer._name_", "model.optimizer._target_", "optimizer._target_"):
        if name := settings.text(key):
            yield settings.say("optimizer", name.rsplit(".", maxsplit=1)[-1], key)
            return


def _on_cpu(settings: Settings) -> Iterator[Problem]:
    yield settings.ask(
        "`trainer.accelerator` is `cpu`: on how many GPUs is the real run? Give `n_gpus`, or the"
        " `trainer` option it uses.",
        "trainer.accelerator",
    )


READER = HydraConfigReader()
