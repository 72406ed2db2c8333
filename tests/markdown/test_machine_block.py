"""The fenced JSON at the end of a budget can be read back, and says where it is broken."""

import json
import re

import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.markdown.budget import budget_text
from compute_budget_planner.markdown.machine_block import (
    ChangeEntry,
    MachineBlock,
    line_hashes,
    machine_lines,
    outside_block,
    parse_block,
)
from compute_budget_planner.markdown.marked_page import read_machine_block
from hypothesis import given
from hypothesis import strategies as st
from small_budget_plan import PLAN

REMEDY = (
    "Restore the block from an earlier version of the page, or delete everything from "
    "`<!-- budget:begin machine -->` to `<!-- budget:end machine -->` to have it written anew."
)
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=8,
)


def written(lines: list[str]) -> MachineBlock:
    return parse_block(lines, path="compute-budget.md", first_line=1)


@given(st.dictionaries(st.text(), JSON_VALUES, max_size=3))
def test_inputs_come_back_as_they_were(inputs: dict[str, object]) -> None:
    block = MachineBlock(generated="2026-11-30", tool_version="0.1.0", inputs=inputs)
    assert written(machine_lines(block)) == block


def test_the_page_holds_inputs_hashes_decisions_and_headline_numbers() -> None:
    block = read_machine_block(budget_text(PLAN))
    assert block is not None
    assert block.inputs == PLAN.inputs
    assert block.input_sha256 == PLAN.input_sha256
    assert tuple(block.decisions) == PLAN.decisions
    assert block.change_log == [ChangeEntry(date="2026-11-30", change="first version")]
    assert block.headline == {
        "base": {
            "gpus": 8,
            "seeds": 3,
            "optimizer_steps": 10_000,
            "gpu_hours": [83.1, 96.0, 121.0],
            "gpu_hours_all_seeds": [249.0, 288.0, 363.0],
            "wall_clock_hours": [10.4, 12.0, 15.1],
            "cost_usd": [166.0, 192.0, 242.0],
            "memory_verdict": "TIGHT",
            "peak_gib": [66.2, 71.5, 77.9],
            "jobs_in_a_row": 2,
        },
        "large": {"seeds": 1},
        "smoke test of base": {
            "steps": 153,
            "gpus": 1,
            "wall_clock_minutes": [20.4, 24.6, 29.9],
            "gpu_hours": [0.34, 0.41, 0.498],
        },
        "whole plan": {
            "main_gpu_hours_one_seed": [83.1, 96.0, 121.0],
            "main_gpu_hours_all_seeds": [249.0, 288.0, 363.0],
            "smoke_gpu_hours": [0.34, 0.41, 0.498],
            "required_gpu_hours": [315.0, 363.0, 457.0],
            "should_have_gpu_hours": [52.3, 60.0, 75.1],
            "optional_gpu_hours": [95.7, 110.0, 138.0],
            "available_gpu_hours": 430,
            "verdict": "fits",
        },
    }


def test_a_page_without_block_has_none() -> None:
    assert read_machine_block("# Compute Budget: mine\n") is None


def test_a_fence_inside_the_json_does_not_end_the_block() -> None:
    block = MachineBlock(generated="", tool_version="", inputs={"note": "`````\n```"})
    lines = machine_lines(block)
    assert lines[2] == "``````json"
    assert written(lines) == block


def test_characters_nobody_sees_are_written_as_escapes() -> None:
    block = MachineBlock(generated="", tool_version="", inputs={"path": "größe\u202e\u200b\u2028"})
    text = "\n".join(machine_lines(block))
    assert '"größe\\u202e\\u200b\\u2028"' in text


def test_lines_beside_the_fence_are_told_from_the_block() -> None:
    lines = machine_lines(MachineBlock(generated="", tool_version=""))
    assert outside_block([*lines, "mine"]) == [lines[0], "", "mine"]


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        (r"`{3,}json", "", "machine block has no fenced json"),
        (r'"inputs": \{', '"inputs" {', "the machine block is not JSON (expecting ':' delimiter)"),
        (
            r'"available_gpu_hours": 430',
            '"available_gpu_hours": NaN',
            "the machine block cannot be read (NaN is not a number)",
        ),
        (
            r'"schema_version": 1',
            '"schema_version": 7',
            "the machine block has schema_version 7, this tool reads 1",
        ),
        (
            r'"tool_version": "0.1.0"',
            '"tool_version": 3',
            "the machine block is wrong at `tool_version`: input should be a valid string",
        ),
        (
            r'"inputs": \{',
            '"input": {},\n  "inputs": {',
            "the machine block is wrong at `input`: extra inputs are not permitted",
        ),
    ],
)
def test_a_broken_block_is_refused_with_place_and_remedy(
    pattern: str, replacement: str, message: str
) -> None:
    page = budget_text(PLAN)
    broken = re.sub(pattern, replacement, page, count=1)
    assert broken != page
    with pytest.raises(FormatError) as caught:
        read_machine_block(broken, "code/.agent/compute-budget.md")
    assert message in caught.value.what
    assert re.fullmatch(r"code/\.agent/compute-budget\.md:\d+", caught.value.where)
    assert caught.value.remedy == REMEDY


def test_the_line_of_a_json_fault_is_named() -> None:
    page = budget_text(PLAN).replace('"tool_version": "0.1.0"', '"tool_version": ,')
    line = 1 + page.split("\n").index('  "tool_version": ,,')
    with pytest.raises(FormatError) as caught:
        read_machine_block(page)
    assert caught.value.where == f"compute-budget.md:{line}"


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "7", '"text"', "null"])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        written(["```json", text, "```"])


@given(st.text(max_size=200))
def test_no_text_raises_anything_but_a_format_error(text: str) -> None:
    try:
        written(["```json", text, "```"])
    except FormatError as error:
        assert error.remedy == REMEDY


def test_hashes_do_not_count_blanks_at_the_end_of_a_line() -> None:
    assert line_hashes(["a ", "a"]) == ["ca978112", "ca978112"]


def test_the_block_is_plain_json() -> None:
    lines = machine_lines(MachineBlock(generated="2026-11-30", tool_version="0.1.0"))
    assert json.loads("\n".join(lines[3:-1]))["schema_version"] == 1
