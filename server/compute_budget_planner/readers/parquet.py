"""The number of rows of a Parquet file, from the metadata at its end.

The metadata are a Thrift structure in the compact protocol: version, schema, number of rows. Only
as much is read as leads to the third. Source: apache/parquet-format, `README.md` and
`parquet.thrift`; Thrift's compact protocol specification.
"""

import struct

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Problem, Reading, SourceFile
from compute_budget_planner.readers.dataset_sizes import HELD_OUT, dataset_reading

_MAGIC = b"PAR1"
_ROWS_FIELD = 3
_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE = 0, 1, 2, 3, 7
_BINARY, _LIST, _SET, _MAP, _STRUCT = 8, 9, 10, 11, 12
_MOST_DEPTH = 20
_MOST_STEPS = 200_000


class ParquetReader:
    """A Parquet file of training examples."""

    format = "parquet"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the file ends as Parquet does and is no held-out part."""
        ending = file.name.lower().endswith(".parquet")
        return ending and _bytes(file).endswith(_MAGIC) and HELD_OUT.search(file.name) is None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the number of rows.

        Raises:
            FormatError: never; metadata that cannot be read are a problem of the reading.
        """
        rows = _rows(_bytes(file))
        text = "the metadata at the end could not be read; give `dataset_examples`"
        problems = [] if rows else [Problem(file.path, text)]
        return dataset_reading(file.path, self.format, reference, examples=rows, problems=problems)


def _bytes(file: SourceFile) -> bytes:
    return file.text.encode("latin-1", errors="replace")


def _rows(content: bytes) -> int | None:
    length = struct.unpack("<I", content[-8:-4])[0] if len(content) >= 8 else 0
    if not 0 < length <= len(content) - 8:
        return None
    reader = _Compact(content[len(content) - 8 - length : -8])
    try:
        return reader.rows()
    except (IndexError, _UnreadableError):
        return None


class _UnreadableError(Exception):
    """The bytes are no Thrift structure of a sensible size."""


class _Compact:
    """A cursor over the compact protocol that skips what it does not want."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.position = 0
        self.steps = 0

    def rows(self) -> int | None:
        field = 0
        while True:
            kind, field = self._field(field)
            if kind == _STOP or field > _ROWS_FIELD:
                return None
            if field == _ROWS_FIELD:
                zigzag = self._varint()
                number = (zigzag >> 1) ^ -(zigzag & 1)
                return number if 0 < number < 10**15 else None
            self._skip(kind, 0)

    def _byte(self) -> int:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise _UnreadableError
        value = self.content[self.position]
        self.position += 1
        return value

    def _varint(self) -> int:
        value = shift = 0
        while shift < 70:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        raise _UnreadableError

    def _field(self, last: int) -> tuple[int, int]:
        byte = self._byte()
        kind, delta = byte & 0x0F, byte >> 4
        if kind == _STOP:
            return kind, last
        return kind, last + delta if delta else self._varint() >> 1

    def _skip(self, kind: int, depth: int) -> None:
        if depth > _MOST_DEPTH:
            raise _UnreadableError
        if kind in (_TRUE, _FALSE):
            return
        if kind == _BYTE:
            self._byte()
        elif kind == _DOUBLE:
            self.position += 8
        elif kind == _BINARY:
            length = self._varint()
            self.position += length
        elif kind in (_LIST, _SET):
            byte = self._byte()
            size = byte >> 4
            size = self._varint() if size == 15 else size
            for _ in range(min(size, _MOST_STEPS)):
                self._skip_item(byte & 0x0F, depth + 1)
        elif kind == _STRUCT:
            field = 0
            while True:
                inner, field = self._field(field)
                if inner == _STOP:
                    return
                self._skip(inner, depth + 1)
        elif kind == _MAP:
            raise _UnreadableError
        else:
            self._varint()

    def _skip_item(self, kind: int, depth: int) -> None:
        if kind in (_TRUE, _FALSE):
            self._byte()  # in a list a truth value takes a byte
        else:
            self._skip(kind, depth)


READER = ParquetReader()
