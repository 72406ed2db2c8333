"""How wide the range is: the regime's residual, and every assumption tried with its others.

Each assumption's plausible values are estimated in turn; what they change, in logarithms,
counts as an independent deviation beside the residual. The widest of them is the fact to ask
about first.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from compute_budget_planner.errors import FactError
from compute_budget_planner.estimation.estimate import LogSpread, point_gpu_hours
from compute_budget_planner.estimation.memory_terms import memory_terms
from compute_budget_planner.estimation.ranges import Z80
from compute_budget_planner.estimation.step import step_time
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.ledger import Assumption
from compute_budget_planner.workload.resolve import Resolution
from compute_budget_planner.workload.run import TrainingRun

Resolver = Callable[[Sequence[Fact]], Resolution]
"""Resolves the run again with a few more facts on top."""

_USUAL_DEVICES = {"a100", "hopper"}
_HARD_TO_KNOW = (
    ("sigma_launch", "kernel launches"),
    ("sigma_communication", "communication"),
)
"""What no fact tells well, and the part of the step that hangs on it."""

_UNVALIDATED = {"dpo", "ppo", "grpo", "distillation", "evaluation", "contrastive"}


@dataclass(frozen=True)
class AssumedSpread:
    """An assumption with the log deviations it causes below and above."""

    assumption: Assumption
    down: float
    up: float

    @property
    def factor(self) -> float:
        """High over low of GPU-hours this assumption alone causes."""
        return math.exp(Z80 * (self.down + self.up))


@dataclass(frozen=True)
class Uncertainty:
    """The spread of the step time, its parts, and the runs the assumptions also allow."""

    spread: LogSpread
    assumed: tuple[AssumedSpread, ...]
    others: tuple[TrainingRun, ...]

    @property
    def widest(self) -> AssumedSpread | None:
        """The assumption that costs most width, None when none costs any."""
        ranked = sorted(self.assumed, key=lambda a: a.factor)
        return ranked[-1] if ranked and ranked[-1].factor > 1.01 else None


def residual_sigma(run: TrainingRun, reference: Reference) -> float:
    """Return the log deviation of published runs of the run's regime from the estimate.

    Where a step waits for the host or the network, their speed, which no fact tells, adds to it.
    """
    regime = reference.value(regime_sigma_name(run))
    if run.numerics.objective in _UNVALIDATED or not isinstance(run.model, Architecture):
        return regime
    time = step_time(run, reference)
    return _norm([regime, *(reference.value(n) * time.share(part) for n, part in _HARD_TO_KNOW)])


def regime_sigma_name(run: TrainingRun) -> str:
    """Return the name of the regime's own deviation: the first that applies."""
    numerics = run.numerics
    if numerics.objective in _UNVALIDATED:
        return "sigma_unvalidated"
    if not isinstance(run.model, Architecture):
        counted = run.model.activations_per_sample is not None
        return "sigma_sample" if counted else "sigma_sample_flops_only"
    generation = run.hardware.accelerator.generation
    applies = {
        "sigma_moe": run.model.experts is not None,
        "sigma_blackwell": generation == "blackwell",
        "sigma_other_device": generation not in _USUAL_DEVICES,
        "sigma_fp8": numerics.precision == "fp8",
        "sigma_adapters": numerics.trains_adapters,
        "sigma_finetune": numerics.method == "full-ft",
        "sigma_pretrain_hopper": generation == "hopper",
    }
    return next((name for name, holds in applies.items() if holds), "sigma_pretrain")


def as_fact(assumption: Assumption, value: object) -> Fact:
    """Return an assumption's other value as the fact that overrides it."""
    assert isinstance(value, int | float | str | bool)  # noqa: S101  a value of a fact
    return Fact(assumption.fact, value, Basis.ASSUMED, "another plausible value", Layer.ARGUMENT)


def uncertainty(
    resolution: Resolution,
    resolve_with: Resolver,
    reference: Reference,
    residual: float,
) -> Uncertainty:
    """Return the spread of a resolved run; `residual` is its log deviation without assumptions."""
    run = resolution.run
    base = point_gpu_hours(run, reference) if run is not None else None
    if run is None or base is None:
        return Uncertainty(LogSpread(residual, residual), (), ())
    assumed: list[AssumedSpread] = []
    others: list[TrainingRun] = []
    for assumption in resolution.assumptions:
        logs = [0.0]
        for value in assumption.alternatives:
            other = _resolved(resolve_with, as_fact(assumption, value))
            hours = point_gpu_hours(other, reference) if other is not None else None
            if other is None or not hours or _cannot_fit(other, reference):
                continue
            logs.append(math.log(hours / base))
            others.append(other)
        assumed.append(AssumedSpread(assumption, -min(logs) / Z80, max(logs) / Z80))
    return Uncertainty(
        LogSpread(
            _norm([residual, *(a.down for a in assumed)]),
            _norm([residual, *(a.up for a in assumed)]),
        ),
        tuple(assumed),
        tuple(others),
    )


def _resolved(resolve_with: Resolver, fact: Fact) -> TrainingRun | None:
    try:
        return resolve_with([fact]).run
    except FactError:
        # The other value contradicts a known fact: it is not plausible here.
        return None


def _cannot_fit(run: TrainingRun, reference: Reference) -> bool:
    capacity = run.hardware.accelerator.memory_gib
    return capacity is not None and memory_terms(run, reference).peak.low > capacity


def _norm(values: Iterable[float]) -> float:
    return math.sqrt(sum(v * v for v in values))


def settle(
    resolution: Resolution, resolve_with: Resolver, reference: Reference
) -> tuple[Resolution, tuple[Fact, ...]]:
    """Replace assumed values that cannot fit in memory by plausible ones that can.

    A run that is planned presumably runs: where nobody stated sharding, checkpointing,
    micro-batch or loss kernel, a choice that overflows the device is the least plausible. One
    change is tried before several. Returns the settled resolution and the facts that settled
    it; the first resolution when nothing helps.
    """
    run = resolution.run
    if run is None or not _cannot_fit(run, reference):
        return resolution, ()
    changes = _memory_savers(resolution)
    attempts = [[change] for change in changes]
    attempts += [changes[: n + 1] for n in range(1, len(changes))]
    for facts in attempts:
        try:
            other = resolve_with(facts)
        except FactError:
            # This value contradicts a known fact: it is not plausible here.
            continue
        if other.run is not None and not _cannot_fit(other.run, reference):
            return other, tuple(facts)
    return resolution, ()


def _memory_savers(resolution: Resolution) -> list[Fact]:
    """Return the memory-saving other value of each assumption that has one."""
    assumed = {a.fact: a for a in resolution.assumptions}
    facts = []
    for name in ("sharding", "activation_checkpointing", "micro_batch_size", "fused_loss"):
        assumption = assumed.get(name)
        if assumption is None or not assumption.alternatives:
            continue
        value = assumption.alternatives[0]
        saves = {
            "micro_batch_size": isinstance(value, int) and value < int(assumption.value),
            "fused_loss": value is True,
        }
        if saves.get(name, True):
            why = f"`{assumption.value}` would not fit in memory"
            facts.append(Fact(name, value, Basis.ASSUMED, why, Layer.ARGUMENT))
    return facts
