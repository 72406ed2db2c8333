"""nanoGPT's configurations: a Python file of bare assignments.

`gradient_accumulation_steps` is divided by the number of devices in `train.py`, so the global
batch is batch × accumulation whatever their number. Source of the names and defaults: `train.py`
of karpathy/nanoGPT.
"""

import ast
import re

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_reading import Spelling, config_reading
from compute_budget_planner.readers.contract import FileReference, Reading, SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import Settings
from compute_budget_planner.readers.nodes import Document
from compute_budget_planner.readers.python_values import assigned, module_of

_MARKS = {
    *("block_size", "n_layer", "n_head", "n_embd", "max_iters", "gradient_accumulation_steps"),
    *("eval_interval", "eval_iters", "lr_decay_iters", "init_from", "always_save_checkpoint"),
}
_DEFAULTS: dict[str, object] = {
    "micro_batch_size": 12,
    "grad_accum_steps": 40,
    "seq_len": 1024,
    "max_steps": 600_000,
    "learning_rate": 6e-4,
    "n_layers": 12,
    "n_heads": 12,
    "d_model": 768,
    "dataset": "openwebtext",
}
_SHAPE = {"n_layers", "n_heads", "d_model", "seq_len"}
_STATEMENTS = ast.Assign | ast.AnnAssign | ast.Import | ast.ImportFrom | ast.Expr
_PRETRAINED = re.compile(r"gpt2(-medium|-large|-xl)?")


class NanoGptConfigReader:
    """Assignments that override the defaults of nanoGPT's training script."""

    format = "nanogpt_config"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a Python file assigns, and does nothing else, names of nanoGPT."""
        module = module_of(file)
        if module is None or not all(isinstance(s, _STATEMENTS) for s in module.body):
            return False
        names = {
            target.id
            for statement in module.body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        return len(names & _MARKS) >= 2

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the settings, and the training script's defaults for those not given."""
        module = module_of(file)
        document = assigned(module.body if module is not None else [])
        settings = Settings(file, document)
        start = settings.text("init_from")
        pretrained = _PRETRAINED.fullmatch(start) is not None
        accumulation = settings.whole("gradient_accumulation_steps")
        spelling = Spelling(
            self.format,
            "nanogpt",
            own=[settings.say("model", start if pretrained else None, "init_from")],
            derived=[
                settings.say("grad_accum_steps", accumulation, "gradient_accumulation_steps"),
                settings.say("method", "full-ft" if pretrained else "pretrain", "init_from"),
                settings.say("global_batch_size", _whole(document), "gradient_accumulation_steps"),
                settings.say("model_family", "gpt2"),
            ],
            defaults=_defaults(settings, pretrained=pretrained),
            references=_tokens(settings),
        )
        return config_reading(file, document, reference, spelling)


def _whole(document: Document) -> int | None:
    batch, accumulation = (
        document.root.get(key) for key in ("batch_size", "gradient_accumulation_steps")
    )
    product = 1
    for node, default in ((batch, 12), (accumulation, 40)):
        value = node.scalar if node is not None else default
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 10**6:
            return None
        product *= value
    return product


def _tokens(settings: Settings) -> list[FileReference]:
    """`prepare.py` of a data set writes its tokens into a folder of its name."""
    name = settings.text("dataset") or str(_DEFAULTS["dataset"])
    plain = re.fullmatch(r"[\w.-]{1,80}", name)
    path = f"data/{name}/train.bin"
    return [FileReference(path, "data", settings.place("dataset"))] if plain else []


def _defaults(settings: Settings, *, pretrained: bool) -> list[DirectValue]:
    """Weights bring their own shape, a context length too."""
    skipped = _SHAPE if pretrained else set()
    return [settings.say(k, v) for k, v in _DEFAULTS.items() if k not in skipped]


READER = NanoGptConfigReader()
