"""Predicted against measured speed of image models on one RTX 3090, families left out.

The rows are training benchmarks of huggingface/pytorch-image-models: synthetic images, fp16
autocast, both layouts. A family is the leading letters of a model's name.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path

from compute_budget_planner.guide.reference import Reference
from held_out import references_by_source
from other import score_rows as score_other
from report import Scored
from rows import Row, read_rows
from sample_rows import RawFacts, scored

HELD_OUT = Path(__file__).with_name("held_out_samples.csv")
_WEIGHT_ORIGINS = re.compile(r"^(tf|gluon|legacy|tv|ssl|swsl|ig|jx|dm)_")


def score(paths: Sequence[Path], reference: Reference, *, shipped: bool = False) -> list[Scored]:
    """Return the scored rows of image models and of everything else, by what a file holds."""
    reference_of = lru_cache(maxsize=None)(
        references_by_source(reference, shipped=shipped, path=HELD_OUT)
    )
    found: list[Scored] = []
    for path in paths:
        rows = list(read_rows(path))
        if rows and "macts_m" in rows[0]:
            found += score_rows(rows, reference_of)
        else:
            found += score_other(rows, reference_of)
    return found


def score_rows(rows: Sequence[Row], reference_of: Callable[[str], Reference]) -> list[Scored]:
    """Return every image model whose multiply-adds and activations are stated."""
    found = []
    for number, row in enumerate(rows):
        if not states_cost(row):
            continue
        family = left_out_family(row)
        found.append(
            scored(
                f"vision-{number}",
                row_facts(row),
                reference_of(family),
                quantity="samples_per_second",
                regime=f"images RTX 3090 {'NHWC' if row['channels_last'] == '1' else 'NCHW'}",
                source=family,
                measured=partial(measured_samples_per_second, row),
            )
        )
    return found


def measured_samples_per_second(row: Row) -> float:
    """Return the measured images per second."""
    return float(row["train_samples_per_sec"])


def states_cost(row: Row) -> bool:
    """Tell whether a row says what one image costs."""
    return bool(row["gmacs"] and row["macts_m"])


def left_out_family(row: Row) -> str:
    """Return the family a row is left out with."""
    match = re.match(r"[a-zA-Z]+", row["model"])
    return f"family {match.group() if match else row['model']}"


def row_facts(row: Row) -> RawFacts:
    """Return the facts a row states."""
    return {
        "model_family": _WEIGHT_ORIGINS.sub("", row["model"]),
        "params_total": round(float(row["params_m"]) * 1e6),
        "flops_per_sample_forward": 2e9 * float(row["gmacs"]),
        "activations_per_sample": round(1e6 * float(row["macts_m"])),
        "image_size": int(row["train_img_size"]),
        "micro_batch_size": int(row["train_batch_size"]),
        "gpu": row["gpu"],
        "n_gpus": 1,
        "precision": "fp16",
        "channels_last": row["channels_last"] == "1",
        "framework": "timm",
        "dataset": "synthetic",
        "objective": "classification",
        # Speed does not depend on the length of the run, but a run has one.
        "epochs": 1,
        "dataset_examples": 1_000_000,
    }
