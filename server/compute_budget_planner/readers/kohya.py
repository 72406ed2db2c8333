"""kohya's Stable Diffusion scripts, and the presets of their graphical interface.

The interface writes numbers as text, an empty text and a 0 for what is not set, and `epoch` for
the epochs it turns into steps; sections of its tools (captioning, samples) are no training.
Source: the options in the documentation of kohya-ss/sd-scripts.
"""

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.contract import Problem
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings
from compute_budget_planner.readers.nodes import Document, Node

_MARKS = {"network_dim", "network_module", "network_alpha", "max_resolution", "enable_bucket"}
_LENGTHS = {"max_train_steps", "max_train_epochs"}
_TOOLS = (
    *("wd14_caption", "blip_captioning", "blip2_captioning", "git_captioning", "samples"),
    *("huggingface", "server", "settings", "dataset_preparation", "folders"),
)


def _is_kohya(document: Document) -> bool:
    keys = document.keys()
    return bool(keys & _LENGTHS) and (bool(keys & _MARKS)) and "train_batch_size" in keys


def _spelling(settings: Settings) -> Spelling:
    flat = {
        key: node
        for section, top in settings.document.root.mapping.items()
        for key, node in ([(section, top)] if not top.mapping else top.mapping.items())
        if section not in _TOOLS
    }
    epochs = _set(settings, flat, "epochs", "max_train_epochs", "epoch")
    steps = _set(settings, flat, "max_steps", "max_train_steps")
    return Spelling(
        "kohya",
        "kohya",
        own=[
            _set(settings, flat, "micro_batch_size", "train_batch_size"),
            _set(settings, flat, "grad_accum_steps", "gradient_accumulation_steps"),
            epochs if epochs[1] is not None else steps,
            _set(settings, flat, "learning_rate", "learning_rate", "unet_lr"),
            _set(settings, flat, "n_gpus", "num_processes"),
            _set(settings, flat, "checkpoint_every_steps", "save_every_n_steps"),
            _image_size(settings, flat),
        ],
        derived=[_model(settings, flat)],
        left_out=_TOOLS,
        dropped=frozenset({"epochs", "max_steps", "checkpoint_every_steps"}),
        problems=[_ask_images(settings)],
    )


def _set(settings: Settings, flat: dict[str, Node], fact: str, *keys: str) -> DirectValue:
    for key in keys:
        node = flat.get(key)
        if node is not None and str(node.scalar).strip() not in ("", "0", "0.0", "None"):
            return fact, node.scalar, node.place(settings.file)
    return fact, None, settings.file.path


def _image_size(settings: Settings, flat: dict[str, Node]) -> DirectValue:
    """`1024,1024` is width and height of what buckets hold as many pixels as."""
    name, raw, place = _set(settings, flat, "image_size", "max_resolution", "resolution")
    edge = str(raw).replace(" ", "").split(",")[-1] if raw is not None else None
    return name, edge, place


def _model(settings: Settings, flat: dict[str, Node]) -> DirectValue:
    keys = ("sdxl", "sd3", "flux1")
    chosen = next((k for k in keys if k in flat and flat[k].scalar is True), None)
    if chosen is None:
        return "model", None, settings.file.path
    return "model", chosen.upper(), flat[chosen].place(settings.file)


def _ask_images(settings: Settings) -> Problem:
    return Problem(
        settings.file.path,
        "how many images are there, and how often is each repeated? Folder names such as"
        " `10_name` say it. Give `dataset_examples` as images × repeats.",
    )


READER = FrameworkReader("kohya", _is_kohya, _spelling)
