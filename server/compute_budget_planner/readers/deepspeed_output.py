"""What the DeepSpeed engine prints: its configuration when it starts, its pace while it trains.

    [2021-05-26 04:51:31,919] [INFO] [config.py:752:print]   train_batch_size ............. 512
    [...] epoch=0/micro_step=20/global_step=10, RunningAvgSamplesPerSec=45.1, MemAllocated=3.2GB

A log to which several starts were appended holds several configurations; the last counts. Its
`world_size` counts data-parallel ranks, so all devices only where the model is not split.
`SamplesPerSec` is the whole job's. Source: deepspeed/runtime/config.py, utils/timer.py.
"""

import re
from collections.abc import Iterable, Iterator

from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.dumped_options import dotted_option

_CONFIG = re.compile(r"\[config\.py:\d{1,5}:print\]\s\s(.{3,400})")
_OPTIONS = {
    "train_batch_size": "global_batch_size",
    "train_micro_batch_size_per_gpu": "micro_batch_size",
    "gradient_accumulation_steps": "grad_accum_steps",
    "optimizer_name": "optimizer",
}
_SPLIT = ("model_parallel", "model-parallel", "PipelineModule", "pipe_parallel")


def engine_values(file: SourceFile, lines: Iterable[tuple[int, str]]) -> Iterator[DirectValue]:
    """Yield the facts of the last configuration printed; `lines` may hold any others."""
    options: dict[str, tuple[str, int]] = {}
    for number, line in lines:
        match = _CONFIG.search(line)
        if match is None:
            continue
        if option := dotted_option(match[1]):
            options[option[0]] = (option[1], number)
    for name, (value, number) in options.items():
        where = file.at(number)
        if name in _OPTIONS and value != "None":
            yield _OPTIONS[name], value, where
        elif name == "optimizer_params" and (rate := re.search(r"'lr': ([0-9.eE-]{1,20})", value)):
            yield "learning_rate", float_or_none(rate[1]), where
        elif name in ("fp16_enabled", "bfloat16_enabled", "bf16_enabled") and value == "True":
            yield "precision", "fp16" if name.startswith("fp16") else "bf16", where
        elif name == "zero_optimization_stage" and value in ("1", "2", "3"):
            yield "sharding", f"zero{value}", where
        elif name == "world_size" and not any(word in file.text for word in _SPLIT):
            yield "n_gpus", value if value.isdecimal() else None, where


def float_or_none(text: str) -> float | None:
    """Return a printed number, or None when it is none above 0."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value > 0 else None
