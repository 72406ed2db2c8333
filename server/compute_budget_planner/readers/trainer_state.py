"""`trainer_state.json` of the Hugging Face Trainer: steps done, and time once it has finished.

The file holds no clock readings: only a finished run has `train_runtime`, in its last log entry.
The Trainer computes its own rates from the planned steps and rounds them, so the step time is
wall-clock over steps made. `eval_steps` and `save_steps` stand there even when nothing is evaluated
or saved by steps, so they say nothing. Source: the documentation of `transformers.TrainerState`.
"""

from collections.abc import Iterator

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import (
    Basis,
    Layer,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.rounded_rates import number_of, trustworthy_rate
from compute_budget_planner.readers.structured import load_mapping, mapping_of


class TrainerStateReader:
    """The state the Trainer saves with every checkpoint and at its end."""

    format = "hf_trainer_state"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping has a log history and a step count."""
        document = mapping_of(file)
        return document is not None and {"log_history", "global_step"} <= set(document.root.mapping)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return steps, and duration and step time when the run has ended.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        root = document.root
        summary = _summary(root)
        facts, problems = direct_facts(
            _values(file, root, summary), Basis.MEASURED, Layer.CONFIG, reference
        )
        if summary is None:
            steps, planned = number_of(root.get("global_step")), number_of(root.get("max_steps"))
            text = (
                f"the run is not finished (step {steps or 0:.0f} of {planned or 0:.0f}) and the "
                "file holds no times; pass the job's log for its speed"
            )
            problems = (*problems, Problem(file.at(_line(root, "global_step")), text))
        return Reading(
            path=file.path,
            format=self.format,
            kind="log",
            measured=facts,
            problems=document.problems + problems,
            finished=summary is not None,
        )


def _summary(root: Node) -> Node | None:
    history = root.get("log_history")
    entries = history.items if history is not None else ()
    return entries[-1] if entries and number_of(entries[-1].get("train_runtime")) else None


def _values(file: SourceFile, root: Node, summary: Node | None) -> Iterator[DirectValue]:
    steps = number_of(root.get("global_step"))
    for key, fact in (
        ("global_step", "steps_done"),
        ("max_steps", "max_steps"),
        ("train_batch_size", "micro_batch_size"),
        ("num_input_tokens_seen", "train_tokens"),
    ):
        yield fact, number_of(root.get(key)), file.at(_line(root, key))
    yield "epochs", _epochs(root, summary), file.at(_line(root, "epoch"))
    runtime = number_of(summary.get("train_runtime")) if summary is not None else None
    if summary is None or runtime is None:
        return
    where = file.at(_line(summary, "train_runtime"))
    yield "wall_clock_hours", runtime / 3600, where
    yield "step_seconds", runtime / steps if steps else None, where
    rate = trustworthy_rate(summary.get("train_samples_per_second"))
    yield "samples_per_second", rate, file.at(_line(summary, "train_samples_per_second"))


def _epochs(root: Node, summary: Node | None) -> float | None:
    """Return the planned epochs where they are real: a run by steps only rounds them up."""
    planned, made = number_of(root.get("num_train_epochs")), number_of(root.get("epoch"))
    if planned is None or made is None:
        return planned
    return planned if summary is None or abs(planned - made) < 0.01 * planned else None


def _line(node: Node, key: str) -> int | None:
    member = node.get(key)
    return member.line if member is not None else None


READER = TrainerStateReader()
