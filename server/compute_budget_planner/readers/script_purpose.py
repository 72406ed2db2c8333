"""What the name of a training script tells: the objective, and whether it starts from weights.

Names are those of the example scripts of Transformers, TRL, PEFT and Diffusers, which projects
keep. They are weak facts: anything a config or an option says wins.
"""

import posixpath
import re
from collections.abc import Iterator

from compute_budget_planner.readers.contract import Basis, Fact, Layer

_OBJECTIVES = (
    ("grpo", r"grpo|rloo"),
    ("dpo", r"dpo|orpo|kto"),
    ("ppo", r"ppo|rlhf"),
    ("distillation", r"distil\w*"),
    ("diffusion", r"text_to_image|dreambooth|textual_inversion|controlnet|unconditional"),
    ("mlm", r"mlm"),
    ("lm", r"clm|sft"),
    ("classification", r"glue|\w*classification|classifier|imagenet"),
)
_ADAPTERS = re.compile(r"(?<![a-z])q?lora(?![a-z])")
_FROM_WEIGHTS = re.compile(
    r"(?<![a-z])(fine_?tun\w*|sft|dpo|grpo|ppo|glue|dreambooth|squad|qa|swag)(?![a-z])"
)


def purpose_facts(script: str, source: str) -> Iterator[Fact]:
    """Yield the objective and the method a script's name tells, as derived facts."""
    stem = posixpath.basename(script).rsplit(".", maxsplit=1)[0].lower().replace("-", "_")
    for objective, words in _OBJECTIVES:
        if re.search(rf"(?<![a-z])(?:{words})(?![a-z])", stem):
            yield _fact("objective", objective, source)
            break
    if _ADAPTERS.search(stem):
        yield _fact("method", "lora", source)
    elif _FROM_WEIGHTS.search(stem):
        yield _fact("method", "full-ft", source)


def _fact(name: str, value: str, source: str) -> Fact:
    return Fact(name, value, Basis.DERIVED, source, Layer.FRAMEWORK_DEFAULT)
