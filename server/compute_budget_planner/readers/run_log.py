"""What a log tells of its run, gathered line by line and turned into a reading.

Every reader of a log fills a `RunLog`; here speed, memory, steps and losses become facts in one
way: the median of the settled steps is the speed unless the log itself states the mean of a whole
run, memory goes with its kind, and what is too little to go by becomes a problem.
"""

import math
from dataclasses import dataclass, field, replace

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import (
    Basis,
    Fact,
    Layer,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.job_frame import JobFrame
from compute_budget_planner.readers.loss_curves import TRAIN, VALIDATION, loss_series
from compute_budget_planner.readers.option_names import Option, facts_from_options
from compute_budget_planner.readers.step_speed import (
    SteadySpeed,
    Stretch,
    steady_speed,
    stretches,
)
from compute_budget_planner.workload.facts import FactValue

ALLOCATED, RESERVED, DEVICE = "allocated", "reserved", "device"
"""Kinds of memory: what tensors hold, what the allocator keeps, what the driver counts."""

_PREFERRED = (DEVICE, RESERVED, ALLOCATED)
"""The larger holds the smaller; what runs out is the device's."""

_SPEEDS = {"step_seconds", "steps_per_second"}


@dataclass
class RunLog:
    """The gathered facts of one log; `file` names the places.

    `timed` holds stretches of steps, `clock` readings (step, seconds) when the log has a clock of
    its own; one of them is filled, and readings nearer than `clock_seconds` are joined. `framework`
    decides what its options mean; the `frame` is that of the job around the log.
    """

    file: SourceFile
    framework: str = ""
    values: dict[str, DirectValue] = field(default_factory=dict)
    options: list[Option] = field(default_factory=list)
    timed: list[Stretch] = field(default_factory=list)
    clock: list[tuple[int, float]] = field(default_factory=list)
    clock_seconds: float = 0.0
    speed_line: int | None = None
    memory_gib: dict[str, tuple[float, str]] = field(default_factory=dict)
    train: list[tuple[float, float]] = field(default_factory=list)
    validation: list[tuple[float, float]] = field(default_factory=list)
    loss_unit: str = "steps"
    problems: list[Problem] = field(default_factory=list)
    notes: dict[str, FactValue] = field(default_factory=dict)
    finished: bool | None = None
    steps_seen: set[int] = field(default_factory=set)
    frame: JobFrame = field(default_factory=JobFrame)

    def say(self, name: str, value: object, line: int | None) -> None:
        """Record a fact; None is not known. Of two values the later counts."""
        if value is not None:
            self.values[name] = (name, value, self.file.at(line))

    def told(self, name: str) -> object:
        """Return the value recorded for a fact, or None."""
        return self.values[name][1] if name in self.values else None

    def option(self, name: str, raw: object, line: int | None) -> None:
        """Record an option of the run as the log repeats it."""
        self.options.append((name, raw, self.file.at(line)))

    def memory(self, kind: str, gib: float, line: int | None) -> None:
        """Record memory of one device; the highest of each kind is kept."""
        if math.isfinite(gib) and gib > self.memory_gib.get(kind, (0.0, ""))[0]:
            self.memory_gib[kind] = (gib, self.file.at(line))

    def first_time(self, step: int) -> bool:
        """Tell whether a step is told for the first time: other ranks repeat it."""
        if step in self.steps_seen:
            return False
        self.steps_seen.add(step)
        return True

    def ask(self, line: int | None, text: str) -> None:
        """Record a problem."""
        self.problems.append(Problem(self.file.at(line), text))

    def reading(self, format_: str, reference: Reference) -> Reading:
        """Return all as the reading of a log.

        What was said as a fact stands before what follows from options.
        """
        self._tell_speed()
        self._tell_memory()
        said, problems = direct_facts(self._said(), Basis.MEASURED, Layer.CONFIG, reference)
        configured, more = facts_from_options(self.options, self.framework, Layer.CONFIG, reference)
        known = {fact.name for fact in said}
        own = tuple(_as_measured(fact) for fact in configured if fact.name not in known)
        where = self.file.path
        return Reading(
            path=where,
            format=format_,
            kind="log",
            measured=said + own,
            problems=(
                *self.frame.problems,
                *self.problems,
                *problems,
                *more,
                *self._losses_that_are_none(),
            ),
            job_name=self.frame.job_name,
            finished=self.finished if self.frame.finished is None else self.frame.finished,
            losses=loss_series(TRAIN, self.train, where, self.loss_unit)
            + loss_series(VALIDATION, self.validation, where, self.loss_unit),
            notes=self.notes,
        )

    def _said(self) -> list[DirectValue]:
        """Return the frame's facts, then those it does not tell."""
        told = {v[0]: v for v in self.frame.values if v[1] is not None}
        return [*told.values(), *(v for name, v in self.values.items() if name not in told)]

    def speed(self) -> SteadySpeed | None:
        """Return the speed after the warm-up."""
        return steady_speed(self.timed or stretches(self.clock, self.clock_seconds))

    def _tell_speed(self) -> None:
        speed = self.speed()
        if speed is None:
            return
        if not speed.settled:
            text = (
                f"only {speed.steps} steps in {speed.steps * speed.mean_seconds:.0f} s are timed "
                "after the warm-up: too little for a step time; state `step_seconds`"
            )
            self.ask(self.speed_line, text)
            return
        self.notes |= {
            "steady_step_seconds": speed.step_seconds,
            "steady_step_seconds_low": speed.low,
            "steady_step_seconds_high": speed.high,
            "mean_step_seconds": speed.mean_seconds,
            "timed_steps": speed.steps,
        }
        if not _SPEEDS & self.values.keys():
            self.say("step_seconds", speed.step_seconds, self.speed_line)

    def _tell_memory(self) -> None:
        if any(name == "peak_memory_gib" and value for name, value, _ in self.frame.values):
            self.notes["peak_memory_kind"] = DEVICE  # as the scheduler's report counts it
        elif "peak_memory_gib" in self.values:
            self.notes["peak_memory_kind"] = ALLOCATED  # as the Trainer counts it
        for kind in _PREFERRED:
            if kind in self.memory_gib:
                gib, source = self.memory_gib[kind]
                if "peak_memory_kind" not in self.notes:
                    self.notes["peak_memory_kind"] = kind
                    self.values["peak_memory_gib"] = ("peak_memory_gib", gib, source)
                self.notes[f"peak_memory_{kind}_gib"] = gib

    def _losses_that_are_none(self) -> list[Problem]:
        broken = [step for step, value in self.train if not math.isfinite(value)]
        if not broken:
            return []
        text = f"{len(broken)} training losses are no numbers, the first at {broken[0]:.0f}"
        return [Problem(self.file.path, text)]


def _as_measured(fact: Fact) -> Fact:
    return fact if fact.basis is Basis.ASSUMED else replace(fact, basis=Basis.MEASURED)
