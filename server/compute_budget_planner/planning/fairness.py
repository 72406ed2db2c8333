"""Which rules of a fair comparison are broken, with the numbers that show it.

Sides are what is compared: a method and its baselines, cells of a grid, rows of a matrix. What a
side does not say is never a breach by itself, but for tuning that only one side records. The
rules are those of table `fairness_rules`, the breaches those of `fairness_breaches`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.numbers import brief, counted, written
from compute_budget_planner.planning.repetition import effective_tokens

_UNMATCHED = {"needs-matched-run", "not-directly-comparable", "blocked"}
_SAME_STEPS = 1.01
_TEXTS = ("validation-data", "metric", "checkpoint-rule", "training-data")


@dataclass(frozen=True)
class Side:
    """One side of a comparison; None and empty where nobody said.

    `role` is method, baseline, cell or empty; `flops` are those of one training run; `ledger` is
    the verdict of an audit's fairness ledger.
    """

    name: str
    role: str = ""
    params: float | None = None
    learning_rate: float | None = None
    steps: float | None = None
    flops: float | None = None
    tokens: float | None = None
    unique_tokens: float | None = None
    seeds: int | None = None
    trials: int | None = None
    training_data: str = ""
    validation_data: str = ""
    metric: str = ""
    checkpoint_rule: str = ""
    ledger: str = ""
    source: str = ""


@dataclass(frozen=True)
class Breach:
    """A rule broken: by whom, and the numbers."""

    breach: str
    sides: tuple[str, ...]
    numbers: str


def breaches_of(sides: Sequence[Side], reference: Reference) -> tuple[Breach, ...]:
    """Return every breach among the sides, one for each kind and group of sides."""
    checks: tuple[Callable[[Sequence[Side], Reference], Iterator[Breach]], ...] = (
        _compute,
        _epochs,
        _trials,
        _learning_rate,
        _texts,
        _seeds,
        _ledger,
    )
    return tuple(breach for check in checks for breach in check(sides, reference))


def _names(sides: Sequence[Side]) -> tuple[str, ...]:
    return tuple(side.name for side in sides)


def _apart(values: Sequence[float], percent: float) -> bool:
    return max(values) > min(values) * (1 + percent / 100)


def _compute(sides: Sequence[Side], reference: Reference) -> Iterator[Breach]:
    """Equal steps at unequal FLOPs, or unequal FLOPs; cells may belong to several budgets."""
    known = [(s, s.flops, s.steps) for s in sides if s.flops and s.steps]
    if len(known) < 2:
        return
    allowed = reference.value("fairness_compute_percent")
    taken: set[str] = set()
    for least in sorted(steps for _, _, steps in known):
        group = [
            (s, f) for s, f, n in known if s.name not in taken and least <= n <= least * _SAME_STEPS
        ]
        if len(group) < 2 or not _apart([f for _, f in group], allowed):
            continue
        taken.update(s.name for s, _ in group)
        factor = max(f for _, f in group) / min(f for _, f in group)
        spent = ", ".join(f"{s.name} {brief(f)}" for s, f in group)
        numbers = f"{brief(least)} steps each, FLOPs: {spent}; up to {brief(factor)} times"
        yield Breach("fixed-steps", _names([s for s, _ in group]), numbers)
    rest = [(s, f) for s, f, _ in known if s.role != "cell" and s.name not in taken]
    if len(rest) > 1 and _apart([f for _, f in rest], allowed):
        spent = ", ".join(f"{s.name} {brief(f)}" for s, f in rest)
        yield Breach("unequal-compute", _names([s for s, _ in rest]), f"FLOPs: {spent}")


def _epochs(sides: Sequence[Side], reference: Reference) -> Iterator[Breach]:
    """Find passes that count as data: many repeats beside sides that repeat less."""
    known = [(s, s.tokens, s.unique_tokens) for s in sides if s.tokens and s.unique_tokens]
    free = reference.value("repetition_free_epochs")
    epochs = [tokens / unique for _, tokens, unique in known]
    if len(known) < 2 or max(epochs) <= free or not _apart(epochs, 1):
        return
    decay = reference.value("repetition_decay")
    texts = [
        f"{s.name} {brief(tokens)} tokens from {brief(unique)} different ones "
        f"({brief(tokens / unique)} epochs, worth {brief(effective_tokens(tokens, unique, decay))})"
        for s, tokens, unique in known
    ]
    yield Breach("epochs-as-data", _names([s for s, _, _ in known]), "; ".join(texts))


def _trials(sides: Sequence[Side], reference: Reference) -> Iterator[Breach]:
    """More trials for one side than for another; a role-less row of a matrix counts as method."""
    told = [(s, s.trials) for s in sides if s.trials is not None]
    if not told or max(n for _, n in told) == 0:
        return
    silent = [s for s in sides if s.trials is None and s.role in ("baseline", "method")]
    most = max(n for _, n in told)
    largest = min((s for s, n in told if n == most), key=lambda s: s.name)
    methods = [(s, n) for s, n in told if n and s.role != "baseline"]
    if methods:
        method, trials = max(methods, key=lambda pair: pair[1])
        for side in (s for s, n in told if s.role == "baseline" and not n):
            numbers = f"{method.name} has {counted(trials, 'trial')}, {side.name} none"
            yield Breach("default-baseline", (method.name, side.name), numbers)
    tuned = [(s, n) for s, n in told if n or s.role != "baseline"]
    factor = reference.value("fairness_trials_factor")
    if len(tuned) > 1 and most > factor * min(n for _, n in tuned):
        numbers = ", ".join(f"{s.name} {written(n)}" for s, n in tuned)
        yield Breach("unequal-trials", _names([s for s, _ in tuned]), f"trials: {numbers}")
    if silent:
        numbers = f"{largest.name} has {counted(most, 'trial')}, the others none on record"
        yield Breach("trials-unknown", _names(silent), numbers)


def _learning_rate(sides: Sequence[Side], reference: Reference) -> Iterator[Breach]:
    """One rate for sizes far apart, where no size was tuned by itself."""
    known = [
        (s, s.params, s.learning_rate)
        for s in sides
        if s.params and s.learning_rate and not (s.trials or 0) > 1
    ]
    apart = reference.value("fairness_size_factor")
    for rate in dict.fromkeys(rate for _, _, rate in known):
        group = [(s, n) for s, n, other in known if abs(other - rate) <= 1e-6 * rate]
        if len(group) > 1 and max(n for _, n in group) >= apart * min(n for _, n in group):
            sizes = ", ".join(f"{s.name} {brief(n / 1e6)} M" for s, n in group)
            numbers = f"learning rate {brief(rate)} for {sizes} parameters"
            yield Breach("one-learning-rate", _names([s for s, _ in group]), numbers)


def _texts(sides: Sequence[Side], _reference: Reference) -> Iterator[Breach]:
    for breach in _TEXTS:
        told = [(s, getattr(s, breach.replace("-", "_"))) for s in sides]
        told = [(s, text) for s, text in told if text]
        if len({" ".join(text.lower().split()) for _, text in told}) > 1:
            numbers = "; ".join(f"{s.name}: {text}" for s, text in told)
            yield Breach(breach, _names([s for s, _ in told]), numbers)


def _seeds(sides: Sequence[Side], _reference: Reference) -> Iterator[Breach]:
    told = [(s, s.seeds) for s in sides if s.seeds]
    if len({n for _, n in told}) > 1:
        numbers = ", ".join(f"{s.name} {n}" for s, n in told)
        yield Breach("unequal-seeds", _names([s for s, _ in told]), f"seeds: {numbers}")


def _ledger(sides: Sequence[Side], _reference: Reference) -> Iterator[Breach]:
    for side in sides:
        if side.ledger in _UNMATCHED:
            yield Breach("not-comparable", (side.name,), f"verdict of the ledger: {side.ledger}")
