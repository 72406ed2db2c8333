"""Memory of runs that differ from a stated one in named facts."""

from compute_budget_planner.estimation.memory import MemoryEstimate, estimate_memory
from compute_budget_planner.estimation.memory_activations import activations
from compute_budget_planner.estimation.memory_states import memory_states
from compute_budget_planner.estimation.memory_terms import MemoryTerms, memory_terms
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.workload.architecture import Architecture
from hypothesis import settings
from stated_runs import REFERENCE, whole

GIB = 2**30
LLAMA_2_7B = 6_738_415_616
LLAMA_3_70B = 70_553_706_496
ONE = {"n_gpus": 1, "sharding": None, "micro_batch_size": 1}
CASES = settings(max_examples=60, deadline=None)


def terms(**changes: object) -> MemoryTerms:
    return memory_terms(whole(**changes), REFERENCE)


def state_bytes(**changes: object) -> float:
    """Return bytes of weights, gradients and optimizer states of a run."""
    states = memory_states(whole(**changes), REFERENCE)
    return states.weights + states.gradients + states.optimizer


def logits_gib(**changes: object) -> Range:
    """Return GiB of the logits at the loss."""
    run = whole(**changes)
    assert isinstance(run.model, Architecture)
    return activations(run, run.model, REFERENCE).logits.scaled(1 / GIB)


def stored_bytes_per_element(**changes: object) -> float:
    """Return stored bytes per token, layer and unit of width."""
    run = whole(**changes)
    model = run.model
    assert isinstance(model, Architecture)
    tokens = run.batch.micro_batch_size * (run.data.seq_len or 1)
    stored = activations(run, model, REFERENCE).stored.expected
    return stored / (tokens * model.d_model * model.n_layers)


def estimated(**changes: object) -> MemoryEstimate:
    return estimate_memory(whole(**changes), REFERENCE)
