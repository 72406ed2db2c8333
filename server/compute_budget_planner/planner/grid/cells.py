"""The cells of a grid, each estimated anew and judged by the law."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compute_budget_planner.errors import FactError
from compute_budget_planner.estimation.flops import flops_per_token_forward
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.numbers import brief
from compute_budget_planner.planner.assessing import Assessed
from compute_budget_planner.planner.matrix.variation import varied
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.grid import Cell, Wish, failure_of, sized
from compute_budget_planner.planning.grid_shapes import shape_facts
from compute_budget_planner.planning.inference_cost import ServingRate, serving_rate
from compute_budget_planner.planning.repetition import DataUse, data_use
from compute_budget_planner.planning.scaling_law import Allocation, ScalingLaw
from compute_budget_planner.results import RangeOut
from compute_budget_planner.results.grid import CellOut
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.facts import FactValue
from compute_budget_planner.workload.run import TrainingRun

_MILLION = 1e6


@dataclass(frozen=True)
class Built:
    """A cell with everything known about it; None where nothing can be said.

    `serving_flops` are forward FLOPs per token at the training length, `trouble` why there is no
    estimate.
    """

    cell: Cell
    changes: dict[str, FactValue]
    gpu_hours: Range | None
    wall_clock_hours: Range | None
    memory_verdict: str
    trouble: str
    use: DataUse | None
    loss: Range | None
    serving_flops: float
    serving: ServingRate

    @property
    def name(self) -> str:
        """The cell's name."""
        return self.cell.wish.name

    @property
    def learned(self) -> Allocation:
        """Parameters and effective tokens."""
        tokens = self.cell.tokens if self.use is None else self.use.effective_tokens
        return Allocation(self.cell.params_total, tokens)


def built(
    workspace: Workspace,
    assessed: Assessed,
    run: TrainingRun,
    wish: Wish,
    k: float | None,
    unique_tokens: float | None,
    generator_tokens: float | None,
    law: ScalingLaw | None,
) -> Built:
    """Give a wish its shape, estimate it, and predict its loss where `law` was fitted.

    Raises:
        RequestError: the family has no model that small.
    """
    reference = workspace.reference
    cell = sized(wish, run, k)
    changes = {**shape_facts(cell.arch), "train_tokens": cell.tokens}
    use = None
    if unique_tokens is not None:
        use = data_use(cell.tokens, unique_tokens, reference, generator_tokens)
    serving_flops = flops_per_token_forward(cell.arch, run.data.seq_len or 1).total
    hours = wall = None
    verdict, trouble = "UNKNOWN", ""
    try:
        assessment = varied(reference, assessed, changes, f"grid cell {wish.name}").assessment
    except FactError as error:
        trouble = f"cannot be estimated: {error.what}"
    else:
        if assessment.estimate is not None:
            hours = assessment.estimate.gpu_hours
            wall = assessment.estimate.wall_clock_hours
        if assessment.memory is not None:
            verdict = assessment.memory.verdict
            fix = assessment.memory.smallest_fix
            trouble = f"memory {verdict}; smallest fix: {fix}" if fix else ""
    found = Built(
        cell=cell,
        changes=changes,
        gpu_hours=hours,
        wall_clock_hours=wall,
        memory_verdict=verdict,
        trouble=trouble,
        use=use,
        loss=None,
        serving_flops=serving_flops,
        serving=serving_rate(
            serving_flops, run.hardware.accelerator, run.numerics.precision, reference
        ),
    )
    return _predicted(found, law)


def _predicted(found: Built, law: ScalingLaw | None) -> Built:
    if law is None or not law.covers(found.cell.params_total, found.cell.tokens):
        return found
    learned = found.learned
    return replace(found, loss=law.loss(learned.params, learned.tokens))


def cells_out(
    workspace: Workspace, run: TrainingRun, cells: Sequence[Built], law: ScalingLaw | None
) -> list[CellOut]:
    """Return the rows of the grid, with the penalty against the best cell of each budget."""
    penalties: dict[str, Range] = {}
    for budget in {b.cell.wish.budget_flops for b in cells}:
        own = [b for b in cells if b.cell.wish.budget_flops == budget and b.loss is not None]
        if law is not None and len(own) > 1:
            ranges = law.penalties_percent([b.learned for b in own])
            penalties |= {b.name: r for b, r in zip(own, ranges, strict=True)}
    return [_cell_out(workspace, run, b, penalties.get(b.name)) for b in cells]


def _cell_out(
    workspace: Workspace, run: TrainingRun, found: Built, penalty: Range | None
) -> CellOut:
    cell, use = found.cell, found.use
    failure = failure_of(cell, None if use is None else use.epochs, workspace.reference)
    return CellOut.model_validate(
        {
            "cell": found.name,
            "role": cell.wish.role,
            "budget_flops": cell.wish.budget_flops,
            "n_layers": cell.arch.n_layers,
            "d_model": cell.arch.d_model,
            "n_heads": cell.arch.n_heads,
            "params_total": cell.params_total,
            "params_without_embeddings": cell.params_without_embeddings,
            "tokens": cell.tokens,
            "tokens_per_param": cell.tokens / cell.params_total,
            "optimizer_steps": cell.optimizer_steps,
            "global_batch_size": run.batch.global_batch_size,
            "unique_tokens": None if use is None else round(use.seen_tokens),
            "epochs": None if use is None else use.epochs,
            "repeated_percent": None if use is None else use.repeated_percent,
            "generator_coverage_percent": None if use is None else use.coverage_percent,
            "effective_tokens": None if use is None else use.effective_tokens,
            "training_flops": cell.training_flops,
            "budget_deviation_percent": cell.budget_deviation_percent,
            "six_nd_deviation_percent": cell.six_nd_deviation_percent,
            "flags": _flags(workspace, found),
            "gpu_hours": _range(found.gpu_hours),
            "wall_clock_hours": _range(found.wall_clock_hours),
            "memory_verdict": found.memory_verdict,
            "predicted_loss": _range(found.loss),
            "penalty_percent": _range(penalty),
            "inference_flops_per_token": found.serving_flops,
            "gpu_seconds_per_million_read": _range(found.serving.read.scaled(_MILLION)),
            "gpu_seconds_per_million_written": _range(found.serving.written.scaled(_MILLION)),
            "fails_by": failure.required("fails_by"),
            "seen_as": failure.required("seen_as"),
            "then": failure.required("next"),
        }
    )


def _flags(workspace: Workspace, found: Built) -> list[str]:
    reference, cell = workspace.reference, found.cell
    flags = [found.trouble] if found.trouble else []
    off = cell.budget_deviation_percent
    if abs(off) > reference.value("budget_deviation_percent"):
        more = "more" if off > 0 else "fewer"
        flags.append(f"{brief(abs(off))} % {more} true FLOPs than the budget")
    off = 100 * (cell.params_total / cell.wish.params - 1)
    if abs(off) > reference.value("budget_deviation_percent"):
        more = "more" if off > 0 else "fewer"
        flags.append(f"the nearest shape of the family has {brief(abs(off))} % {more} parameters")
    if found.use is not None and found.use.epochs > reference.value("repetition_free_epochs"):
        flags.append(f"{brief(found.use.epochs)} epochs are worth less than as many fresh tokens")
    return flags


def _range(value: Range | None) -> RangeOut | None:
    return None if value is None else RangeOut.of(value)


def withheld_because(run: TrainingRun, cells: Sequence[Built], law: ScalingLaw | None) -> str:
    """Return why the loss of some cells or all is not predicted, nothing when all are."""
    if law is None:
        return reason_of_kind(run) or "no law was wanted"
    outside = [b.name for b in cells if b.loss is None]
    if not outside:
        return ""
    return (
        f"{', '.join(outside)}: outside the fitted range of `{law.name}` "
        f"({brief(law.params_low)} to {brief(law.params_high)} parameters, "
        f"{brief(law.tokens_low)} to {brief(law.tokens_high)} tokens)"
    )


def reason_of_kind(run: TrainingRun) -> str:
    """Return why no law of text applies to this kind of run, nothing when one does."""
    model, numerics = run.model, run.numerics
    if numerics.method != "pretrain":
        return f"the laws describe training from scratch, the method is {numerics.method}"
    if numerics.objective != "lm":
        return f"the laws describe language modelling, the objective is {numerics.objective}"
    if not isinstance(model, Architecture) or not model.causal or not model.vocab_size:
        return "the laws describe causal language models"
    if model.experts is not None:
        return "the laws describe dense models, this one is a mixture of experts"
    return ""
