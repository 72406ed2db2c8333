"""GPU-hours of whole runs as their authors give them, from public facts alone."""

import pytest
from compute_budget_planner.estimation.ranges import Range
from stated_runs import assessed

IMAGENET = {"dataset_examples": 1_281_167, "precision": "fp16"}
COCO = {"dataset_examples": 118_287, "objective": "detection"}


def gpu_hours(**facts: object) -> Range:
    found = assessed(**facts).estimate
    assert found is not None
    return found.gpu_hours


@pytest.mark.parametrize(
    ("published", "facts"),
    [
        # NVIDIA DeepLearningExamples, ResNet-50 v1.5, 90 epochs: TensorFlow with XLA, PyTorch.
        (16, {**IMAGENET, "model": "resnet50", "epochs": 90, "gpu": "A100-SXM-40GB", "n_gpus": 8,
              "framework": "tensorflow", "compile": True, "micro_batch_size": 256}),
        (24, {**IMAGENET, "model": "resnet50", "epochs": 90, "gpu": "A100-SXM-80GB", "n_gpus": 8,
              "framework": "pytorch"}),
        (96, {**IMAGENET, "model": "resnet50", "epochs": 90, "gpu": "V100-SXM2-16GB", "n_gpus": 8,
              "framework": "pytorch", "precision": "fp32"}),
        # FFCV README: 88 epochs at 160 to 192 pixels, data in memory.
        (10.3, {**IMAGENET, "model": "resnet50", "epochs": 88, "image_size": 168,
                "gpu": "A100-SXM-40GB", "n_gpus": 8, "framework": "ffcv", "channels_last": True,
                "global_batch_size": 1024}),
        # DeiT, arXiv:2012.12877: 53 hours on one machine of 8 V100.
        (424, {**IMAGENET, "model": "vit-b/16", "epochs": 300, "gpu": "V100-SXM2-32GB",
               "n_gpus": 8, "framework": "timm", "global_batch_size": 1024}),
        # DETR README: 300 epochs in 6 days on 8 V100, 2 images each, fp32.
        (1152, {**COCO, "model": "detr-r50", "epochs": 300, "gpu": "V100-SXM2-32GB", "n_gpus": 8,
                "framework": "pytorch", "precision": "fp32", "global_batch_size": 16}),
        # MLCommons training results v3.0: Mask R-CNN on 8 H100, 14 epochs.
        (2.6, {**COCO, "model": "mask-rcnn-r50-fpn", "epochs": 14, "gpu": "H100-SXM-80GB",
               "n_gpus": 8, "framework": "mlperf", "precision": "fp16", "micro_batch_size": 12}),
        # QLoRA, arXiv:2305.14314: Guanaco 65B in 24 hours on one card of 48 GB.
        (24, {"model": "llama-65b", "method": "qlora", "lora_rank": 64, "seq_len": 512,
              "max_steps": 1875, "global_batch_size": 16, "gpu": "RTX-A6000", "n_gpus": 1,
              "framework": "peft", "activation_checkpointing": "full"}),
    ],
)  # fmt: skip
def test_published_hours_of_whole_runs_are_inside_the_range(
    published: float, facts: dict[str, object]
) -> None:
    found = gpu_hours(**facts)
    assert found.low <= published <= found.high
    assert found.width <= 6


def test_only_flops_known_make_a_wider_range_than_activations_too() -> None:
    facts = {**IMAGENET, "epochs": 90, "gpu": "A100-SXM-80GB", "n_gpus": 8, "micro_batch_size": 256,
             "params_total": 25_557_032, "flops_per_sample_forward": 8.22e9, "image_size": 224,
             "model_family": "resnet", "channels_last": False}  # fmt: skip
    known, unknown = gpu_hours(**facts, activations_per_sample=11_110_000), gpu_hours(**facts)
    assert unknown.width > known.width
