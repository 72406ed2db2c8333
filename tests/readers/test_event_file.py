import struct

import pytest
from compute_budget_planner.readers.event_file import READER
from file_facts import problem_texts, reading_of, values
from hypothesis import given
from hypothesis import strategies as st


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number: int, kind: int, content: bytes) -> bytes:
    size = varint(len(content)) if kind == 2 else b""
    return varint(number << 3 | kind) + size + content


def record(seconds: float, step: int, tag: str, value: float) -> str:
    scalar = field(1, 2, tag.encode()) + field(2, 5, struct.pack("<f", value))
    event = field(1, 1, struct.pack("<d", seconds)) + field(2, 0, varint(step))
    event += field(5, 2, field(1, 2, scalar))
    return (struct.pack("<Q", len(event)) + b"crc4" + event + b"crc4").decode("latin-1")


NAME = "runs/x/events.out.tfevents.1723466496.node.383153.0"


def test_a_step_unit_of_the_programs_own_gives_no_speed():
    text = "".join(record(1000.0 + n / 2, 7 * n, "train_loss", 1.5) for n in range(60))
    reading = reading_of(READER, NAME, text)
    assert values(reading.measured) == {}
    assert reading.notes["logged_span_seconds"] == pytest.approx(29.5)
    assert "an epoch times 1000" in problem_texts(reading)[0]
    (loss,) = reading.losses
    assert (loss.name, loss.steps[-1], loss.values[0]) == ("train", 413, 1.5)


def test_the_trainers_event_files_count_optimizer_steps():
    text = "".join(
        record(1000.0 + 20 * n, 10 * n, tag, 1.0)
        for n in range(1, 61)
        for tag in ("train/loss", "train/learning_rate", "train/epoch")
    )
    reading = reading_of(READER, NAME, text + record(2300.0, 600, "eval/loss", 2.0))
    assert values(reading.measured) == {"steps_done": 600, "step_seconds": 2.0}
    assert [series.name for series in reading.losses] == ["train", "validation"]


def test_a_file_cut_in_a_record_is_read_to_its_cut():
    whole = record(1.0, 1, "loss", 0.5)
    reading = reading_of(READER, NAME, whole + whole[:20])
    assert len(reading.losses[0].steps) == 1
    assert "no scalars" in problem_texts(reading_of(READER, NAME, ""))[0]


@given(st.binary(max_size=300))
def test_no_bytes_are_an_error(content: bytes):
    framed = struct.pack("<Q", len(content)) + b"crc4" + content + b"crc4"
    for text in (content, framed):
        reading_of(READER, NAME, text.decode("latin-1"))
