"""Files of tokens: their size is their number.

nanoGPT and llm.c write raw 16-bit tokens (llm.c behind a header of 256 32-bit words); Megatron
writes a `.bin` and an `.idx` that tells bytes a token, sequences and documents. Source:
`data/openwebtext/prepare.py` of karpathy/nanoGPT, `dev/data/data_common.py` of karpathy/llm.c,
`indexed_dataset.py` of NVIDIA/Megatron-LM, the NPY format of NumPy.
"""

import re
import struct

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Problem, Reading, SourceFile
from compute_budget_planner.readers.dataset_sizes import HELD_OUT, dataset_reading

_MEGATRON = b"MMIDIDX\x00\x00"
_MEGATRON_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 8, 7: 4, 8: 2}
_LLMC_MAGIC = {20240520: 2, 20240801: 4}
_LLMC_HEADER = 256 * 4
_NPY = b"\x93NUMPY"
_NPY_SHAPE = re.compile(rb"'shape':\s*\(([\d, ]*)\)")
_NAMED = re.compile(r"train|data|corpus|tokens|text_document|fineweb|openwebtext", re.I)
_WEIGHTS = "pytorch_model"


class TokenFileReader:
    """A `.bin`, `.idx` or `.npy` of tokens."""

    format = "token_file"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a binary file is named like tokens to train on; weights are none."""
        ending = file.name.lower().rsplit(".", maxsplit=1)[-1]
        if ending == "idx":
            return _head(file).startswith(_MEGATRON)
        other = HELD_OUT.search(file.path) is not None or _WEIGHTS in file.path.lower()
        named = _NAMED.search(file.path) is not None and not other
        return ending in ("bin", "npy") and named and file.size_bytes > 0

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the tokens, of a Megatron index the sequences too.

        Raises:
            FormatError: never; a header that says nothing is a problem of the reading.
        """
        head = _head(file)
        if head.startswith(_MEGATRON) and len(head) >= 34:
            return self._index(file, head, reference)
        tokens, asked = _tokens(file, head)
        return dataset_reading(file.path, self.format, reference, tokens=tokens, problems=asked)

    def _index(self, file: SourceFile, head: bytes, reference: Reference) -> Reading:
        _, code, sequences, _ = struct.unpack("<QBQQ", head[9:34])
        width = _MEGATRON_BYTES.get(code)
        tokens = file.beside(re.sub(r"idx$", "bin", file.name))
        problems = []
        if width is None or tokens is None:
            text = "the `.bin` beside the index is not at hand; give `dataset_tokens`"
            problems.append(Problem(file.path, text))
        return dataset_reading(
            file.path,
            self.format,
            reference,
            examples=sequences if 0 < sequences < 10**15 else None,
            tokens=tokens.size_bytes // width if tokens is not None and width else None,
            problems=problems,
        )


def _head(file: SourceFile) -> bytes:
    return file.text[:4096].encode("latin-1", errors="replace")


def _tokens(file: SourceFile, head: bytes) -> tuple[int | None, list[Problem]]:
    if head.startswith(_NPY):
        shape = _NPY_SHAPE.search(head)
        numbers = [int(n) for n in shape[1].split(b",") if n.strip()] if shape else []
        product = 1
        for number in numbers:
            product *= number
        return (product if 0 < product < 10**18 else None), []
    magic = struct.unpack("<i", head[:4])[0] if len(head) >= 4 else 0
    if magic in _LLMC_MAGIC:
        return (file.size_bytes - _LLMC_HEADER) // _LLMC_MAGIC[magic], []
    text = "16 bits a token are assumed; vocabularies above 65,536 take 32: then it is half as many"
    return file.size_bytes // 2, [Problem(file.path, text)]


READER = TokenFileReader()
