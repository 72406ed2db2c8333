"""Training runs for the tests of planning, from facts as a caller gives them."""

from functools import cache

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.workload.facts import Basis, Fact, FactValue, Layer
from compute_budget_planner.workload.resolve import resolve
from compute_budget_planner.workload.run import TrainingRun
from compute_budget_planner.workload.vocabulary import parse_fact


@cache
def guide() -> Reference:
    """Return the shipped guide."""
    return load_reference(())


def planned_run(**given: FactValue) -> TrainingRun:
    """Return the run that facts describe; without any, GPT-2 small on eight A100-40.

    An empty text withdraws a fact.
    """
    facts = {
        "model": "gpt2",
        "seq_len": 1024,
        "max_steps": 100_000,
        "gpu": "A100-SXM-40GB",
        "n_gpus": 8,
        "micro_batch_size": 16,
        "grad_accum_steps": 4,
        "precision": "bf16",
    } | given
    run = resolve(
        [
            Fact(name, parse_fact(name, raw, guide()), Basis.STATED, "stated", Layer.ARGUMENT)
            for name, raw in facts.items()
            if raw != ""
        ],
        guide(),
    ).run
    assert run is not None
    return run
