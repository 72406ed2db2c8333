"""Which rules of a fair comparison are broken, and by which numbers it shows."""

from itertools import permutations

from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.planning.fairness import Breach, Side, breaches_of
from hypothesis import given
from hypothesis import strategies as st

REFERENCE = load_reference()
METHOD = Side("ours", "method")
BASELINE = Side("base", "baseline")


def breaches(*sides: Side) -> list[Breach]:
    return list(breaches_of(sides, REFERENCE))


def kinds(*sides: Side) -> list[str]:
    return [breach.breach for breach in breaches(*sides)]


def test_equal_steps_at_unequal_flops_are_not_equal_compute() -> None:
    small = Side("small", "cell", steps=10_000, flops=1e18)
    large = Side("large", "cell", steps=10_000, flops=4e18)
    assert breaches(small, large) == [
        Breach(
            "fixed-steps",
            ("small", "large"),
            "10,000 steps each, FLOPs: small 1e18, large 4e18; up to 4 times",
        )
    ]


def test_equal_compute_at_unequal_steps_breaks_nothing() -> None:
    small = Side("small", "method", steps=40_000, flops=4e18)
    large = Side("large", "baseline", steps=10_000, flops=4.1e18)
    assert breaches(small, large) == []


def test_cells_of_several_budgets_may_spend_differently_but_a_baseline_may_not() -> None:
    first, second = {"steps": 10_000, "flops": 1e18}, {"steps": 20_000, "flops": 4e18}
    assert kinds(Side("a", "cell", **first), Side("b", "cell", **second)) == []
    assert breaches(Side("a", "method", **second), Side("b", "baseline", **first)) == [
        Breach("unequal-compute", ("a", "b"), "FLOPs: a 4e18, b 1e18")
    ]


def test_ten_epochs_are_not_ten_times_the_data() -> None:
    # Muennighoff et al. 2023: 4, 16 and 40 epochs are worth 3.73, 10.6 and 15.2 times the data.
    repeated = Side("repeated", tokens=16e8, unique_tokens=1e8)
    fresh = Side("fresh", tokens=16e8, unique_tokens=16e8)
    assert breaches(repeated, fresh) == [
        Breach(
            "epochs-as-data",
            ("repeated", "fresh"),
            "repeated 1.6e9 tokens from 1e8 different ones (16 epochs, worth 1.06e9); "
            "fresh 1.6e9 tokens from 1.6e9 different ones (1 epochs, worth 1.6e9)".replace(
                "1.6e9", "1,600,000,000"
            )
            .replace("1e8", "100,000,000")
            .replace("1.06e9", "1,060,000,000"),
        )
    ]
    few = Side("few", tokens=4e8, unique_tokens=1e8)
    assert breaches(few, Side("fresh", tokens=4e8, unique_tokens=4e8)) == []


def test_a_tuned_method_against_an_untuned_baseline_is_named() -> None:
    ours, base = Side("ours", "method", trials=40), Side("base", "baseline", trials=0)
    assert breaches(ours, base) == [
        Breach("default-baseline", ("ours", "base"), "ours has 40 trials, base none")
    ]


def test_fewer_trials_for_one_side_are_named_with_both_numbers() -> None:
    ours, base = Side("ours", "method", trials=40), Side("base", "baseline", trials=10)
    assert breaches(ours, base) == [
        Breach("unequal-trials", ("ours", "base"), "trials: ours 40, base 10")
    ]
    assert kinds(Side("ours", "method", trials=10), Side("base", "baseline", trials=10)) == []


def test_tuning_that_only_one_side_records_is_asked_about() -> None:
    assert breaches(Side("ours", "method", trials=20), BASELINE) == [
        Breach("trials-unknown", ("base",), "ours has 20 trials, the others none on record")
    ]
    assert breaches(METHOD, BASELINE) == []


def test_one_learning_rate_for_sizes_far_apart_is_named_unless_each_was_tuned() -> None:
    small = Side("small", params=1e8, learning_rate=6e-4)
    large = Side("large", params=1e9, learning_rate=6e-4)
    assert breaches(small, large) == [
        Breach(
            "one-learning-rate",
            ("small", "large"),
            "learning rate 0.0006 for small 100 M, large 1,000 M parameters",
        )
    ]
    near = Side("near", params=1.3e8, learning_rate=6e-4)
    scaled = Side("scaled", params=1e9, learning_rate=2e-4)
    tuned = [
        Side(s.name, params=s.params, learning_rate=s.learning_rate, trials=8)
        for s in (small, large)
    ]
    assert breaches(small, near) == breaches(small, scaled) == breaches(*tuned) == []


def test_different_words_for_data_metric_and_checkpoint_are_each_named() -> None:
    ours = Side(
        "ours", validation_data="val-A", metric="loss", checkpoint_rule="best", training_data="C4"
    )
    base = Side(
        "base", validation_data="val-B", metric="Loss", checkpoint_rule="last", training_data="Pile"
    )
    assert breaches(ours, base) == [
        Breach("validation-data", ("ours", "base"), "ours: val-A; base: val-B"),
        Breach("checkpoint-rule", ("ours", "base"), "ours: best; base: last"),
        Breach("training-data", ("ours", "base"), "ours: C4; base: Pile"),
    ]


def test_unequal_seeds_and_the_ledgers_own_verdict_are_named() -> None:
    ours = Side("ours", seeds=5)
    base = Side("base", "baseline", seeds=1, ledger="not-directly-comparable")
    assert breaches(ours, base) == [
        Breach("unequal-seeds", ("ours", "base"), "seeds: ours 5, base 1"),
        Breach("not-comparable", ("base",), "verdict of the ledger: not-directly-comparable"),
    ]


def test_every_breach_has_its_row_and_every_row_its_rule() -> None:
    rules = REFERENCE.rows("fairness_rules")
    rows = REFERENCE.rows("fairness_breaches")
    assert {row.required("rule") for row in rows.values()} <= set(rules)
    assert all(row.required("means") and row.required("mend") for row in rows.values())


sides = st.builds(
    Side,
    name=st.sampled_from(["a", "b", "c"]),
    role=st.sampled_from(["method", "baseline", "cell", ""]),
    params=st.one_of(st.none(), st.sampled_from([1e8, 2e8, 1e9])),
    learning_rate=st.one_of(st.none(), st.sampled_from([1e-4, 3e-4])),
    steps=st.one_of(st.none(), st.sampled_from([100.0, 101.0, 1000.0])),
    flops=st.one_of(st.none(), st.sampled_from([1e18, 2e18])),
    tokens=st.one_of(st.none(), st.sampled_from([1e9, 2e10])),
    unique_tokens=st.one_of(st.none(), st.sampled_from([1e9, 5e8])),
    seeds=st.one_of(st.none(), st.integers(1, 3)),
    trials=st.one_of(st.none(), st.integers(0, 3)),
)


@given(st.lists(sides, min_size=2, max_size=4, unique_by=lambda side: side.name))
def test_which_rules_are_broken_does_not_depend_on_the_order_of_the_sides(
    given_sides: list[Side],
) -> None:
    found = {frozenset(kinds(*order)) for order in permutations(given_sides)}
    assert len(found) == 1
    assert next(iter(found)) <= set(REFERENCE.rows("fairness_breaches"))


@given(sides)
def test_a_side_never_differs_from_itself(side: Side) -> None:
    twin = Side(**{**vars(side), "name": "twin", "ledger": ""})
    assert set(kinds(side, twin)) <= {"trials-unknown"}
