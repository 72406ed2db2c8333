"""Which of six kinds a run is, by questions in a fixed order.

Is it stable, can it be read, does validation rise, has it ended, is it level? A kind is named only
where the evidence leaves no other; else the run is `not-yet-readable` and the candidates are named.
The thresholds are those of table `diagnosis_thresholds`.
"""

from dataclasses import dataclass
from enum import StrEnum

from compute_budget_planner.numbers import brief
from compute_budget_planner.planning.curve_reading import CurveReading, Fall, Thresholds

_ONE_PASS = 1.05
"""Epochs up to which a training loss is one of data the model has not seen before."""


class Kind(StrEnum):
    """The rows of table `run_kinds`."""

    CAPACITY = "capacity-limited"
    OVERFITTING = "overfitting"
    UNDER_TRAINING = "under-training"
    CONVERGED = "converged"
    UNSTABLE = "unstable"
    UNREADABLE = "not-yet-readable"


@dataclass(frozen=True)
class Circumstances:
    """What is known of a run beside its curves; None and empty where nobody said.

    `target_loss` is a validation loss that would be good, `target_source` who says so;
    `broken_steps` are steps at which the training loss was no number.
    """

    planned_steps: float | None = None
    epochs: float | None = None
    target_loss: float | None = None
    target_source: str = ""
    broken_steps: tuple[float, ...] = ()


@dataclass(frozen=True)
class Finding:
    """A kind, the candidates where it is not readable, and the evidence."""

    kind: Kind
    candidates: tuple[Kind, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """One run: its curves as they were read, and what is known beside them.

    With no curve at all the finding is that there are too few points.
    """

    train: CurveReading | None
    validation: CurveReading | None
    known: Circumstances
    limits: Thresholds

    def finding(self) -> Finding:
        """Return the first answer that the questions give."""
        return (
            self._unstable()
            or self._too_short()
            or self._overfitting()
            or self._unfinished()
            or self._at_the_end()
        )

    def _unstable(self) -> Finding | None:
        broken, train, validation = self.known.broken_steps, self.train, self.validation
        if broken:
            first = brief(broken[0])
            text = f"{len(broken)} training losses are no numbers, the first at step {first}"
            return Finding(Kind.UNSTABLE, (), (text,))
        if train is None or train.points < self.limits.train_points:
            return None
        apart = train.level - train.lowest
        large = train.rise_percent > self.limits.divergence_percent
        if large and apart > self.limits.noise_multiples * train.noise:
            return Finding(Kind.UNSTABLE, (), (_risen("training", train),))
        if len(train.spikes) >= self.limits.unstable_spikes:
            steps = ", ".join(brief(s.step) for s in train.spikes[:6])
            text = f"{len(train.spikes)} spikes of the training loss, at steps {steps}"
            return Finding(Kind.UNSTABLE, (), (text,))
        if validation is not None and train.rises and validation.rises:
            texts = (_risen("training", train), _risen("validation", validation))
            return Finding(Kind.UNSTABLE, (), texts)
        return None

    def _too_short(self) -> Finding | None:
        train, validation = self.train, self.validation
        enough_train = train is not None and train.points >= self.limits.train_points
        enough = validation is not None and validation.points >= self.limits.validation_points
        if enough or (enough_train and validation is None):
            return None
        seen = [
            f"{curve.points} {name} losses"
            for name, curve in (("training", train), ("validation", validation))
            if curve is not None
        ]
        text = (
            f"too few points: {' and '.join(seen) or 'no loss'}; needed are "
            f"{brief(self.limits.train_points)} and {brief(self.limits.validation_points)}"
        )
        return Finding(Kind.UNREADABLE, (), (text,))

    def _overfitting(self) -> Finding | None:
        train, validation = self.train, self.validation
        if validation is None or not validation.rises or (train is not None and train.rises):
            return None
        evidence = [_risen("validation", validation)]
        if train is None:
            evidence.append("the training loss is missing: divergence looks the same")
            return Finding(Kind.UNREADABLE, (Kind.OVERFITTING, Kind.UNSTABLE), tuple(evidence))
        then, now = train.at(validation.lowest_step), train.level
        evidence.append(
            f"training loss goes from {brief(then)} to {brief(now)} over the same steps"
        )
        return Finding(Kind.OVERFITTING, (), tuple(evidence))

    def _unfinished(self) -> Finding | None:
        planned = self.known.planned_steps
        curves = [c for c in (self.train, self.validation) if c is not None]
        done = max(c.smooth.end for c in curves)
        if planned is None or done >= planned * self.limits.finished_percent / 100:
            return None
        text = (
            f"the run stands at step {brief(done)} of {brief(planned)}: neither a fall nor a level "
            "says much before its schedule has ended"
        )
        return Finding(Kind.UNREADABLE, (), (text,))

    def _at_the_end(self) -> Finding:
        main, name = self.validation, "validation"
        evidence: list[str] = []
        if main is None:
            assert self.train is not None  # noqa: S101  a case without curves is too short
            main, name = self.train, "training"
            epochs = self.known.epochs
            if epochs is None or epochs > _ONE_PASS:
                return self._without_validation(self.train)
            evidence.append("no validation loss; every example is seen once, so training stands")
        fall = main.fall
        if fall is None:
            text = f"too few {name} losses in the last half of the steps"
            return Finding(Kind.UNREADABLE, (), (*evidence, text))
        evidence.append(_falling(name, fall))
        if main is self.validation and self.train is not None and self.train.fall is not None:
            evidence.append(_falling("training", self.train.fall))
        if self._is_steep(fall):
            return Finding(Kind.UNDER_TRAINING, (), tuple(evidence))
        if not self._is_level(fall):
            evidence.append(
                f"that is neither level (up to {brief(self.limits.level_percent)} %) nor steep "
                f"(from {brief(self.limits.steep_percent)} %) beyond its noise"
            )
            pair = (Kind.UNDER_TRAINING, Kind.CONVERGED)
            return Finding(Kind.UNREADABLE, pair, tuple(evidence))
        return self._level(main, evidence)

    def _without_validation(self, train: CurveReading) -> Finding:
        evidence = ["validation loss is missing: a falling training loss may be memorised data"]
        fall = train.fall
        if fall is not None:
            evidence.append(_falling("training", fall))
        steep = fall is not None and not self._is_level(fall)
        pair = (
            (Kind.UNDER_TRAINING, Kind.OVERFITTING) if steep else (Kind.CONVERGED, Kind.OVERFITTING)
        )
        return Finding(Kind.UNREADABLE, pair, tuple(evidence))

    def _level(self, main: CurveReading, evidence: list[str]) -> Finding:
        train = self.train
        if train is not None and train.fall is not None and self._is_steep(train.fall):
            evidence.append("training goes on falling while validation does not")
            pair = (Kind.OVERFITTING, Kind.CONVERGED)
            return Finding(Kind.UNREADABLE, pair, tuple(evidence))
        target = self.known.target_loss
        if target is None:
            evidence.append(
                f"whether a level of {brief(main.level)} is high cannot be told from one curve: "
                "give `target_loss`, or the log of a larger run"
            )
            return Finding(Kind.CONVERGED, (Kind.CONVERGED, Kind.CAPACITY), tuple(evidence))
        margin = max(
            self.limits.high_percent * main.scale / 100, self.limits.noise_multiples * main.noise
        )
        evidence.append(
            f"level {brief(main.level)} against {brief(target)}, {self.known.target_source}"
        )
        if main.level - target <= margin:
            return Finding(Kind.CONVERGED, (), tuple(evidence))
        if train is not None and train.level - target <= margin:
            evidence.append(f"training reaches {brief(train.level)}: what lacks is data")
            pair = (Kind.OVERFITTING, Kind.CAPACITY)
            return Finding(Kind.UNREADABLE, pair, tuple(evidence))
        return Finding(Kind.CAPACITY, (), tuple(evidence))

    def _is_steep(self, fall: Fall) -> bool:
        return fall.expected >= self.limits.steep_percent and fall.low >= self.limits.level_percent

    def _is_level(self, fall: Fall) -> bool:
        return fall.expected <= self.limits.level_percent and fall.high <= self.limits.steep_percent


def _risen(name: str, curve: CurveReading) -> str:
    return (
        f"{name} loss is lowest at step {brief(curve.lowest_step)} ({brief(curve.lowest)}) and "
        f"ends at {brief(curve.level)}, {brief(curve.rise_percent)} % higher"
    )


def _falling(name: str, fall: Fall) -> str:
    return (
        f"{name} loss falls by {brief(fall.expected)} % per doubling of the steps "
        f"({brief(fall.low)} to {brief(fall.high)}) from step {brief(fall.from_step)} to "
        f"{brief(fall.to_step)}"
    )
