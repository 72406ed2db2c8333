"""A result too large for a client is cut where it is longest, and says so."""

from compute_budget_planner.results import FactOut, FileOut, InspectResult, NextStep
from compute_budget_planner.shortening import shortened
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import to_json


def inspected(n_files: int, n_facts: int) -> InspectResult:
    facts = {
        f"fact_{number}": FactOut(value=number, basis="configured", source="a.yaml:1")
        for number in range(n_facts)
    }
    return InspectResult(
        summary="Files were read.",
        project="p",
        files=[
            FileOut(path=f"{number}.yaml", format="yaml", kind="config", facts=facts)
            for number in range(n_files)
        ],
        runs=[],
        boards={},
        envelope=[],
        gaps=["model"],
        next=[NextStep(tool="estimate_run", arguments={"run": "a"})],
    )


def test_a_result_within_the_limit_is_given_back_as_it_is() -> None:
    result = inspected(2, 2)
    assert shortened(result, 40_000) is result


def test_a_long_list_is_halved_and_the_summary_says_what_is_shown() -> None:
    result = inspected(400, 3)
    short = shortened(result, 40_000)
    assert short.summary == (
        "Files were read. Shortened, shown are: files 100 of 400. Naming fewer files or one run "
        "shows the rest."
    )
    assert short.files == result.files[:100]
    assert (len(result.files), short.gaps, short.next) == (400, result.gaps, result.next)


def test_a_short_list_of_large_entries_keeps_its_entries() -> None:
    short = shortened(inspected(3, 400), 40_000)
    assert [file.path for file in short.files] == ["0.yaml", "1.yaml", "2.yaml"]
    assert "files[0].facts" in short.summary


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(2_000, 20_000))
def test_any_result_fits_its_limit_and_stays_a_result(
    n_files: int, n_facts: int, limit: int
) -> None:
    short = shortened(inspected(n_files, n_facts), limit)
    note = len(to_json(short.summary)) - len(to_json("Files were read."))
    assert len(to_json(short)) <= limit + note
    assert InspectResult.model_validate(short.model_dump()) == short
