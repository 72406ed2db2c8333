"""The steps ledger against cases people have reported, with the values that were right there."""

import math

import pytest
from compute_budget_planner.estimation.steps import StepsLedger, count_steps
from hypothesis import given
from hypothesis import strategies as st
from stated_runs import whole


def ledger(**changes: object) -> StepsLedger:
    """Count the steps of one GPU with a batch of one, whatever is not changed."""
    usual = {"n_gpus": 1, "micro_batch_size": 1, "max_steps": None, "sharding": None}
    found = count_steps(whole(**{**usual, **changes}))
    assert found is not None
    return found


def test_a_packed_pass_has_packed_rows_not_raw_ones() -> None:
    # huggingface/trl #450: step 3,230 was epoch 11.26, so one pass is about 287 steps of 4.
    packed = ledger(
        dataset_examples=12_667,
        dataset_tokens=1_147 * 2048,
        packing=True,
        micro_batch_size=4,
        epochs=1,
    )
    assert packed.optimizer_steps == 287
    unpacked = ledger(dataset_examples=12_667, micro_batch_size=4, epochs=1)
    assert unpacked.optimizer_steps == 3167


def test_max_steps_on_packed_rows_are_as_many_epochs_as_the_log_shows() -> None:
    # huggingface/trl #450: the progress of the log.
    found = ledger(dataset_tokens=1_147 * 2048, packing=True, micro_batch_size=4, max_steps=3_230)
    assert found.epochs == pytest.approx(11.26, abs=0.01)


def test_steps_of_tokens_do_not_follow_documents() -> None:
    # marin-community/marin #7130: 34,722 steps of raw documents were about 6.5 epochs.
    tokens_per_step = 64 * 4096
    found = ledger(
        dataset_examples=34_722 * 64,
        dataset_tokens=round(34_722 / 6.5) * tokens_per_step,
        packing=True,
        epochs=1,
        seq_len=4096,
        micro_batch_size=64,
    )
    assert found.optimizer_steps == round(34_722 / 6.5)


def test_packed_epochs_that_end_within_a_batch_are_counted_to_one_step() -> None:
    # PrimeIntellect-ai/prime-rl PR #2246: 45 steps for one epoch and 91 for two, of 45.5 each.
    facts = {"dataset_tokens": 91 * 1024, "seq_len": 1024, "packing": True, "micro_batch_size": 2}
    for epochs, steps in ((1, 45), (2, 91)):
        assert abs(ledger(**facts, epochs=epochs).optimizer_steps - steps) <= 1


def test_a_batch_of_group_relative_training_counts_completions() -> None:
    # huggingface/trl #3442: 1,283 prompts on 4 GPUs gave 1,283 steps, not 321.
    facts = {"objective": "grpo", "n_gpus": 4, "epochs": 1, "dataset_examples": 1_283}
    assert ledger(**facts, num_generations=4).optimizer_steps == 1_283
    # RapidFireAI/rapidfireai PR #44: 128 / 8 × 8 × 3.
    facts = {"objective": "grpo", "dataset_examples": 128, "micro_batch_size": 8, "epochs": 3}
    assert ledger(**facts, num_generations=8).optimizer_steps == 384


def test_old_trainers_floor_the_updates_of_an_epoch() -> None:
    # huggingface/transformers #22110: 37 micro-batches per rank, accumulation 8.
    facts = {"dataset_examples": 148, "n_gpus": 2, "micro_batch_size": 2, "grad_accum_steps": 8}
    old = ledger(**facts, epochs=100, framework="transformers-4.44")
    assert old.optimizer_steps == 4 * 100
    assert old.examples == 400 * 2 * 8 * 2
    new = ledger(**facts, epochs=100, framework="transformers")
    assert new.optimizer_steps == 5 * 100
    given_steps = ledger(**facts, max_steps=400, framework="transformers-4.44")
    assert given_steps.epochs == pytest.approx(86.5, abs=0.05)


def test_accumulation_divides_updates() -> None:
    # PiotrNawrot/nanoT5 PR #8: batches × epochs // accumulation, not batches × epochs.
    found = ledger(
        dataset_examples=1000,
        grad_accum_steps=10,
        micro_batch_size=10,
        epochs=5,
        framework="megatron",
    )
    assert (found.micro_steps, found.optimizer_steps) == (500, 50)


def test_accumulation_leaves_the_epochs_alone() -> None:
    # caikit/caikit-nlp PR #295: 20 epochs with accumulation 4 were 80.
    found = ledger(dataset_examples=64, grad_accum_steps=4, epochs=20)
    assert (found.epochs, found.examples) == (20, 64 * 20)
    # Linaqruf/kohya-trainer #82: 18 images, accumulation 6, 200 epochs were announced as 1,200.
    found = ledger(dataset_examples=18, grad_accum_steps=6, epochs=200)
    assert (found.epochs, found.examples, found.optimizer_steps) == (200, 3_600, 600)


def test_given_steps_are_updates() -> None:
    # unslothai/unsloth #1163: 350 updates of 4 × 4 are 5,600 samples, 4.0 epochs of 1,398.
    found = ledger(dataset_examples=1_398, micro_batch_size=4, grad_accum_steps=4, max_steps=350)
    assert (found.optimizer_steps, found.examples) == (350, 5_600)
    assert found.epochs == pytest.approx(4.0, abs=0.01)


def test_micro_steps_and_updates_are_two_numbers() -> None:
    # ScienceOne-AI/DeepSeek-671B-SFT-Guide #13: 606 logged steps are about 10 updates.
    found = ledger(dataset_examples=2_424, micro_batch_size=4, grad_accum_steps=64, epochs=1)
    assert (found.micro_steps, found.optimizer_steps) == (606, 10)


def test_lightning_carries_accumulation_over_the_end_of_an_epoch() -> None:
    # Lightning-AI/pytorch-lightning #19684: the tail belongs to the next epoch.
    facts = {"dataset_examples": 11, "micro_batch_size": 2, "grad_accum_steps": 3, "epochs": 3}
    carried = ledger(**facts, framework="lightning", framework_drop_last=True)
    assert (carried.micro_steps, carried.optimizer_steps) == (15, 5)
    assert ledger(**facts, framework_drop_last=True).optimizer_steps == 6


def test_a_dropped_tail_is_reported_as_lost_samples() -> None:
    # hpcaitech/ColossalAI PR #1030: batches beyond the last full accumulation are dropped.
    found = ledger(dataset_examples=63, grad_accum_steps=8, epochs=2, framework="colossalai")
    assert (found.optimizer_steps, found.examples) == (14, 112)
    assert found.notes == ("7 samples of each epoch are dropped with the last incomplete batch",)


def test_a_flushed_tail_is_a_step_of_its_own() -> None:
    # meta-pytorch/torchtune PR #2745: 63 batches, accumulation 8: 7 are left over.
    assert ledger(dataset_examples=63, grad_accum_steps=8, epochs=1).optimizer_steps == 8


def test_a_global_batch_over_two_machines_halves_the_accumulation() -> None:
    # Lightning-AI/litgpt #1474: 1,024 over 8 devices of 16 is accumulation 8, over 16 it is 4.
    facts = {"global_batch_size": 1024, "micro_batch_size": 16, "grad_accum_steps": None}
    for n_gpus, accum in ((8, 8), (16, 4)):
        run = whole(**facts, n_gpus=n_gpus)
        assert run.batch.grad_accum_steps == accum
        found = count_steps(run)
        assert found is not None
        assert found.examples == 1000 * 1024


def test_max_steps_win_over_tokens_and_tokens_over_epochs() -> None:
    facts = {"dataset_examples": 100, "epochs": 1, "train_tokens": 20 * 2048}
    assert ledger(**facts, max_steps=7).optimizer_steps == 7
    assert ledger(**facts).optimizer_steps == 20
    assert ledger(dataset_examples=100, epochs=1).optimizer_steps == 100


def test_no_data_set_is_too_small_for_a_step() -> None:
    found = ledger(
        dataset_examples=3, micro_batch_size=8, epochs=2, framework_drop_last=True, n_gpus=1
    )
    assert found.optimizer_steps == 2
    assert found.notes == (
        "the data set is smaller than one batch; one micro-step per epoch is counted",
    )


def test_ranks_of_a_model_split_see_the_same_samples() -> None:
    found = ledger(dataset_examples=64, epochs=1, n_gpus=8, tp=4)
    assert found.optimizer_steps == 32


def test_samples_without_a_sequence_have_no_tokens() -> None:
    found = ledger(
        model="resnet50", seq_len=None, dataset_examples=1_281_167, epochs=90, micro_batch_size=256
    )
    # ceil(1,281,167 / 256) = 5,005 batches, as every ImageNet recipe of batch 256 prints.
    assert (found.optimizer_steps, found.tokens) == (5_005 * 90, None)


LENGTHS = st.fixed_dictionaries(
    {
        "dataset_examples": st.integers(1, 10**6),
        "micro_batch_size": st.integers(1, 64),
        "grad_accum_steps": st.integers(1, 32),
        "n_gpus": st.integers(1, 64),
        "epochs": st.integers(1, 20),
        "framework": st.sampled_from(["transformers", "lightning", "transformers-4.44"]),
        "framework_drop_last": st.booleans(),
    }
)


@given(LENGTHS)
def test_steps_cover_the_samples_within_one_batch_per_epoch(facts: dict[str, int]) -> None:
    found = ledger(**facts)
    batch = facts["micro_batch_size"] * facts["grad_accum_steps"] * facts["n_gpus"]
    covered = found.optimizer_steps * batch
    assert found.optimizer_steps >= 1
    assert found.micro_steps >= found.epochs  # type: ignore[operator]
    assert found.examples <= facts["dataset_examples"] * facts["epochs"]
    assert covered >= found.examples - batch * facts["epochs"]
    assert covered <= found.examples + 2 * batch * facts["epochs"]


@given(LENGTHS, st.integers(2, 5))
def test_more_epochs_never_take_fewer_steps(facts: dict[str, int], times: int) -> None:
    longer = {**facts, "epochs": facts["epochs"] * times}
    assert ledger(**longer).optimizer_steps >= ledger(**facts).optimizer_steps


@given(st.integers(1, 10**13), st.integers(1, 512), st.integers(1, 16))
def test_tokens_trained_on_reach_the_target_and_exceed_it_by_less_than_a_step(
    target: int, micro: int, accum: int
) -> None:
    found = ledger(train_tokens=target, micro_batch_size=micro, grad_accum_steps=accum)
    per_step = micro * accum * 2048
    assert found.tokens is not None
    assert target <= found.tokens < target + per_step
    assert found.optimizer_steps == math.ceil(found.tokens / per_step)
