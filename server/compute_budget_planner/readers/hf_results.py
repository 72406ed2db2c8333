"""`train_results.json` and `all_results.json` of Hugging Face example scripts.

They hold the run time but no step count, and rates rounded to three decimals. Steps are given
only where the rounding leaves no choice. The run time includes evaluation and saving during
training. Source: `speed_metrics` in the `transformers` documentation.
"""

from collections.abc import Iterator

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import (
    Basis,
    Layer,
    LossSeries,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.loss_curves import VALIDATION, loss_series
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.rounded_rates import (
    number_of,
    steps_of,
    trustworthy_rate,
)
from compute_budget_planner.readers.run_log import ALLOCATED
from compute_budget_planner.readers.structured import load_mapping, mapping_of

_MEMORY_BYTES = (
    "before_init_mem_gpu",
    "init_mem_gpu_alloc_delta",
    "train_mem_gpu_alloc_delta",
    "train_mem_gpu_peaked_delta",
)
_RATES = {"train_samples_per_second", "train_steps_per_second"}


class HfResultsReader:
    """The metrics file an example script writes at its end."""

    format = "hf_results"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether run time and a rate stand at the top, and no log history."""
        document = mapping_of(file)
        if document is None:
            return False
        top = document.root.mapping.keys()
        return "train_runtime" in top and bool(_RATES & top) and "log_history" not in top

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return duration, step time and what follows from the rates.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        values = run_values(document.root, file.at(document.root.line_of("train_runtime")))
        facts, problems = direct_facts(values, Basis.MEASURED, Layer.CONFIG, reference)
        if not any(fact.name == "step_seconds" for fact in facts):
            text = "the rates are rounded too coarsely for a step time; pass trainer_state.json"
            problems = (*problems, Problem(file.at(document.root.line_of("train_runtime")), text))
        return Reading(
            path=file.path,
            format=self.format,
            kind="log",
            measured=facts,
            problems=document.problems + problems,
            finished=True,
            losses=_last_evaluation(document.root, file.path),
            notes={"peak_memory_kind": ALLOCATED} if _peak_memory_gib(document.root) else {},
        )


def run_values(root: Node, source: str) -> Iterator[DirectValue]:
    """Return the facts of a metrics mapping wherever it stands."""
    runtime = number_of(root.get("train_runtime"))
    if runtime is None:
        return
    steps_rate = number_of(root.get("train_steps_per_second"))
    samples_rate = trustworthy_rate(root.get("train_samples_per_second"))
    examples, epochs = number_of(root.get("train_samples")), number_of(root.get("epoch"))
    yield "wall_clock_hours", runtime / 3600, source
    yield "samples_per_second", samples_rate, source
    yield "dataset_examples", examples, source
    yield "epochs", round(epochs) if epochs and abs(epochs - round(epochs)) < 0.01 else None, source
    yield "train_tokens", number_of(root.get("num_input_tokens_seen")), source
    yield "peak_memory_gib", _peak_memory_gib(root), source
    steps = number_of(root.get("global_step"))
    if steps is None and steps_rate is not None:
        steps = steps_of(runtime, steps_rate, samples_rate, examples, epochs)
    if steps is not None:
        yield "steps_done", steps, source
        yield "step_seconds", runtime / steps, source
    elif trustworthy_rate(root.get("train_steps_per_second")) and steps_rate is not None:
        yield "step_seconds", 1 / steps_rate, source


def _peak_memory_gib(root: Node) -> float | None:
    """Return what the allocator held at most: memory at the start and all growth since."""
    parts = [root.get(key) for key in _MEMORY_BYTES]
    values = [p.scalar for p in parts if p is not None]
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) < len(_MEMORY_BYTES) or not 0 < sum(numbers) < 2**50:
        return None
    return sum(numbers) / 2**30


def _last_evaluation(root: Node, path: str) -> tuple[LossSeries, ...]:
    """Return the loss of the last evaluation; `train_loss` is a mean over the run, no point."""
    epoch, node = number_of(root.get("epoch")), root.get("eval_loss")
    loss = node.scalar if node is not None else None
    if epoch is None or isinstance(loss, bool) or not isinstance(loss, int | float):
        return ()
    return loss_series(VALIDATION, [(round(epoch), loss)], path, "epochs")


READER = HfResultsReader()
