"""Accelerators nobody counted: one, unless it would need years."""

from stated_runs import assessed

LLAMA_2_7B = {"model": "llama-2-7b", "gpu": "A100-SXM-80GB", "seq_len": 4096, "precision": "bf16"}


def test_a_run_one_accelerator_would_need_years_for_has_as_many_as_finish_it_in_a_month() -> None:
    found = assessed(**LLAMA_2_7B, train_tokens="2e12")
    assert found.run is not None
    assert found.estimate is not None
    assert found.run.hardware.n_gpus == 256
    assert 300 <= found.estimate.wall_clock_hours.expected <= 1500
    # The Llama 2 model card: 184,320 GPU-hours.
    assert found.estimate.gpu_hours.low <= 184_320 <= found.estimate.gpu_hours.high


def test_the_assumed_accelerators_share_the_stated_batch() -> None:
    found = assessed(**LLAMA_2_7B, train_tokens="2e12", global_batch_size=96)
    assert found.run is not None
    assert found.run.hardware.n_gpus == 32


def test_a_run_of_a_month_or_less_has_one() -> None:
    found = assessed(**LLAMA_2_7B, train_tokens="1e9")
    assert found.run is not None
    assert found.run.hardware.n_gpus == 1


def test_a_stated_number_stays() -> None:
    found = assessed(**LLAMA_2_7B, train_tokens="2e12", n_gpus=8)
    assert found.run is not None
    assert found.run.hardware.n_gpus == 8
