"""TensorBoard event files: scalars with step and wall-clock time.

The file holds records of a length, a checksum, an `Event` message and a checksum; of the message
only wall time, step and scalar values are read (fields of tensorboard/compat/proto/event.proto and
summary.proto), so no library is needed. What a step is the program decides, so only event files
of the Hugging Face Trainer and of Lightning, which count optimizer steps, give a step time. A
resumed run has a file for each session.
"""

import math
import struct
from collections.abc import Iterator

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.run_log import RunLog

_MOST_RECORD_BYTES = 2**26
_COUNTS_OPTIMIZER_STEPS = ({"train/learning_rate", "train/epoch"}, {"hp_metric"})
_VALIDATION = ("val", "eval", "test")

Scalar = tuple[str, float, int, float]
"""Tag, wall time in seconds, step, value."""


class EventFileReader:
    """An event file; its text holds the bytes, one character each."""

    format = "tensorboard_events"

    def matches(self, file: SourceFile) -> bool:
        """Tell by the name, which TensorBoard itself goes by."""
        return "tfevents" in file.name

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return losses, and steps and speed where the steps are known to be the optimizer's.

        Raises:
            FormatError: never; a file that is cut is read to its cut.
        """
        log = RunLog(file)
        scalars = list(_scalars(file.text))
        tags = {tag for tag, _, _, _ in scalars}
        for tag, _, step, value in scalars:
            name = tag.lower()
            if name.endswith(("loss", "loss_step")):
                evaluated = any(word in name for word in _VALIDATION)
                (log.validation if evaluated else log.train).append((step, value))
        if not scalars:
            log.ask(None, "the event file holds no scalars")
            return log.reading(self.format, reference)
        log.notes["logged_span_seconds"] = scalars[-1][1] - scalars[0][1]
        if any(own <= tags for own in _COUNTS_OPTIMIZER_STEPS):
            log.clock = [(step, seconds) for _, seconds, step, _ in scalars]
            log.say("steps_done", max(step for _, _, step, _ in scalars) or None, None)
        else:
            text = (
                "a step of this file is what the program calls one (an epoch times 1000, a "
                "batch); state `steps_done` and `step_seconds`"
            )
            log.ask(None, text)
        return log.reading(self.format, reference)


def _scalars(text: str) -> Iterator[Scalar]:
    """Yield the scalars of all whole records; what is no event ends them."""
    content = text.encode("latin-1", errors="replace")
    place = 0
    while place + 12 <= len(content):
        (length,) = struct.unpack_from("<Q", content, place)
        start = place + 12
        if length > _MOST_RECORD_BYTES or start + length > len(content):
            return
        yield from _event(content[start : start + length])
        place = start + length + 4


def _event(message: bytes) -> Iterator[Scalar]:
    seconds, step = 0.0, 0
    summaries = []
    for number, value in _fields(message):
        if number == 1 and isinstance(value, bytes) and len(value) == 8:
            (seconds,) = struct.unpack("<d", value)
        elif number == 2 and isinstance(value, int):
            step = value
        elif number == 5 and isinstance(value, bytes):
            summaries.append(value)
    if not math.isfinite(seconds) or not 0 <= step < 10**15:
        return
    for summary in summaries:
        for number, value in _fields(summary):
            if number == 1 and isinstance(value, bytes):
                tag, scalar = _tagged(value)
                if tag and scalar is not None:
                    yield tag, seconds, step, scalar


def _tagged(message: bytes) -> tuple[str, float | None]:
    """Return tag and scalar of a summary value, as a plain field or as a tensor of one float."""
    tag, scalar = "", None
    for number, value in _fields(message):
        if not isinstance(value, bytes):
            continue
        if number == 1:
            tag = value[:200].decode("utf-8", errors="replace")
        elif number == 2 and len(value) == 4:
            (scalar,) = struct.unpack("<f", value)
        elif number == 8:
            for inner, part in _fields(value):
                # `float_val` and `tensor_content` of a TensorProto.
                if inner in (4, 5) and isinstance(part, bytes) and len(part) == 4:
                    (scalar,) = struct.unpack("<f", part)
    return tag, scalar


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and value of each field; fixed-size numbers are left as bytes."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, place = _varint(message, place)
            yield number, value
            continue
        if kind == 2:
            size, place = _varint(message, place)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            return
        if place + size > len(message):
            return
        yield number, message[place : place + size]
        place += size


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(message):
            return value, place
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return value, place


READER = EventFileReader()
