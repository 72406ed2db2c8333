"""Objectives of more than one pass: what they add, and that it is marked as unvalidated."""

import pytest
from compute_budget_planner.estimation.objective_time import rollout_seconds
from compute_budget_planner.estimation.step import step_time
from compute_budget_planner.estimation.uncertainty import residual_sigma
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.run import TrainingRun
from stated_runs import REFERENCE, seconds, whole

POLICY = {"model": "llama-3-8b", "micro_batch_size": 8, "seq_len": 2048, "sharding": "fsdp"}


def rollouts(run: TrainingRun) -> float:
    assert isinstance(run.model, Architecture)
    return rollout_seconds(run, run.model, REFERENCE)


def test_preference_pairs_cost_eight_forward_passes_where_training_costs_three() -> None:
    assert seconds(whole(**POLICY, objective="dpo")) == pytest.approx(
        8 / 3 * seconds(whole(**POLICY)), rel=0.01
    )


def test_decoding_reads_the_weights_once_per_token() -> None:
    # 16 GB of weights at 0.85 × 0.6 of 2,039 GB/s take 15 ms; 1,024 of 2,048 tokens are generated.
    assert rollouts(whole(**POLICY, objective="grpo")) == pytest.approx(1024 * 0.0154, rel=0.03)


def test_completions_generated_together_share_the_reading() -> None:
    one, many = (whole(**{**POLICY, "micro_batch_size": n}, objective="grpo") for n in (1, 64))
    assert rollouts(one) == pytest.approx(rollouts(many))
    more = whole(**POLICY, grad_accum_steps=16, objective="grpo")
    assert rollouts(more) == pytest.approx(2 * rollouts(many))


@pytest.mark.parametrize("objective", ["ppo", "grpo"])
def test_generation_is_a_part_of_the_step_and_takes_no_little_share(objective: str) -> None:
    found = step_time(whole(**POLICY, objective=objective), REFERENCE)
    assert 0.3 < found.share("rollouts") < 0.95
    assert "rollouts" not in step_time(whole(**POLICY), REFERENCE).parts


@pytest.mark.parametrize("objective", ["dpo", "ppo", "grpo", "distillation", "evaluation"])
def test_what_nobody_has_measured_ranges_over_a_factor_of_three(objective: str) -> None:
    run = whole(**POLICY, objective=objective)
    assert residual_sigma(run, REFERENCE) == REFERENCE.value("sigma_unvalidated")
