"""Every kind of run is recognised under noise, warm-up, schedules, restarts and spikes."""

import pytest
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.planning.diagnosis import Diagnosis, diagnose, next_experiment
from compute_budget_planner.planning.loss_curves import Curve
from compute_budget_planner.planning.run_kind import Circumstances, Kind
from made_up_curves import FLOOR, SCHEDULES, STEPS, Spoiled, curves

REFERENCE: Reference = load_reference()
CLEAN = Spoiled(noise=0.005, schedule="cosine", spikes=0)
EXPECTED = {
    "converged": (Kind.CONVERGED, FLOOR),
    "capacity-limited": (Kind.CAPACITY, FLOOR),
    "under-training": (Kind.UNDER_TRAINING, None),
    "overfitting": (Kind.OVERFITTING, None),
    "diverging": (Kind.UNSTABLE, None),
    "between": (Kind.UNREADABLE, None),
}


def diagnosed(
    kind: str, spoiled: Spoiled = CLEAN, seed: int = 0, target: float | None = None
) -> Diagnosis:
    train, validation = curves(kind, spoiled, seed)
    known = Circumstances(target_loss=target, target_source="the loss to be reached")
    return diagnose(train, validation, known, REFERENCE)


@pytest.mark.parametrize("spikes", [0, 2])
@pytest.mark.parametrize("noise", [0.002, 0.01, 0.02])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kind", EXPECTED)
def test_a_kind_is_told_through_noise_schedule_and_spikes(
    kind: str, schedule: str, noise: float, spikes: int
) -> None:
    expected, target = EXPECTED[kind]
    found = [diagnosed(kind, Spoiled(noise, schedule, spikes), s, target).kind for s in range(3)]
    assert found == [expected] * 3


@pytest.mark.parametrize("noise", [0.002, 0.01, 0.02])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_many_spikes_make_a_run_unstable(noise: float, schedule: str) -> None:
    found = diagnosed("converged", Spoiled(noise, schedule, spikes=9))
    assert found.kind is Kind.UNSTABLE
    assert "spikes of the training loss, at steps" in found.evidence[0]


def test_heavy_noise_leads_to_no_verdict_rather_than_to_a_wrong_one() -> None:
    for kind, (expected, target) in EXPECTED.items():
        if kind == "between":
            continue
        for seed in range(10):
            for schedule in SCHEDULES:
                found = diagnosed(kind, Spoiled(0.05, schedule, 1), seed, target).kind
                assert found in (expected, Kind.UNREADABLE), (kind, seed, schedule)


def test_losses_that_are_no_numbers_make_a_run_unstable_whatever_else_it_does() -> None:
    train, validation = curves("converged", CLEAN, 0)
    known = Circumstances(broken_steps=(4120.0, 4130.0))
    found = diagnose(train, validation, known, REFERENCE)
    assert (found.kind, found.evidence) == (
        Kind.UNSTABLE,
        ("2 training losses are no numbers, the first at step 4,120",),
    )
    assert "half the peak learning rate" in found.next_experiment


def test_a_level_loss_is_converged_or_too_small_until_a_target_is_known() -> None:
    alone = diagnosed("capacity-limited")
    assert (alone.kind, alone.candidates) == (
        Kind.CONVERGED,
        (Kind.CONVERGED, Kind.CAPACITY),
    )
    assert alone.next_experiment == next_experiment(
        Kind.UNREADABLE, (Kind.CAPACITY, Kind.CONVERGED), REFERENCE
    )
    assert "twice the parameters" in alone.next_experiment
    judged = diagnosed("capacity-limited", target=FLOOR)
    assert (judged.kind, judged.candidates) == (Kind.CAPACITY, ())
    assert judged.evidence[-1] == "level 2.62 against 2, the loss to be reached"


def test_a_high_validation_loss_under_a_low_training_loss_lacks_data_or_size() -> None:
    train, _ = curves("converged", CLEAN, 0)
    _, validation = curves("capacity-limited", CLEAN, 0)
    known = Circumstances(target_loss=FLOOR, target_source="the loss to be reached")
    found = diagnose(train, validation, known, REFERENCE)
    assert (found.kind, found.candidates) == (
        Kind.UNREADABLE,
        (Kind.OVERFITTING, Kind.CAPACITY),
    )


def test_an_unfinished_run_is_judged_for_rise_and_stability_only() -> None:
    known = Circumstances(planned_steps=2 * STEPS)
    kinds = {}
    for kind in EXPECTED:
        train, validation = curves(kind, CLEAN, 0)
        kinds[kind] = diagnose(train, validation, known, REFERENCE).kind
    assert kinds == {
        **dict.fromkeys(EXPECTED, Kind.UNREADABLE),
        "overfitting": Kind.OVERFITTING,
        "diverging": Kind.UNSTABLE,
    }


def test_without_validation_two_candidates_remain_and_the_lack_is_said() -> None:
    train, _ = curves("under-training", CLEAN, 0)
    found = diagnose(train, None, Circumstances(epochs=8), REFERENCE)
    assert (found.kind, found.candidates) == (
        Kind.UNREADABLE,
        (Kind.UNDER_TRAINING, Kind.OVERFITTING),
    )
    assert found.evidence[0].startswith("validation loss is missing")
    assert "held-out data" in found.next_experiment


def test_in_one_pass_the_training_loss_stands_in_for_validation() -> None:
    train, _ = curves("under-training", CLEAN, 0)
    found = diagnose(train, None, Circumstances(epochs=1), REFERENCE)
    assert found.kind is Kind.UNDER_TRAINING
    assert found.evidence[0].startswith("no validation loss; every example is seen once")


def test_validation_that_rises_alone_may_be_divergence() -> None:
    _, validation = curves("overfitting", CLEAN, 0)
    found = diagnose(None, validation, Circumstances(), REFERENCE)
    assert (found.kind, found.candidates) == (
        Kind.UNREADABLE,
        (Kind.OVERFITTING, Kind.UNSTABLE),
    )


@pytest.mark.parametrize("points", [1, 4, 11])
def test_a_few_points_say_nothing(points: int) -> None:
    train = Curve(
        tuple(float(i + 1) for i in range(points)), tuple(3 / (i + 1) for i in range(points))
    )
    found = diagnose(train, None, Circumstances(), REFERENCE)
    assert found.kind is Kind.UNREADABLE
    assert found.evidence == (f"too few points: {points} training losses; needed are 12 and 6",)


def test_no_curve_at_all_is_not_yet_readable() -> None:
    found = diagnose(None, None, Circumstances(), REFERENCE)
    assert (found.kind, found.train, found.validation) == (Kind.UNREADABLE, None, None)


def test_training_that_runs_away_from_a_level_validation_is_not_called_converged() -> None:
    train = Curve(
        tuple(100.0 * (i + 1) for i in range(100)),
        tuple(0.5 + 2.5 * (0.97**i) + 0.001 * (i % 2) for i in range(100)),
    )
    validation = Curve(
        tuple(250.0 * (i + 1) for i in range(40)),
        tuple(2.2 + 1.5 * (0.7**i) + 0.001 * (i % 2) for i in range(40)),
    )
    found = diagnose(train, validation, Circumstances(), REFERENCE)
    assert (found.kind, found.candidates) == (
        Kind.UNREADABLE,
        (Kind.OVERFITTING, Kind.CONVERGED),
    )


def test_every_kind_and_every_pair_has_a_next_experiment() -> None:
    assert set(REFERENCE.rows("run_kinds")) == {kind.value for kind in Kind}
    for pair in REFERENCE.rows("candidate_pairs"):
        first, second = (Kind(part) for part in pair.split(" / "))
        assert next_experiment(Kind.UNREADABLE, (first, second), REFERENCE)
