"""Loss curves of every kind, with noise, warm-up, schedules, restarts and spikes, by seed."""

import math
import random
from dataclasses import dataclass

from compute_budget_planner.planning.loss_curves import Curve

STEPS = 10_000
FLOOR, HIGH = 2.0, 2.6
SCHEDULES = ("constant", "cosine", "restarts")
_WARM_UP = 0.04
_CYCLES = 3
_ANNEALING = {"constant": 0.0, "cosine": 0.02, "restarts": 0.12}
"""How much of the loss the learning rate holds up, falling to none where it decays to zero."""


@dataclass(frozen=True)
class Spoiled:
    """What is laid over a curve: relative noise of one training loss, schedule, single spikes."""

    noise: float
    schedule: str
    spikes: int


def rate(share: float, schedule: str) -> float:
    """Return the learning rate over its peak at a share of the steps."""
    if share < _WARM_UP:
        return share / _WARM_UP
    if schedule == "constant":
        return 1.0
    turns = share if schedule == "cosine" else (share * _CYCLES) % 1.0 or 1.0
    return 0.5 * (1 + math.cos(math.pi * turns))


def shape(kind: str, share: float) -> tuple[float, float]:
    """Return training and validation loss without noise at a share of the steps."""
    quick = 5 * math.exp(-share / 0.08)
    if kind == "converged":
        return FLOOR + quick, FLOOR + 0.03 + quick
    if kind == "capacity-limited":
        return HIGH + quick, HIGH + 0.02 + quick
    if kind == "under-training":
        slow = 3 * (1 + 20 * share) ** -0.5
        return FLOOR + slow, FLOOR + 0.02 + slow
    if kind == "between":
        slow = 2 * (1 + 80 * share) ** -0.6
        return FLOOR + slow, FLOOR + 0.02 + slow
    if kind == "overfitting":
        return 1.2 + quick + 1.2 * math.exp(-share / 0.5), 2.2 + quick + 0.9 * max(0.0, share - 0.3)
    if kind == "diverging":
        away = 3 * (1 - math.exp(-max(0.0, share - 0.6) / 0.05))
        return FLOOR + quick + away, FLOOR + 0.03 + quick + away
    raise ValueError(kind)


def curves(
    kind: str, spoiled: Spoiled, seed: int, points: int = 400, validations: int = 40
) -> tuple[Curve, Curve]:
    """Return a training and a validation curve of a kind."""
    draw = random.Random(f"{kind} {spoiled} {seed}")  # noqa: S311
    held_up = _ANNEALING[spoiled.schedule]
    train, validation = [], []
    for i in range(1, points + 1):
        share = i / points
        clean = shape(kind, share)[0] * (1 + held_up * rate(share, spoiled.schedule))
        train.append(clean * (1 + draw.gauss(0, spoiled.noise)))
    for at in draw.sample(range(points // 5, points - points // 20, 16), spoiled.spikes):
        for offset, part in enumerate((1.0, 0.5, 0.2)):
            train[at + offset] += part * max(3.0, 20 * spoiled.noise * train[at])
    for i in range(1, validations + 1):
        share = i / validations
        clean = shape(kind, share)[1] * (1 + held_up * rate(share, spoiled.schedule))
        validation.append(clean * (1 + draw.gauss(0, spoiled.noise / 8)))
    return _curve(train), _curve(validation)


def _curve(values: list[float]) -> Curve:
    n = len(values)
    return Curve(tuple(STEPS * i / n for i in range(1, n + 1)), tuple(values))
