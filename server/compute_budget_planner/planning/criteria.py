"""When a smoke test passes: by task, since a fine-tuning loss starts near its floor."""

import math

from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.numbers import brief, shown
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import TrainingRun


def pass_criteria(run: TrainingRun, step_seconds: Range, peak_gib: Range | None) -> list[str]:
    """Return what must hold for the smoke test of a run to pass."""
    criteria = ["no crash, no NaN, no infinite gradient, no running out of memory"]
    criteria.append(_loss(run))
    criteria.append("a checkpoint is saved, and training resumes from it at the same loss")
    criteria.append("logging writes, and the metrics of the evaluation are computed")
    criteria.append(
        f"seconds per step lie between {brief(step_seconds.low)} and {brief(step_seconds.high)}, "
        "first steps left out"
    )
    if peak_gib is not None:
        criteria.append(
            f"peak memory lies between {brief(peak_gib.low)} and {brief(peak_gib.high)} GiB"
        )
    criteria.append("otherwise: estimate again with what was measured before the full run")
    return criteria


def _loss(run: TrainingRun) -> str:
    if run.numerics.method != "pretrain":
        return (
            "the loss does not rise beyond its noise (it may start near its floor), and "
            "gradients are finite and not zero"
        )
    outcomes = _outcomes(run)
    falling = "the loss falls: a robust slope over all steps is negative beyond its noise"
    if outcomes is None:
        return falling
    start = f"ln({shown(outcomes)}) = {brief(math.log(outcomes))}"
    return f"the first losses lie near {start}, and {falling}"


def _outcomes(run: TrainingRun) -> int | None:
    """Return the classes a fresh model guesses among, when the objective is a likelihood."""
    if isinstance(run.model, Architecture) and run.numerics.objective in ("lm", "mlm"):
        return run.model.vocab_size
    if run.numerics.objective == "classification" and run.model.num_classes > 1:
        return run.model.num_classes
    return None
