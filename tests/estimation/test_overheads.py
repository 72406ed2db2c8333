"""Time beside the steps, against what people have measured."""

import pytest
from compute_budget_planner.estimation.overheads import (
    best_checkpoint_interval_hours,
    checkpoint_hours,
    overheads,
    startup_hours,
)
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.estimation.steps import count_steps
from compute_budget_planner.workload.run import TrainingRun
from hypothesis import given
from hypothesis import strategies as st
from stated_runs import REFERENCE, assessed, whole


def lines(run: TrainingRun, step_hours: float) -> dict[str, Range]:
    steps = count_steps(run)
    assert steps is not None
    return {line.name: line.hours for line in overheads(run, steps, step_hours, REFERENCE)}


def test_evaluation_costs_its_samples_at_a_third_of_a_training_sample() -> None:
    # tdrussell/qlora-pipe PR #6: 60 items each 100 iterations are 60 / (60 + 300) of the time.
    run = whole(n_gpus=1, sharding=None, micro_batch_size=1, eval_every_steps=100, eval_examples=60)
    share = lines(run, 1.0)["evaluation"].expected
    assert share / (1 + share) == pytest.approx(60 / 360, abs=0.005)


def test_frequent_evaluation_takes_the_share_people_saw() -> None:
    # databrickslabs/dolly PR #31: 1,000 items every 10 steps of 64 took 15 to 30 % of the time;
    # every 100 steps, 8 evaluations of 800 steps, it is a tenth of that.
    facts = {"max_steps": 800, "micro_batch_size": 8, "eval_examples": 1000, "method": "full-ft"}
    often = lines(whole(**facts, eval_every_steps=10), 1.0)["evaluation"]
    share = Range(*(h / (1 + h) for h in (often.low, often.expected, often.high)))
    assert share.low <= 0.30
    assert share.high >= 0.15
    seldom = lines(whole(**facts, eval_every_steps=100), 1.0)["evaluation"]
    assert seldom.expected == pytest.approx(often.expected / 10)


def test_the_stall_of_a_large_checkpoint_covers_what_was_measured() -> None:
    # meta-pytorch/torchtune #1735: 1,000 s for the checkpoint of 70B parameters.
    stall = checkpoint_hours(whole(model="llama-3-70b"), REFERENCE)
    assert stall.low <= 1000 / 3600 <= stall.high
    # pytorch/torchtitan #1301: 6 min for 8B made somebody complain.
    assert checkpoint_hours(whole(model="llama-3-8b"), REFERENCE).high < 6 / 60


def test_a_checkpoint_of_adapters_is_small() -> None:
    full = checkpoint_hours(whole(model="llama-3-8b"), REFERENCE)
    adapters = checkpoint_hours(whole(model="llama-3-8b", method="lora", lora_rank=16), REFERENCE)
    assert adapters.expected < full.expected / 50


def test_checkpoints_are_counted_from_their_interval() -> None:
    run = whole(checkpoint_every_steps=100)
    one = checkpoint_hours(run, REFERENCE)
    assert lines(run, 3.0)["checkpoints"] == one.scaled(10)


def test_compilation_is_a_part_of_the_start_up() -> None:
    eager, compiled = (startup_hours(whole(compile=c), REFERENCE) for c in (False, True))
    assert compiled.expected > eager.expected
    # pytorch/pytorch #97783: 262 batches in 1 h 03 min is a start nobody should plan for.
    assert compiled.high < 63 / 60


def test_images_wait_longer_for_their_loader_than_text() -> None:
    image = whole(model="resnet50", seq_len=None, objective="classification")
    patches = whole(
        model=None,
        model_family="vit",
        n_layers=12,
        d_model=768,
        n_heads=12,
        patch_size=16,
        image_size=224,
        num_classes=1000,
        seq_len=None,
        objective="classification",
    )
    text = lines(whole(), 1.0)["data stalls"]
    assert lines(image, 1.0)["data stalls"] == lines(patches, 1.0)["data stalls"]
    assert lines(image, 1.0)["data stalls"].expected > text.expected


def test_a_day_of_many_devices_loses_more_to_restarts_than_an_hour_of_few() -> None:
    assert "restarts" in lines(whole(n_gpus=8), 1.0)
    few = lines(whole(n_gpus=8), 1.0)["restarts"].expected / 1.0
    many = lines(whole(n_gpus=2048), 500.0)["restarts"].expected / 500.0
    assert few < 0.001
    # Llama-3.1-405B spent 1.10 to 1.24 of its clean steps, BLOOM 1.11.
    assert 0.05 <= many <= 0.25


@pytest.mark.parametrize(
    ("n_gpus", "hours", "low", "high"),
    [
        # Whole run over clean steps: BLOOM; BloombergGPT (arXiv:2303.17564); Llama 3.1 405B
        # (arXiv:2407.21783); Olmo 3 32B.
        (384, 2800, 0.11, 0.11),
        (512, 1258, 0.01, 0.08),
        (16_384, 1700, 0.10, 0.24),
        (1024, 1200, 0.25, 0.25),
    ],
)
def test_restarts_cover_what_large_runs_lost(
    n_gpus: int, hours: float, low: float, high: float
) -> None:
    found = lines(whole(n_gpus=n_gpus), hours)["restarts"].scaled(1 / hours)
    assert found.low <= high
    assert found.high >= low


def test_work_for_many_devices_has_their_failures_however_few_are_named() -> None:
    one = lines(whole(n_gpus=1, sharding=None), 100_000.0)["restarts"].expected / 100_000
    many = lines(whole(n_gpus=64), 100_000.0 / 64)["restarts"].expected / (100_000 / 64)
    assert one == pytest.approx(many, rel=0.5)


def test_checkpoints_come_more_often_where_machines_fail_more_often() -> None:
    # Young 1974 and Daly 2006: the best interval falls with the root of the failure rate.
    def hours(n_gpus: int) -> float:
        facts = {"model": "llama-3-8b", "n_gpus": n_gpus, "gpus_per_node": 8}
        return best_checkpoint_interval_hours(whole(**facts), REFERENCE)

    assert hours(1024) < hours(64) <= hours(8)
    usual = REFERENCE.quantity("checkpoint_default_hours")
    for n_gpus in (8, 64, 1024, 16_384):
        assert usual.low <= hours(n_gpus) <= usual.high


def test_a_loader_that_keeps_up_stalls_no_more_than_text() -> None:
    facts = {"model": "resnet50", "seq_len": None, "objective": "classification"}
    stock, fast = (
        lines(whole(**facts, framework=f), 1.0)["data stalls"] for f in ("pytorch", "ffcv")
    )
    assert fast == lines(whole(), 1.0)["data stalls"]
    assert fast.expected < stock.expected


@given(
    st.sampled_from([1, 8, 64, 1024]),
    st.floats(0.001, 5000),
    st.sampled_from([None, 10, 1000]),
    st.sampled_from([None, 100]),
    st.booleans(),
)
def test_every_line_is_a_range_that_grows_with_the_run(
    n_gpus: int, step_hours: float, evaluate: int | None, save: int | None, compiled: bool
) -> None:
    run = whole(
        n_gpus=n_gpus,
        eval_every_steps=evaluate,
        eval_examples=100 if evaluate else None,
        checkpoint_every_steps=save,
        compile=compiled,
    )
    short, long = lines(run, step_hours), lines(run, 2 * step_hours)
    for name, hours in short.items():
        assert hours.expected <= long[name].expected * (1 + 1e-9)


def test_the_wall_clock_is_the_steps_and_the_lines() -> None:
    found = assessed(
        model="gpt2", gpu="A100-SXM-80GB", n_gpus=8, max_steps=1000, seq_len=1024,
        micro_batch_size=16, eval_every_steps=100, eval_examples=64,
    ).estimate  # fmt: skip
    assert found is not None
    steps_alone = found.step_seconds.scaled(found.steps.optimizer_steps / 3600)
    for end in ("low", "expected", "high"):
        lines_alone = sum(getattr(line.hours, end) for line in found.overheads)
        whole_hours = getattr(found.wall_clock_hours, end)
        assert whole_hours == pytest.approx(getattr(steps_alone, end) + lines_alone)
    assert {line.name for line in found.overheads} == {
        "start-up", "data stalls", "evaluation", "checkpoints", "restarts",
    }  # fmt: skip
