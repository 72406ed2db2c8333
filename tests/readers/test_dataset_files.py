"""Training data on disk: counted where it can be, estimated with its error, never loaded."""

import struct

import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers import data_lines, dataset_info, parquet, token_files
from compute_budget_planner.readers.contract import Basis, Reading, SourceFile
from compute_budget_planner.readers.data_folder import folder_reading
from compute_budget_planner.readers.registry import read_file
from file_facts import of_basis, problem_texts, reading_of, values
from hypothesis import given
from hypothesis import strategies as st


def binary(path: str, content: bytes, size: int | None = None) -> SourceFile:
    whole = len(content) if size is None else size
    return SourceFile(path, content.decode("latin-1"), sampled=True, size_bytes=whole)


def read_binary(reader: object, file: SourceFile) -> Reading:
    assert reader.matches(file)  # type: ignore[attr-defined]
    return reader.read(file, load_reference())  # type: ignore[attr-defined,no-any-return]


def test_json_lines_are_counted_and_their_tokens_estimated_from_all_texts() -> None:
    line = '{"messages": [{"role": "user", "content": "%s"}], "id": 3}' % ("x" * 396)
    reading = reading_of(data_lines.READER, "data/train.jsonl", f"{line}\n{line}\n\n{line}\n")
    assert reading.kind == "dataset"
    assert of_basis(reading.facts, Basis.CONFIGURED) == {"dataset_examples": 3}
    # 400 characters an example, about four of them a token
    assert of_basis(reading.facts, Basis.DERIVED) == {"dataset_tokens": 300}
    assert reading.notes == {"characters_per_example": 400, "relative_error": 0.0}
    assert "tokens are estimated" in problem_texts(reading)[0]


def test_the_lines_of_a_long_file_are_estimated_from_samples_and_said_to_be() -> None:
    text = "".join('{"text": "abcdefgh"}\n' for _ in range(100))
    file = SourceFile("data/train.jsonl", text, sampled=True, size_bytes=10 * len(text))
    reading = data_lines.READER.read(file, load_reference())
    assert of_basis(reading.facts, Basis.DERIVED) == {
        "dataset_examples": 1000,
        "dataset_tokens": 2000,
    }
    assert any("estimated from samples" in text for text in problem_texts(reading))


def test_records_of_a_table_are_counted_below_the_header() -> None:
    text = 'text,label\n"one\ntwo",0\nthree,1\n'
    reading = reading_of(data_lines.READER, "dataset/train.csv", text)
    assert values(reading.facts)["dataset_examples"] == 2


def test_plain_text_has_tokens_and_no_examples() -> None:
    reading = reading_of(data_lines.READER, "data/input.txt", "word " * 80)
    assert values(reading.facts) == {"dataset_tokens": 100}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("outputs/logs/trainer_log.jsonl", '{"current_steps": 1, "loss": 0.1}\n'),
        ("data/val.jsonl", '{"text": "a"}\n'),
        ("data/train.jsonl", '{"step": 1, "loss": 0.1}\n'),
        ("results/metrics.csv", "step,loss\n1,2\n"),
    ],
)
def test_logs_and_held_out_parts_are_no_training_data(path: str, text: str) -> None:
    assert not data_lines.READER.matches(SourceFile(path, text))


def test_raw_tokens_take_two_bytes_each() -> None:
    # train.bin of nanoGPT's OpenWebText has 9,035,582,198 tokens in 18,071,164,396 bytes.
    file = binary("data/openwebtext/train.bin", b"\x01\x00" * 64, 18_071_164_396)
    reading = read_binary(token_files.READER, file)
    assert values(reading.facts) == {"dataset_tokens": 9_035_582_198}
    assert "16 bits a token are assumed" in problem_texts(reading)[0]


def test_the_header_of_llmc_is_no_tokens() -> None:
    header = struct.pack("<3i", 20240520, 1, 100_000_000) + bytes(256 * 4 - 12)
    file = binary("fineweb_train_000001.bin", header, 256 * 4 + 200_000_000)
    reading = read_binary(token_files.READER, file)
    assert (values(reading.facts), reading.problems) == ({"dataset_tokens": 100_000_000}, ())


def test_a_megatron_index_tells_the_width_of_the_tokens_beside_it() -> None:
    head = b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, 8, 500, 501)
    tokens = binary("data/my_text_document.bin", b"\x00", 2_000_000)
    index = SourceFile(
        "data/my_text_document.idx",
        head.decode("latin-1"),
        sampled=True,
        beside={"my_text_document.bin": tokens}.get,
        size_bytes=9_000,
    )
    assert values(read_binary(token_files.READER, index).facts) == {
        "dataset_examples": 500,
        "dataset_tokens": 1_000_000,
    }
    alone = binary("data/my_text_document.idx", head)
    assert values(read_binary(token_files.READER, alone).facts) == {"dataset_examples": 500}


def test_a_numpy_array_of_tokens_has_its_shape_in_its_header() -> None:
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '<u2', 'fortran_order': False, 'shape': (300, 7), }"
    file = binary("data/tokens.npy", header, 4328)
    assert values(read_binary(token_files.READER, file).facts) == {"dataset_tokens": 2100}


def test_weights_are_no_tokens() -> None:
    assert not token_files.READER.matches(binary("train/pytorch_model.bin", b"\x00", 99))


# version 1; a schema of one element `root`; 1,000 rows; in Thrift's compact protocol
ROWS_1000 = b"\x15\x02\x19\x1c\x48\x04root\x15\x02\x00\x16\xd0\x0f\x00"


def footer(metadata: bytes) -> bytes:
    return b"PAR1" + metadata + struct.pack("<I", len(metadata)) + b"PAR1"


def test_the_rows_of_a_parquet_file_stand_in_its_metadata() -> None:
    file = binary("data/train-00000-of-00002.parquet", footer(ROWS_1000))
    assert values(read_binary(parquet.READER, file).facts) == {"dataset_examples": 1000}


def test_parquet_metadata_that_cannot_be_read_are_a_question() -> None:
    file = binary("a.parquet", footer(b"\x1b\xff\xff"))
    reading = read_binary(parquet.READER, file)
    assert reading.facts == ()
    assert "give `dataset_examples`" in problem_texts(reading)[0]


def test_the_held_out_part_of_a_hubs_parquet_files_is_no_training_data() -> None:
    assert not parquet.READER.matches(binary("data/validation-0.parquet", footer(ROWS_1000)))
    assert not token_files.READER.matches(binary("data/fineweb_validation_000000.bin", b"tokens"))


def test_the_cache_of_the_hub_counts_its_splits() -> None:
    text = '{"splits": {"train": {"num_examples": 51760}, "test": {"num_examples": 9}}}'
    reading = reading_of(dataset_info.READER, "dataset_info.json", text)
    assert values(reading.facts) == {"dataset_examples": 51_760}
    other = reading_of(dataset_info.READER, "a.json", text.replace("train", "all"))
    assert problem_texts(other) == [
        "a.json:1: there is no split `train`, but `all`, `test`; give `dataset_examples`"
    ]


def test_images_of_a_folder_are_counted_without_the_held_out_parts() -> None:
    counts = {("train/cat", ".jpg"): (600, 9), ("train/dog", ".png"): (400, 9)}
    counts |= {("val/cat", ".jpg"): (100, 9), ("train", ".txt"): (1, 9)}
    reading = folder_reading("data/pets", counts, load_reference(), cut=False)
    assert reading is not None
    assert values(reading.facts) == {"dataset_examples": 1000}
    cut = folder_reading("data/pets", counts, load_reference(), cut=True)
    assert cut is not None
    assert (cut.facts, "only a part" in problem_texts(cut)[0]) == ((), True)


def test_shards_are_named_with_their_size_and_asked_about() -> None:
    counts = {("", ".tar"): (128, 128_000_000_000)}
    reading = folder_reading("shards", counts, load_reference(), cut=False)
    assert reading is not None
    assert (reading.facts, reading.notes) == ((), {"shards": 128, "bytes": 128_000_000_000})
    assert problem_texts(reading)[0].startswith("shards: 128 WebDataset shards, 128.0 GB")


def test_a_folder_of_code_is_no_data() -> None:
    assert folder_reading("src", {("", ".py"): (9, 99)}, load_reference(), cut=False) is None


@given(
    st.sampled_from(["train.bin", "text_document.idx", "tokens.npy", "train.parquet"]),
    st.sampled_from([b"", b"PAR1", b"MMIDIDX\x00\x00", b"\x93NUMPY", ROWS_1000, footer(ROWS_1000)]),
    st.binary(max_size=60),
    st.booleans(),
)
def test_no_bytes_break_a_reader_of_data(name: str, start: bytes, more: bytes, close: bool) -> None:
    content = start + more + (struct.pack("<I", len(more)) + b"PAR1" if close else b"")
    reading = read_file(binary(f"data/{name}", content), load_reference())
    assert all(int(fact.value) > 0 for fact in reading.facts)


@given(st.text(max_size=60), st.sampled_from(["jsonl", "csv", "txt", "tsv"]))
def test_no_text_breaks_a_reader_of_lines(text: str, ending: str) -> None:
    reading = read_file(SourceFile(f"data/train.{ending}", text), load_reference())
    assert reading.kind in ("dataset", "log", "unknown")
