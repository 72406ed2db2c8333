"""Which optimizer is assumed for a model that is counted per sample."""

import pytest
from given_facts import resolved

SAMPLE_MODEL = {
    "params_total": 763_857_920,
    "flops_per_sample_forward": 1.3e12,
    "gpu": "A100-SXM-40GB",
    "n_gpus": 1,
    "max_steps": 6000,
    "micro_batch_size": 32,
    "precision": "fp16",
}


@pytest.mark.parametrize(
    ("framework", "optimizer"),
    [("transformers", "adamw"), ("pytorch", "sgd-momentum"), ("timm", "sgd-momentum")],
)
def test_the_hf_trainer_means_adamw_where_others_of_that_kind_mean_sgd(
    framework: str, optimizer: str
) -> None:
    found = resolved(**SAMPLE_MODEL, framework=framework)
    assert found.run is not None
    assert found.run.numerics.optimizer == optimizer
