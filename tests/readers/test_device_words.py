import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.cloud_instances import Instance, instance_of
from compute_budget_planner.readers.device_words import accelerator_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gpu_h100", ["h100"]),
        ("gpua100", ["a100"]),
        ("4a100-40", ["a100-40gb"]),
        ("h100nvlink80", ["h100-80gb"]),
        ("NVIDIAA100_SXM4_80GB", ["A100-sxm-80gb"]),
        ("v100-32g", ["v100-32gb"]),
        ("a100|h100", ["a100", "h100"]),
        ("RTX2080", ["RTX2080"]),
        ("p4d.24xlarge", ["A100-SXM-40GB"]),
        ("a2-highgpu-1g", ["A100-SXM-40GB"]),
        ("a2-newgpu-9g", []),
        ("py37", []),
        ("gpu32gb", []),
        ("long", []),
        ("", []),
    ],
)
def test_names_of_queues_and_labels_give_the_device_they_name(text, words):
    assert accelerator_words(text, load_reference()) == words


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ml.p4d.24xlarge", Instance("A100-SXM-40GB", 8)),
        ("ml.p4de.24xlarge", Instance("A100-SXM-80GB", 8)),
        ("ml.p5.48xlarge", Instance("H100-SXM-80GB", 8)),
        ("ml.g5.12xlarge", Instance("A10G", 4)),
        ("ml.p3.2xlarge", Instance("V100-SXM2-16GB", 1)),
        ("ml.g4dn.xlarge", Instance("T4", 1)),
        ("trn1.32xlarge", Instance("Trainium1", 16)),
        ("Standard_ND96asr_v4", Instance("A100-SXM-40GB", 8)),
        ("ml.m5.large", None),
    ],
)
def test_instances_hold_what_their_vendors_document(name, expected):
    assert instance_of(name, load_reference()) == expected


def test_every_instance_of_the_guide_holds_a_device_of_the_guide():
    reference = load_reference()
    rows = reference.rows("cloud_instances")
    found = [instance_of(name, reference) for name in rows]
    assert all(each is not None and each.gpu in reference.accelerators for each in found)
    assert all(each is not None and 1 <= each.gpus <= 16 for each in found)
