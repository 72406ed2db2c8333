import pytest
from compute_budget_planner.readers.public_names import public_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "/scratch/models--meta-llama--Meta-Llama-3-8B-Instruct",
            "meta-llama/Meta-Llama-3-8B-Instruct",
        ),
        ("hub/models--org--a-b/snapshots/0123abc", "org/a-b"),
        ("datasets--lab--stories", "lab/stories"),
        ("pipe:aws s3 cp s3://bucket/laion5b/{a/{0..9}.tar,b/{0..9}.tar} -", "laion5b"),
        ("dev/data/fineweb10B/fineweb_train_*.bin", "fineweb10B"),
        ("allenai/c4", "allenai/c4"),
        ("gpt2", "gpt2"),
        ("", ""),
    ],
)
def test_folders_and_addresses_give_the_name_they_hold(text, name):
    assert public_name(text) == name
