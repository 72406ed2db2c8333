"""Lightning's command-line configurations: a trainer, and model and data by `class_path`.

What `trainer` says of the length counts; `max_epochs` or `max_steps` of a model only shape its
learning-rate schedule. Source: Lightning's documentation of `LightningCLI` and `Trainer`.
"""

from collections.abc import Iterator

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings, last_part
from compute_budget_planner.readers.nodes import Document

_NETWORKS = ("model.net", "model.init_args.net", "model.init_args.model", "model")
_ARCHITECTURES = ("arch", "architecture", "model_name", "model_name_or_path", "backbone")
"""Arguments by which a module is told which network to build."""
_SHAPE = {"embed_dim": "d_model", "hidden_dim": "d_model", "depth": "n_layers"}
_LENGTHS = ("max_epochs", "max_steps", "warmup_epochs", "warmup_steps")
_DEFAULT_EPOCHS = 1000
"""What the Trainer takes when neither epochs nor steps are given."""


def _is_lightning_cli(document: Document) -> bool:
    root = document.root
    if root.get("trainer") is None or not root.mapping["trainer"].mapping:
        return False
    data = root.get("data") is not None and root.get("model") is not None
    return root.get("seed_everything") is not None or (
        data and any(leaf.key == "class_path" for leaf in document.leaves())
    )


def _spelling(settings: Settings) -> Spelling:
    return Spelling(
        "lightning_cli",
        "lightning",
        own=[
            settings.give("epochs", "trainer.max_epochs"),
            settings.say("max_steps", settings.whole("trainer.max_steps"), "trainer.max_steps"),
            *_network(settings),
        ],
        derived=[_optimizer(settings)],
        defaults=[settings.say("epochs", _default_epochs(settings))],
        left_out=(
            *(f"{part}.{key}" for part in ("model", "model.init_args") for key in _LENGTHS),
            *("trainer.callbacks", "trainer.logger"),
        ),
    )


def _default_epochs(settings: Settings) -> int | None:
    stops = ("trainer.max_steps", "trainer.max_epochs", "trainer.max_time")
    return None if settings.scalar(*stops) is not None else _DEFAULT_EPOCHS


def _network(settings: Settings) -> Iterator[DirectValue]:
    """Yield the innermost class with its shape: the module around a network is no model.

    A class that is told by name which network to build stands for that one.
    """
    for section in _NETWORKS:
        path = f"{section}.class_path"
        if isinstance(settings.scalar(path), str):
            named = tuple(f"{section}.init_args.{key}" for key in _ARCHITECTURES)
            built = settings.scalar(*named)
            if isinstance(built, str):
                yield settings.give("model", *named)
            yield settings.say("model", last_part(settings.text(path)), path)
            for key, fact in _SHAPE.items():
                yield settings.give(fact, f"{section}.init_args.{key}")
            return


def _optimizer(settings: Settings) -> DirectValue:
    keys = ("optimizer.class_path", "model.init_args.optimizer.class_path")
    name = last_part(settings.text(*keys))
    return settings.say("optimizer", name or None, *keys)


READER = FrameworkReader("lightning_cli", _is_lightning_cli, _spelling)
