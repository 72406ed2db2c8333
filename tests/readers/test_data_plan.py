import pytest
from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.data_plan import READER
from file_facts import problem_texts, reading_of, values


def plan(count: str, split: str = "train") -> str:
    return f"""\
# Data Pipeline Plan

## Split Protocol

| Split | N examples | % of total | Stratification | Seed | Purpose |
|---|---|---|---|---|---|
| test | 999 | 10 | label | 0 | report |
| {split} | {count} | 80 | label | 0 | fit |
"""


@pytest.mark.parametrize(
    ("written", "examples"),
    [
        ("45000", 45000),
        ("45,000", 45000),
        ("45 000", 45000),
        ("45k", 45000),
        ("1.2M", 1_200_000),
        ("**45,000** (80 %)", 45000),
    ],
)
def test_the_train_row_gives_the_examples(written: str, examples: int):
    reading = reading_of(READER, "code/.agent/data-pipeline-plan.md", plan(written))
    assert values(reading.facts) == {"dataset_examples": examples}
    assert reading.facts[0].source == "code/.agent/data-pipeline-plan.md:8"
    assert reading.kind == "data"
    assert problem_texts(reading) == []


def test_an_approximate_count_is_told():
    reading = reading_of(READER, "d.md", plan("~1.2M"))
    assert values(reading.facts) == {"dataset_examples": 1_200_000}
    assert problem_texts(reading) == ["d.md:8: `N examples` is approximate"]


def test_a_count_that_is_none_and_a_missing_row_are_told():
    assert problem_texts(reading_of(READER, "d.md", plan("tbd"))) == [
        "d.md:8: `N examples` of `train` is 'tbd'; write a whole number"
    ]
    assert problem_texts(reading_of(READER, "d.md", plan("5", split="val"))) == [
        "d.md:3: `Split Protocol` has no row `train` with `N examples`"
    ]


def test_a_table_split_by_a_blank_line_is_still_one():
    text = plan("45000").replace("| train", "\n| train")
    assert values(reading_of(READER, "d.md", text).facts) == {"dataset_examples": 45000}


def test_columns_are_found_by_name():
    text = "## Split Protocol\n\n| N examples | Split |\n|---|---|\n| 12 | Train |\n"
    assert values(reading_of(READER, "d.md", text).facts) == {"dataset_examples": 12}


def test_other_markdown_is_no_data_plan():
    for path, text in (("a.md", "# Split\n"), ("a.txt", plan("5")), ("a.md", "")):
        assert not READER.matches(SourceFile(path, text))
