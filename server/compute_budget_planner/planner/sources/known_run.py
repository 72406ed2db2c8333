"""What is known of a run that need not be estimated: sizes, steps, tokens, FLOPs, repetition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compute_budget_planner.errors import FactError
from compute_budget_planner.estimation.flops import (
    training_flops_per_sample,
    training_flops_per_token,
)
from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.estimation.steps import count_steps
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.planning.repetition import DataUse, data_use
from compute_budget_planner.planning.scaling_law import SIX
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.facts import Basis, Fact
from compute_budget_planner.workload.merge import merge
from compute_budget_planner.workload.resolve import resolve
from compute_budget_planner.workload.run import TrainingRun


@dataclass(frozen=True)
class KnownRun:
    """The facts in force, and the run they make; `whole` is None where something is missing."""

    facts: Mapping[str, Fact]
    whole: TrainingRun | None

    def number(self, *names: str) -> float | None:
        """Return the first of some numeric facts that somebody gave, or None."""
        for fact in (self.facts[name] for name in names if name in self.facts):
            if fact.basis is not Basis.ASSUMED and not isinstance(fact.value, str):
                return float(fact.value)
        return None

    def text(self, name: str) -> str:
        """Return a fact as text, empty when nobody gave it."""
        fact = self.facts.get(name)
        return "" if fact is None or fact.basis is Basis.ASSUMED else str(fact.value)

    @property
    def params(self) -> float | None:
        """Parameters in all: counted from the shape, or as given."""
        if self.whole is not None and isinstance(self.whole.model, Architecture):
            return float(count_parameters(self.whole.model).total)
        return self.number("params_total")

    @property
    def tokens_per_step(self) -> float | None:
        """Tokens of one optimizer step, None where batch or length is unknown."""
        batch, length = self.number("global_batch_size"), self.number("seq_len")
        return None if batch is None or length is None else batch * length

    @property
    def steps(self) -> float | None:
        """Optimizer steps planned: as given, or counted from tokens or epochs."""
        given = self.number("max_steps")
        if given is not None or self.number("global_batch_size") is None:
            return given
        ledger = None if self.whole is None else count_steps(self.whole)
        return None if ledger is None else float(ledger.optimizer_steps)

    @property
    def flops_per_step(self) -> float | None:
        """Model FLOPs of one optimizer step; 6·N per token where no more than N is known."""
        whole = self.whole
        if whole is not None and self.number("global_batch_size") is not None:
            batch, numerics = whole.batch.global_batch_size, whole.numerics
            rank = numerics.lora_rank if numerics.method in ("lora", "qlora") else 0
            if not isinstance(whole.model, Architecture):
                return training_flops_per_sample(whole.model, lora_rank=rank).model * batch
            if whole.data.seq_len:
                length = whole.data.seq_len
                per_token = training_flops_per_token(whole.model, length, lora_rank=rank)
                return per_token.model * batch * length
        params, tokens = self.number("params_active", "params_total"), self.tokens_per_step
        return None if params is None or tokens is None else SIX * params * tokens

    @property
    def unique_tokens(self) -> float | None:
        """Different tokens of the training data: as given, or examples times their length."""
        given = self.number("unique_tokens", "dataset_tokens")
        examples, length = self.number("dataset_examples"), self.number("seq_len")
        if given is not None or examples is None or length is None:
            return given
        return examples * length

    def data_used(self, steps: float, reference: Reference) -> DataUse | None:
        """Return epochs and repetition of some steps, None where sizes are unknown."""
        unique, tokens = self.unique_tokens, self.tokens_per_step
        if unique is None or tokens is None or steps <= 0:
            return None
        return data_use(steps * tokens, unique, reference)

    def epochs(self, steps: float) -> float | None:
        """Return the passes over the examples that some steps make, or those that are planned."""
        examples, batch = self.number("dataset_examples"), self.number("global_batch_size")
        if examples is not None and batch is not None:
            return steps * batch / examples
        return self.number("epochs")


def known_run(reference: Reference, name: str, facts: Sequence[Fact]) -> KnownRun:
    """Return what facts say of a run; facts that make no run are taken as they stand."""
    try:
        resolution = resolve(facts, reference, name=name)
    except FactError:
        return KnownRun(merge(facts)[0], None)
    return KnownRun(resolution.facts, resolution.run)
