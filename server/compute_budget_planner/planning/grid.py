"""The cells of an N × D grid: which sizes, how many tokens, what they really cost.

Near-equal compute means equal true FLOPs: matmuls, causal attention, head and what checkpointing
repeats. Equal 6·N·D is something else, and a cell says by how much.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from compute_budget_planner.estimation.flops import training_flops_per_token
from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.tables import Row
from compute_budget_planner.planning.grid_shapes import shape_near
from compute_budget_planner.planning.scaling_law import SIX
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import TrainingRun


@dataclass(frozen=True)
class Wish:
    """A cell before it has a real shape: budget in FLOPs, parameters, tokens if they are fixed.

    `role` is smaller, middle, larger (than the middle of its budget) or higher-budget.
    """

    name: str
    budget_flops: float
    params: float
    role: str
    tokens: float | None = None


@dataclass(frozen=True)
class Cell:
    """A cell with a real shape and whole steps.

    `training_flops` are true FLOPs, recomputation included; deviations in percent: of these from
    the budget, and of 6·N·D from these.
    """

    wish: Wish
    arch: Architecture
    params_total: int
    params_without_embeddings: int
    optimizer_steps: int
    tokens: int
    training_flops: float
    budget_deviation_percent: float
    six_nd_deviation_percent: float


def budget_wishes(
    number: int, budget_flops: float, params: float, ratios: Sequence[float]
) -> list[Wish]:
    """Return the cells of one budget: `params` times each ratio."""
    return [
        Wish(f"b{number}-n{ratio:g}", budget_flops, params * ratio, _role(ratio, 1.0))
        for ratio in ratios
    ]


def relative_wishes(
    pairs: Sequence[tuple[float, float]], unit_params: float, unit_tokens: float, k: float
) -> list[Wish]:
    """Return cells in relative units; the budget of all is that of the first, k·N·D."""
    budget = k * pairs[0][0] * unit_params * pairs[0][1] * unit_tokens
    middle = sorted(n for n, _ in pairs)[len(pairs) // 2]
    return [
        Wish(f"n{n:g}-d{d:g}", budget, n * unit_params, _role(n, middle), d * unit_tokens)
        for n, d in pairs
    ]


def ratios(cells: int, spacing: float) -> list[float]:
    """Return the sizes of a budget's cells over the middle one, such as 0.5, 1, 2."""
    return [spacing ** (index - cells // 2) for index in range(cells)]


def flops_per_token(arch: Architecture, run: TrainingRun) -> float:
    """Return the true training FLOPs per token of a shape under a run's length and numerics."""
    return training_flops_per_token(
        arch,
        run.data.seq_len or 1,
        activation_checkpointing=run.numerics.activation_checkpointing,
        lora_rank=run.numerics.adapter_rank,
    ).hardware


def sized(wish: Wish, run: TrainingRun, k: float | None) -> Cell:
    """Return the cell in a real shape of the run's family, with whole optimizer steps.

    Tokens are those wished for, else the budget over the true FLOPs per token, or over k·N where
    somebody counts with a k.

    Raises:
        RequestError: the family has no model that small.
    """
    assert isinstance(run.model, Architecture)  # noqa: S101  the caller has refused all others
    arch = shape_near(run.model, wish.params, run.parallelism.tp, run.parallelism.pp)
    counts = count_parameters(arch)
    per_token = flops_per_token(arch, run)
    wanted = wish.tokens or wish.budget_flops / (per_token if k is None else k * counts.active)
    per_step = run.batch.global_batch_size * (run.data.seq_len or 1)
    steps = max(1, round(wanted / per_step))
    tokens = steps * per_step
    training = per_token * tokens
    return Cell(
        wish=wish,
        arch=arch,
        params_total=counts.total,
        params_without_embeddings=counts.total - counts.embedding - counts.head,
        optimizer_steps=steps,
        tokens=tokens,
        training_flops=training,
        budget_deviation_percent=100 * (training / wish.budget_flops - 1),
        six_nd_deviation_percent=100 * (SIX * counts.active * tokens / training - 1),
    )


def failure_of(cell: Cell, epochs: float | None, reference: Reference) -> Row:
    """Return the row of `cell_failures` that says how this cell would most likely fail."""
    if epochs is not None and epochs > reference.value("repetition_free_epochs"):
        return reference.row("cell_failures", "data")
    by_role = {
        "smaller": "capacity",
        "larger": "under-training",
        "higher-budget": "trend",
        "middle": "indistinct",
    }
    return reference.row("cell_failures", by_role[cell.wish.role])


def first_cells(cells: Sequence[Cell], refused: Sequence[str], most: int) -> list[str]:
    """Return the cells to run first: of the lowest budget, the middle one, then its neighbours.

    `refused` are names of cells that do not fit in memory.
    """
    lowest = min(cell.wish.budget_flops for cell in cells)
    own = [c for c in cells if c.wish.budget_flops == lowest and c.wish.name not in refused]
    middle = next((c.wish.params for c in own if c.wish.role == "middle"), None)
    if middle is None:
        return [c.wish.name for c in own[:most]]
    # The smaller of two neighbours goes first: it is the one that is cheap to serve.
    ranked = sorted(own, key=lambda c: (abs(math.log(c.wish.params / middle)), c.wish.params))
    return [c.wish.name for c in ranked[:most]]


def _role(size: float, middle: float) -> str:
    if math.isclose(size, middle):
        return "middle"
    return "smaller" if size < middle else "larger"
