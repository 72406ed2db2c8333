"""The table of known data sets: names resolve, sizes are those published."""

import pytest
from compute_budget_planner.errors import GuideError
from compute_budget_planner.guide.reference import Reference, build_reference, spelling
from compute_budget_planner.guide.shipped import load_reference

HEADER = (
    "| name | aliases | dataset_examples | dataset_tokens | bytes | source |\n"
    "|---|---|---|---|---|---|\n"
)


def of_rows(*rows: str) -> Reference:
    caption = "Table `image_datasets`. Source: a paper. Checked: 2026-11-30.\n\n"
    return build_reference([("datasets.md", caption + HEADER + "".join(f"{r}\n" for r in rows))])


@pytest.mark.parametrize(
    ("name", "examples", "tokens"),
    [
        ("ImageNet", 1_281_167, None),  # arXiv:1409.0575
        ("ILSVRC/imagenet-1k", 1_281_167, None),
        ("cifar10", 50_000, None),
        ("coco_2017_train", 118_287, None),
        ("glue/sst2", 67_349, None),
        ("tatsu-lab/alpaca", 52_002, None),
        ("HuggingFaceH4/ultrachat_200k", 207_865, None),
        ("librispeech_asr", 281_241, None),
        ("openwebtext", 8_013_769, 9_035_582_198),  # nanoGPT's prepare.py
        ("allenai/c4", 364_868_892, 156_000_000_000),  # arXiv:2104.08758
        ("cerebras/SlimPajama-627B", None, 627_000_000_000),
        ("HuggingFaceFW/fineweb", None, 15_000_000_000_000),
    ],
)
def test_a_name_gives_the_published_size(
    name: str, examples: int | None, tokens: int | None
) -> None:
    known = load_reference().find_dataset(name)
    assert known is not None
    assert (known.dataset_examples, known.dataset_tokens) == (examples, tokens)


def test_a_name_nobody_knows_gives_nothing() -> None:
    assert load_reference().find_dataset("lab/our-own-corpus") is None


def test_more_than_sixty_data_sets_are_known_and_no_name_means_two() -> None:
    reference = load_reference()
    tables = [rows for name, rows in reference.tables.items() if name.endswith("_datasets")]
    assert sum(len(rows) for rows in tables) > 60
    words = [
        spelling(word)
        for rows in tables
        for row in rows.values()
        for word in (row.text("name"), *row.words("aliases"))
    ]
    assert sorted({word for word in words if words.count(word) > 1}) == []


def test_every_row_gives_a_size_and_a_source() -> None:
    for name, rows in load_reference().tables.items():
        if name.endswith("_datasets"):
            for row in rows.values():
                assert row.text("dataset_examples") or row.text("dataset_tokens"), row.cells
                assert row.text("source"), row.cells


def test_a_size_that_is_no_whole_number_is_refused_with_its_place() -> None:
    reference = of_rows("| a | | 1.5 | | | x |")
    with pytest.raises(GuideError, match=r"column `dataset_examples`.*no whole number"):
        reference.find_dataset("a")


@pytest.mark.parametrize(
    ("builder", "model"),
    [("qlora_llama3_1_8b", "llama-3.1-8b"), ("lora_llama3_2_1b", "llama-3.2-1b")],
)
def test_a_builder_of_torchtune_is_the_model_it_builds(builder: str, model: str) -> None:
    reference = load_reference()
    assert reference.find_model(builder) == reference.find_model(model) is not None
