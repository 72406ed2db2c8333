"""Runs of stated facts, as estimation tests write them."""

from compute_budget_planner.estimation.assess import Assessment, assess
from compute_budget_planner.estimation.calibration import Measured
from compute_budget_planner.estimation.step import step_time
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.resolve import resolve
from compute_budget_planner.workload.run import TrainingRun
from compute_budget_planner.workload.vocabulary import parse_fact

REFERENCE = load_reference()

WHOLE = {
    "model": "llama-3.2-1b",
    "gpu": "A100-SXM-80GB",
    "n_gpus": 8,
    "max_steps": 1000,
    "seq_len": 2048,
    "micro_batch_size": 4,
    "grad_accum_steps": 1,
    "precision": "bf16",
    "optimizer": "adamw",
    "method": "pretrain",
    "objective": "lm",
    "framework": "pytorch",
    "sharding": "ddp",
    "activation_checkpointing": "none",
    "attention": "flash",
    "compile": False,
    "fused_loss": False,
    "gradient_dtype": "bf16",
}
"""A run about which nothing is assumed."""


def facts(**raw: object) -> list[Fact]:
    """Return stated facts."""
    return [
        Fact(name, parse_fact(name, value, REFERENCE), Basis.STATED, "argument", Layer.ARGUMENT)
        for name, value in raw.items()
    ]


def run(**raw: object) -> TrainingRun:
    """Return the run of stated facts."""
    resolution = resolve(facts(**raw), REFERENCE)
    assert resolution.run is not None, resolution.questions
    return resolution.run


def whole(**changes: object) -> TrainingRun:
    """Return the run about which nothing is assumed, with changes; None takes a fact away."""
    return run(**{k: v for k, v in {**WHOLE, **changes}.items() if v is not None})


def seconds(training_run: TrainingRun) -> float:
    """Return the expected seconds of one optimizer step."""
    return step_time(training_run, REFERENCE).seconds


def assessed(*measured: Measured, **raw: object) -> Assessment:
    """Assess stated facts."""
    return assess(facts(**raw), REFERENCE, measured=measured)
