"""What a trained model costs to serve, and what that does to the best size.

Served tokens cost a forward pass each. The deployment optimum is the cheapest way over a whole
life to a given loss: min 6·N·D + 2·N·T with L(N, D) = ℓ and T tokens served (Sardana et al. 2024,
arXiv:2401.00448 eq. 3). Test-time compute, several answers or search steps per query, multiplies
the forward passes and stands on an axis of its own.
"""

import math
from dataclasses import dataclass

from compute_budget_planner.estimation.device_rate import dense_peak_tflops
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.rows import Accelerator
from compute_budget_planner.planning.scaling_law import SIX, Allocation, Surface

_FORWARD = 2.0
_STEPS = 100
_SHRINK = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class ServingRate:
    """GPU-seconds per token served: tokens of the prompt (`read`) and answers (`written`)."""

    read: Range
    written: Range

    def gpu_hours(self, read_tokens: float, written_tokens: float) -> Range:
        """Return the GPU-hours of a served volume."""
        return self.read.scaled(read_tokens / 3600).plus(self.written.scaled(written_tokens / 3600))


def serving_rate(
    flops_per_token: float, accelerator: Accelerator, precision: str, reference: Reference
) -> ServingRate:
    """Return GPU-seconds per token at the guide's share of the dense peak.

    Raises:
        FactError: the guide gives no peak of that precision for the device.
    """
    at_peak = flops_per_token / (dense_peak_tflops(accelerator, precision) * 1e12)

    def seconds(quantity: str) -> Range:
        share = reference.quantity(quantity)
        return Range(share.low / 100, share.expected / 100, share.high / 100).inverse(at_peak)

    return ServingRate(seconds("serving_read_percent"), seconds("serving_written_percent"))


@dataclass(frozen=True)
class Deployment:
    """The cheapest allocation for a loss and a served volume; FLOPs of training and serving.

    `saving_percent` is what it saves of the FLOPs the training optimum of that loss would need
    over its life.
    """

    best: Allocation
    training_flops: float
    serving_flops: float
    saving_percent: float


def deployment_optimum(
    surface: Surface, training_optimum: Allocation, served_tokens: float
) -> Deployment:
    """Return the allocation of least FLOPs over a life that reaches the training optimum's loss.

    `training_optimum` is the allocation of least loss at some training budget: the model that is
    best when nobody counts serving, and so the largest worth looking at.
    """
    loss = surface.loss(training_optimum.params, training_optimum.tokens)
    # Below this size no amount of data reaches the loss.
    smallest = (surface.a / (loss - surface.e)) ** (1 / surface.alpha)

    def life_flops(log_params: float) -> float:
        params = math.exp(log_params)
        tokens = surface.tokens_for(params, loss)
        return math.inf if tokens is None else params * (SIX * tokens + _FORWARD * served_tokens)

    low, high = math.log(smallest), math.log(training_optimum.params)
    for _ in range(_STEPS):
        third = (high - low) * _SHRINK
        if life_flops(high - third) < life_flops(low + third):
            high = low + third
        else:
            low = high - third
    params = math.exp((low + high) / 2)
    tokens = surface.tokens_for(params, loss) or training_optimum.tokens
    training, serving = SIX * params * tokens, _FORWARD * params * served_tokens
    undivided = training_optimum.params * (SIX * training_optimum.tokens + _FORWARD * served_tokens)
    return Deployment(
        Allocation(params, tokens), training, serving, 100 * (1 - (training + serving) / undivided)
    )


def samples_at_equal_cost(flops_per_token: float, larger_flops_per_token: float) -> float:
    """Return how many answers of one model cost what one answer of a larger one does."""
    return larger_flops_per_token / flops_per_token
