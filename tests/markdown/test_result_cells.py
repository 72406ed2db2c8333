"""Lists in one cell: words are parted by commas, sentences stand one after the other."""

from compute_budget_planner.markdown.result_cells import cell


def test_words_are_parted_by_commas() -> None:
    assert cell(["jobs/a.sh", "b.yaml"]) == "jobs/a.sh, b.yaml"


def test_sentences_follow_each_other_without_commas() -> None:
    assert cell(["Which `gpu` is it?", "How long? Give `epochs`.", "or steps"]) == (
        "Which `gpu` is it? How long? Give `epochs`. or steps"
    )


def test_an_empty_list_is_nothing() -> None:
    assert cell([]) == "–"
