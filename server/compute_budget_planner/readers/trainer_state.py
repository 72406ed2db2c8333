"""`trainer_state.json` of the Hugging Face Trainer: steps done, and time once it has finished.

The file holds no clock readings: only a finished run has `train_runtime`, in its last log entry.
The Trainer computes its own rates from the planned steps and rounds them, so the step time is
wall-clock over steps made. `eval_steps` and `save_steps` stand there even when nothing is evaluated
or saved by steps, so they say nothing. Source: the documentation of `transformers.TrainerState`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import (
    Basis,
    Layer,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.loss_curves import TRAIN, VALIDATION, loss_series
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
        """Return steps, losses, and duration and step time when the run has ended.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        root = document.root
        sessions = _sessions(root)
        facts, problems = direct_facts(
            _values(file, root, sessions), Basis.MEASURED, Layer.CONFIG, reference
        )
        ended = sessions is not None
        return Reading(
            path=file.path,
            format=self.format,
            kind="log",
            measured=facts,
            problems=document.problems + problems + tuple(_problems(file, root, sessions)),
            finished=ended,
            losses=loss_series(TRAIN, _points(root, "loss"), file.path)
            + loss_series(VALIDATION, _points(root, "eval_loss"), file.path),
        )


@dataclass(frozen=True)
class _Sessions:
    """The summary that ends the history, and what the sessions of the run took.

    `steps` were made in `seconds`; None when part of the run is not timed in this file.
    """

    summary: Node
    steps: float | None
    seconds: float | None
    count: int


def _entries(root: Node) -> tuple[Node, ...]:
    history = root.get("log_history")
    return history.items if history is not None else ()


def _sessions(root: Node) -> _Sessions | None:
    """Return the timed sessions of a run that has ended, or None.

    Each `train_runtime` is that of one session. A run resumed from a checkpoint has only the last:
    it shows when the evaluations of the history took longer than the session.
    """
    entries = _entries(root)
    if not entries or number_of(entries[-1].get("train_runtime")) is None:
        return None
    ends = [entry for entry in entries if number_of(entry.get("train_runtime")) is not None]
    seconds = sum(number_of(entry.get("train_runtime")) or 0.0 for entry in ends)
    evaluating = sum(number_of(entry.get("eval_runtime")) or 0.0 for entry in entries)
    if evaluating > seconds:
        return _Sessions(entries[-1], None, None, len(ends))
    return _Sessions(entries[-1], number_of(root.get("global_step")), seconds, len(ends))


def _points(root: Node, key: str) -> list[tuple[float, float]]:
    found = []
    for entry in _entries(root):
        step, node = number_of(entry.get("step")), entry.get(key)
        loss = node.scalar if node is not None else None
        if step is not None and isinstance(loss, int | float) and not isinstance(loss, bool):
            found.append((step, float(loss)))
    return found


def _problems(file: SourceFile, root: Node, sessions: _Sessions | None) -> Iterator[Problem]:
    if sessions is None:
        steps, planned = number_of(root.get("global_step")), number_of(root.get("max_steps"))
        text = (
            f"the run is not finished (step {steps or 0:.0f} of {planned or 0:.0f}) and the "
            "file holds no times; pass the job's log for its speed"
        )
        yield Problem(file.at(root.line_of("global_step")), text)
        return
    where = file.at(sessions.summary.line_of("train_runtime"))
    if sessions.seconds is None:
        text = (
            "the run was resumed: `train_runtime` is that of the last session, shorter than the "
            "evaluations of the whole run; pass the logs of all sessions"
        )
        yield Problem(where, text)
    elif sessions.count > 1:
        yield Problem(where, f"the run has {sessions.count} sessions; their times are added")


def _values(file: SourceFile, root: Node, sessions: _Sessions | None) -> Iterator[DirectValue]:
    for key, fact in (
        ("global_step", "steps_done"),
        ("max_steps", "max_steps"),
        ("train_batch_size", "micro_batch_size"),
        ("num_input_tokens_seen", "train_tokens"),
    ):
        yield fact, number_of(root.get(key)), file.at(root.line_of(key))
    summary = sessions.summary if sessions is not None else None
    yield "epochs", _epochs(root, summary), file.at(root.line_of("epoch"))
    if sessions is None or sessions.seconds is None:
        return
    where = file.at(sessions.summary.line_of("train_runtime"))
    yield "wall_clock_hours", sessions.seconds / 3600, where
    yield "step_seconds", sessions.seconds / sessions.steps if sessions.steps else None, where
    if sessions.count == 1:
        node = sessions.summary.get("train_samples_per_second")
        source = file.at(sessions.summary.line_of("train_samples_per_second"))
        yield "samples_per_second", trustworthy_rate(node), source


def _epochs(root: Node, summary: Node | None) -> float | None:
    """Return the planned epochs where they are real: a run by steps only rounds them up."""
    planned, made = number_of(root.get("num_train_epochs")), number_of(root.get("epoch"))
    if planned is None or made is None:
        return planned
    return planned if summary is None or abs(planned - made) < 0.01 * planned else None


READER = TrainerStateReader()
