"""Reading stays inside the project and inside its bounds."""

import hashlib
import os
from pathlib import Path

import pytest
from compute_budget_planner.errors import ProjectError
from compute_budget_planner.project import FileText, Project, reading


@pytest.fixture
def project(tmp_path) -> Project:
    root = tmp_path / "proj"
    (root / "code/configs").mkdir(parents=True)
    (root / "code/configs/base.yaml").write_bytes(b"lr: 1\r\n")
    (tmp_path / "proj-evil").mkdir()
    (tmp_path / "proj-evil/secret.yaml").write_text("token: x")
    return Project(root)


def test_a_file_is_found_from_the_root_from_the_code_folder_and_by_absolute_path(project):
    expected = FileText("code/configs/base.yaml", "lr: 1\r\n", 7, sampled=False)
    for path in (
        "code/configs/base.yaml",
        "configs/base.yaml",
        "./code/../configs/base.yaml",
        str(project.root / "code/configs/base.yaml"),
    ):
        assert project.read(path) == expected


@pytest.mark.parametrize(
    "path",
    [
        "../proj-evil/secret.yaml",
        "code/../../proj-evil/secret.yaml",
        "link.yaml",
        "folder/secret.yaml",
        "/etc/passwd",
        "{evil}/secret.yaml",
    ],
)
def test_nothing_outside_the_root_is_read(project, path):
    evil = project.root.parent / "proj-evil"
    (project.root / "link.yaml").symlink_to(evil / "secret.yaml")
    (project.root / "folder").symlink_to(evil)
    with pytest.raises(ProjectError, match="leads outside the project"):
        project.read(path.format(evil=evil))
    with pytest.raises(ProjectError, match="leads outside the project"):
        project.sha256(path.format(evil=evil))


def test_a_symlink_that_stays_inside_reads_as_the_file_it_names(project):
    (project.root / "alias.yaml").symlink_to("code/configs/base.yaml")
    assert project.read("alias.yaml").path == "code/configs/base.yaml"


@pytest.mark.parametrize("path", ["", "  ", "a\0b", "a\nb", "x" * 5000])
def test_text_that_is_no_path_is_refused(project, path):
    with pytest.raises(ProjectError, match="is not a path"):
        project.read(path)


def test_a_loop_of_symlinks_is_refused(project):
    (project.root / "loop").symlink_to("loop")
    with pytest.raises(ProjectError, match="cannot be followed"):
        project.read("loop")


def test_a_missing_file_is_answered_with_the_nearest_one(project):
    with pytest.raises(ProjectError) as refused:
        project.read("code/configs/bsae.yaml")
    assert str(refused.value) == (
        "code/configs/bsae.yaml: there is no such file. Did you mean `code/configs/base.yaml`?"
    )


def test_a_missing_file_is_answered_with_the_same_name_elsewhere(project):
    with pytest.raises(ProjectError, match=r"Did you mean `code/configs/base\.yaml`"):
        project.read("experiments/old/base.yaml")


def test_a_missing_file_that_resembles_none_is_answered_with_what_is_there(project):
    with pytest.raises(ProjectError, match=r"In the project root there are: `code`\."):
        project.read("jobs/qqq.sh")


def test_a_folder_is_refused_with_a_file_in_it(project):
    with pytest.raises(ProjectError, match=r"this is a folder\. Name a file in it, such as `code/"):
        project.read("code/configs")


def test_a_pipe_is_refused_without_hanging(project):
    os.mkfifo(project.root / "pipe")
    with pytest.raises(ProjectError, match="device, pipe or socket"):
        project.read("pipe")


def test_a_binary_file_is_refused(project):
    (project.root / "model.bin").write_bytes(b"PK\0\0")
    with pytest.raises(ProjectError, match="binary"):
        project.read("model.bin")


def test_bytes_that_are_not_utf8_are_marked_and_a_byte_order_mark_is_dropped(project):
    (project.root / "a.json").write_bytes(b"\xef\xbb\xbf{\xff}")
    assert project.read("a.json") == FileText("a.json", "{\ufffd}", 6, sampled=False)


def test_a_structured_file_over_the_bound_is_refused(project, monkeypatch):
    monkeypatch.setattr(reading, "MAX_WHOLE_BYTES", 10)
    (project.root / "big.json").write_text("x" * 11)
    with pytest.raises(ProjectError, match="at most 64 MB are read"):
        project.read("big.json")


def test_a_long_log_gives_whole_lines_of_its_head_middle_and_tail(project, monkeypatch):
    monkeypatch.setattr(reading, "MAX_LOG_BYTES", 1000)
    monkeypatch.setattr(reading, "_STRETCH_BYTES", 100)
    lines = [f"step {i:04d}" for i in range(1000)]
    (project.root / "train.log").write_text("\n".join(lines) + "\n")
    file = project.read("train.log")
    steps = [int(line.removeprefix("step ")) for line in file.text.splitlines()]
    assert file.sampled
    assert file.size_bytes == 10_000
    assert (steps[0], steps[-1]) == (0, 999)
    assert any(400 < step < 600 for step in steps)
    assert steps == sorted(set(steps))
    assert len(steps) < 40


def test_a_progress_bar_without_line_feeds_is_sampled_too(project, monkeypatch):
    monkeypatch.setattr(reading, "MAX_LOG_BYTES", 1000)
    monkeypatch.setattr(reading, "_STRETCH_BYTES", 100)
    (project.root / "bar.out").write_bytes(b"".join(b"\r%4d/9999" % i for i in range(2000)))
    parts = [part for part in project.read("bar.out").text.replace("\n", "\r").split("\r") if part]
    assert parts[0] == "   0/9999"
    assert parts[-1] == "1999/9999"
    assert all(len(part) == 9 for part in parts)


def test_a_file_of_a_few_megabytes_is_read_whole(project):
    text = "loss 1.0\n" * 300_000
    (project.root / "train.log").write_text(text)
    assert project.read("train.log") == FileText("train.log", text, 2_700_000, sampled=False)


def test_the_hash_is_that_of_the_bytes(project):
    assert project.sha256("configs/base.yaml") == hashlib.sha256(b"lr: 1\r\n").hexdigest()


def test_an_unreadable_file_is_an_error_of_ours(project, monkeypatch):
    def refuse(path: Path, flags: int) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(reading.os, "open", refuse)
    with pytest.raises(ProjectError, match=r"cannot be opened \(Permission denied\)"):
        project.read("configs/base.yaml")
