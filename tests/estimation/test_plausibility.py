"""Measured speeds that cannot be what they are called are set aside, with a question."""

import pytest
from compute_budget_planner.estimation.calibration import Measured
from compute_budget_planner.estimation.plausibility import sift
from compute_budget_planner.workload.run import TrainingRun
from hypothesis import given
from hypothesis import strategies as st
from stated_runs import REFERENCE, WHOLE, assessed, seconds, whole

MANY = {**WHOLE, "n_gpus": 32, "grad_accum_steps": 8}


def measured(run: TrainingRun, ratio: float) -> Measured:
    return Measured("earlier", run, seconds(run) * ratio)


@given(st.floats(0.7, 2.5))
def test_a_run_somewhat_faster_or_slower_than_predicted_is_kept(ratio: float) -> None:
    item = measured(whole(**MANY), ratio)
    assert sift([item], REFERENCE) == ((item,), ())


@pytest.mark.parametrize(
    ("facts", "ratio", "question"),
    [
        # cruijff_kit #489: a rate per GPU or of the whole job? Refuse rather than be wrong.
        (MANY, 32.0, "is its rate per accelerator rather than of the whole job?"),
        # xtuner and nanoT5 count forward passes as steps.
        (MANY, 1 / 8, "are its steps micro-steps (forward passes)?"),
        (WHOLE, 1 / 8, "is its rate that of the whole job rather than per accelerator?"),
        (WHOLE, 1 / 3, "would need more than the peak of its accelerators"),
    ],
)
def test_a_speed_off_by_a_known_factor_is_asked_about(
    facts: dict[str, object], ratio: float, question: str
) -> None:
    kept, questions = sift([measured(whole(**facts), ratio)], REFERENCE)
    assert kept == ()
    assert question in questions[0]
    assert questions[0].endswith("Calibrated without `earlier` until that is clear.")


def test_nanogpt_on_an_h100_with_the_peak_of_an_a100_is_beyond_no_peak() -> None:
    # karpathy/nanoGPT PR 464: 104 % of an A100's peak are 33 % of an H100's.
    run = whole(model="gpt2", gpu="H100-SXM-80GB", n_gpus=1, sharding=None, seq_len=1024)
    kept, questions = sift([measured(run, 1.0)], REFERENCE)
    assert (len(kept), questions) == (1, ())


def test_a_doubtful_run_calibrates_nothing_and_its_question_is_asked() -> None:
    run = whole(**MANY)
    found = assessed(measured(run, 32.0), **MANY)
    assert found.calibration is None
    assert any("per accelerator" in question for question in found.resolution.questions)
    both = assessed(measured(run, 32.0), measured(run, 1.2), **MANY)
    assert both.calibration is not None
    assert both.calibration.factor == pytest.approx(1.2, rel=0.05)
