"""Ids never collide, and a counter changes without touching the rest of the file."""

import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.markdown.board_ids import (
    id_counters,
    next_id,
    numeric_ids,
    raise_counter,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from irregular_boards import RISKS

PROJECT = (
    "project:\n  name: 'x'   # keep\nid_counters:  # lag in practice\n"
    "  claim: 3\n  risk:   1   # top\n  decision: 0\ncomponents: {code: {path: code}}\n"
)


def test_the_next_id_lies_above_every_id_on_the_board_and_the_counter() -> None:
    assert next_id(RISKS, "RSK", 7) == "RSK-021"
    assert next_id(RISKS, "RSK", 30) == "RSK-031"
    assert next_id("", "EVD") == "EVD-001"
    assert next_id("| EVD-028 |", "EVD", 27) == "EVD-029"
    assert next_id("RSK-999", "RSK") == "RSK-1000"


def test_other_forms_of_ids_do_not_count() -> None:
    board = "DEC-2026-05-02 RSK-ART-002 XRSK-009 RSK-20260502 RSK-005a RSK-000 (RSK-004) RSK-3."
    assert numeric_ids(board, "RSK") == [0, 4, 3]
    assert numeric_ids(board, "DEC") == []
    assert numeric_ids("docs/RSK-008-memory.md, RSK-009–RSK-010", "RSK") == [8, 9, 10]


def test_ids_end_somewhere() -> None:
    with pytest.raises(FormatError, match="`RSK-999999` leaves no higher id"):
        next_id("RSK-999999", "RSK")


def test_counters_are_read() -> None:
    assert id_counters(PROJECT) == {"claim": 3, "risk": 1, "decision": 0}
    assert id_counters("") == {}
    assert id_counters("project: {}\n") == {}


def test_only_the_number_changes() -> None:
    assert raise_counter(PROJECT, "risk", 22) == PROJECT.replace("1   # top", "22   # top")
    windows = "\ufeff" + PROJECT.replace("\n", "\r\n")
    assert raise_counter(windows, "risk", 22) == windows.replace("1   # top", "22   # top")
    flow = '{"id_counters": {"risk": 1, "claim": 2}}'
    assert raise_counter(flow, "risk", 9) == '{"id_counters": {"risk": 9, "claim": 2}}'


def test_a_counter_is_never_lowered() -> None:
    assert raise_counter(PROJECT, "claim", 3) == PROJECT
    assert raise_counter(PROJECT, "claim", 2) == PROJECT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PROJECT, PROJECT.replace("  decision: 0\n", "  decision: 0\n  evidence: 4\n")),
        ("id_counters:\n    risk: 1", "id_counters:\n    risk: 1\n    evidence: 4"),
        ("id_counters: {risk: 1,}\n", "id_counters: {risk: 1, evidence: 4,}\n"),
        ("id_counters: {}\n", "id_counters: {evidence: 4}\n"),
        ("a: 1\r\n", "a: 1\r\nid_counters:\r\n  evidence: 4\r\n"),
        ("a: |\n  text", "a: |\n  text\nid_counters:\n  evidence: 4"),
        ("", "id_counters:\n  evidence: 4\n"),
    ],
)
def test_a_missing_counter_is_added(text: str, expected: str) -> None:
    assert raise_counter(text, "evidence", 4) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id_counters:\n  risk: '1'\n", "memory/project.yaml:2: the counter `risk` is not a plain"),
        ("id_counters:\n  risk: 007\n", "memory/project.yaml:2: the counter `risk` is not a plain"),
        ("id_counters:\n  risk:\n", "memory/project.yaml:2: the counter `risk` is not a plain"),
        ("a: &n 3\nid_counters:\n  risk: *n\n", "memory/project.yaml:3: the counter `risk` is"),
        ("id_counters: {[a]: 1}\n", "memory/project.yaml:1: the counter"),
        ("id_counters:\n  risk: 1\n  risk: 2\n", "memory/project.yaml:3: the counter `risk` is th"),
        ("id_counters: {}\nid_counters: {}\n", "memory/project.yaml:2: `id_counters` is there tw"),
        ("id_counters: 3\n", "memory/project.yaml:1: `id_counters` holds no counters"),
        ("b: &n {risk: 1}\nid_counters: *n\n", "memory/project.yaml:2: `id_counters` holds no co"),
        ("- risk\n", "memory/project.yaml:1: the file is no list of keys"),
        ("{a: 1}\n", "memory/project.yaml: `id_counters` is missing"),
        ("a: [\n", "memory/project.yaml:2: the file cannot be read as YAML"),
        ("a: 1\n---\nb: 2\n", "memory/project.yaml:2: the file cannot be read as YAML"),
        ("a: 1\n...\n", "memory/project.yaml:3: the file cannot be read as YAML"),
        ("[" * 5000, "memory/project.yaml: the file cannot be read as YAML"),
        ("#" * (1 << 20) + "\n", "memory/project.yaml: the file is over 1 MB"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        raise_counter(text, "risk", 9)
    assert str(caught.value).startswith(message)


@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["claim", "risk", "figure"]), st.integers(0, 99)),
    st.sampled_from(["claim", "risk", "evidence"]),
    st.integers(1, 200),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_raising_keeps_every_other_counter_and_line(
    counters: dict[str, int], name: str, value: int, end: str, last: bool
) -> None:
    entries = [f"  {key}: {number}  # {key}" for key, number in counters.items()]
    lines = ["# top", "id_counters:" if entries else "id_counters: {}", *entries, "z: {b: 1}"]
    text = end.join(lines) + (end if last else "")
    raised = raise_counter(text, name, value)
    assert id_counters(raised) == {**counters, name: max(value, counters.get(name, 0))}
    assert raise_counter(raised, name, value) == raised
    kept = [line for line in lines if not line.startswith((f"  {name}:", "id_counters"))]
    assert [line for line in raised.split(end) if line in kept] == kept
