"""What repeated data is worth: unique tokens, epochs, effective tokens.

D' = U + U·R*·(1 − e^(−R/R*)) with U unique tokens, R = D/U − 1 repetitions and R* the decay
constant `repetition_decay` (Muennighoff et al. 2023, arXiv:2305.16264 eq. 5). R* is no cap: it is
the R at which a further epoch is worth 1/e of a fresh one.
"""

import math
from dataclasses import dataclass

from compute_budget_planner.guide.reference import Reference


@dataclass(frozen=True)
class DataUse:
    """How a run of `tokens` uses `unique_tokens` of data; shares in percent.

    `seen_tokens` are the different tokens the run sees, `repeated_percent` the share of training
    tokens seen before, `coverage_percent` what it sees of all that a generator of synthetic data
    can produce (None where there is none).
    """

    tokens: float
    seen_tokens: float
    epochs: float
    repeated_percent: float
    effective_tokens: float
    coverage_percent: float | None


def effective_tokens(tokens: float, unique_tokens: float, decay: float) -> float:
    """Return the fresh tokens that would be worth as much."""
    if tokens <= unique_tokens:
        return tokens
    repeats = tokens / unique_tokens - 1
    return unique_tokens * (1 + decay * -math.expm1(-repeats / decay))


def data_use(
    tokens: float,
    unique_tokens: float,
    reference: Reference,
    generator_tokens: float | None = None,
) -> DataUse:
    """Return epochs, repetition and effective tokens of a run."""
    seen = min(tokens, unique_tokens)
    return DataUse(
        tokens=tokens,
        seen_tokens=seen,
        epochs=tokens / unique_tokens,
        repeated_percent=100 * (1 - seen / tokens),
        effective_tokens=effective_tokens(
            tokens, unique_tokens, reference.value("repetition_decay")
        ),
        coverage_percent=None
        if generator_tokens is None
        else 100 * min(1.0, seen / generator_tokens),
    )
