"""What is wrong with a run, if anything: its kind, the evidence, and the next experiment.

The texts are those of `references/run-diagnosis.md`: of a kind alone, what to do; of two
candidates, what tells them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.planning.curve_reading import CurveReading, Thresholds, read_curve
from compute_budget_planner.planning.loss_curves import Curve
from compute_budget_planner.planning.run_kind import Case, Circumstances, Kind


@dataclass(frozen=True)
class Diagnosis:
    """A kind, the candidates when it is not yet readable, the evidence, and what to do next."""

    kind: Kind
    candidates: tuple[Kind, ...]
    evidence: tuple[str, ...]
    next_experiment: str
    train: CurveReading | None
    validation: CurveReading | None


def diagnose(
    train: Curve | None,
    validation: Curve | None,
    circumstances: Circumstances,
    reference: Reference,
) -> Diagnosis:
    """Diagnose a run from its curves, either of which may be missing.

    Raises:
        GuideError: a threshold or a text is missing.
    """
    limits = Thresholds.of(reference)
    of_train = None if train is None else read_curve(train, limits)
    restarts = of_train.restarts if of_train is not None and of_train.restarts else None
    of_validation = None if validation is None else read_curve(validation, limits, restarts)
    finding = Case(of_train, of_validation, circumstances, limits).finding()
    return Diagnosis(
        finding.kind,
        finding.candidates,
        finding.evidence,
        next_experiment(finding.kind, finding.candidates, reference),
        of_train,
        of_validation,
    )


def next_experiment(kind: Kind, candidates: Sequence[Kind], reference: Reference) -> str:
    """Return what to do next, of a pair of candidates what tells them apart."""
    pairs = reference.rows("candidate_pairs")
    for key in (" / ".join(order) for order in (candidates[:2], candidates[1::-1])):
        if key in pairs:
            return pairs[key].required("experiment")
    return reference.row("run_kinds", kind).required("next")
