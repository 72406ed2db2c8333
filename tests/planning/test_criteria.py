"""When a smoke test passes: training from scratch and fine-tuning are judged differently."""

import pytest
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.planning.criteria import pass_criteria
from compute_budget_planner.workload.facts import FactValue
from planned_run import planned_run

STEP, PEAK = Range(0.4, 0.44, 0.476), Range(14.4, 19.6, 28.5)


def test_training_from_scratch_starts_near_the_log_of_the_vocabulary() -> None:
    """A uniform guess among 50,257 tokens costs ln 50257 = 10.82 nats."""
    assert pass_criteria(planned_run(), STEP, PEAK) == [
        "no crash, no NaN, no infinite gradient, no running out of memory",
        (
            "the first losses lie near ln(50,257) = 10.8, and the loss falls: a robust slope "
            "over all steps is negative beyond its noise"
        ),
        "a checkpoint is saved, and training resumes from it at the same loss",
        "logging writes, and the metrics of the evaluation are computed",
        "seconds per step lie between 0.4 and 0.476, first steps left out",
        "peak memory lies between 14.4 and 28.5 GiB",
        "otherwise: estimate again with what was measured before the full run",
    ]


@pytest.mark.parametrize(
    "method",
    [{"method": "full-ft"}, {"method": "lora", "lora_rank": 8}, {"method": "qlora"}],
)
def test_fine_tuning_need_not_fall_but_must_not_rise(method: dict[str, FactValue]) -> None:
    criteria = pass_criteria(planned_run(**method), STEP, PEAK)
    assert criteria[1] == (
        "the loss does not rise beyond its noise (it may start near its floor), and gradients "
        "are finite and not zero"
    )
    assert not any("ln(" in line or "negative" in line for line in criteria)


def test_a_classifier_from_scratch_starts_near_the_log_of_its_classes() -> None:
    """A uniform guess among the 1000 classes of ImageNet costs ln 1000 = 6.91 nats."""
    shape = {"n_layers": 12, "d_model": 768, "n_heads": 12, "patch_size": 16, "image_size": 224}
    run = planned_run(model="", model_family="vit", num_classes=1000, **shape)
    assert "near ln(1,000) = 6.91" in pass_criteria(run, STEP, PEAK)[1]


def test_a_model_without_a_known_likelihood_has_only_to_fall() -> None:
    run = planned_run(model="resnet50", dataset_examples=1_281_167)
    assert pass_criteria(run, STEP, PEAK)[1] == (
        "the loss falls: a robust slope over all steps is negative beyond its noise"
    )


def test_memory_is_not_judged_when_it_is_not_predicted() -> None:
    assert not any("peak memory" in line for line in pass_criteria(planned_run(), STEP, None))
