"""Data in a project: ends of binary files, folders counted, nothing outside the root."""

from pathlib import Path

import pytest
from compute_budget_planner.errors import ProjectError
from compute_budget_planner.project import Project
from compute_budget_planner.project.data_files import HEAD_BYTES, TAIL_BYTES


def test_of_a_binary_file_of_data_head_and_tail_are_given_with_its_size(tmp_path: Path) -> None:
    content = bytes(range(256)) * 5_000
    (tmp_path / "train.bin").write_bytes(content)
    file = Project(tmp_path).read("train.bin")
    assert (file.size_bytes, file.sampled) == (1_280_000, True)
    assert file.text.encode("latin-1") == content[:HEAD_BYTES] + content[-TAIL_BYTES:]


def test_a_small_binary_file_is_given_once(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1\x00PAR1")
    assert Project(tmp_path).read("a.parquet").text == "PAR1\x00PAR1"


@pytest.mark.parametrize("name", ["pytorch_model.bin", "optimizer.bin", "photo.jpg"])
def test_weights_and_other_binary_files_are_still_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x00\x00")
    with pytest.raises(ProjectError, match="binary"):
        Project(tmp_path).read(name)


def test_files_of_a_folder_are_counted_by_place_and_ending(tmp_path: Path) -> None:
    for path in ("d/train/a.jpg", "d/train/b.JPG", "d/val/c.png", "d/.hidden/e.jpg"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"12345")
    listed = Project(tmp_path).list_folder("d")
    assert listed is not None
    assert listed.counts == {("train", ".jpg"): (2, 10), ("val", ".png"): (1, 5)}
    assert not listed.cut


def test_links_are_not_followed_and_folders_outside_are_none(tmp_path: Path) -> None:
    inside, outside = tmp_path / "p", tmp_path / "o"
    inside.mkdir()
    outside.mkdir()
    (outside / "x.jpg").write_bytes(b"1")
    (inside / "link").symlink_to(outside)
    project = Project(inside)
    assert project.list_folder("link") is None
    assert project.list_folder("../o") is None
    assert project.list_folder("no\0where") is None
    listed = project.list_folder(".")
    assert listed is not None
    assert listed.counts == {}
