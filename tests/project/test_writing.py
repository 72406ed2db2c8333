"""Writing touches the few allowed files, whole or not at all, one writer at a time."""

import hashlib
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from compute_budget_planner.errors import ProjectError
from compute_budget_planner.project import Project, WriteOutcome, locking

BUDGET = "code/.agent/compute-budget.md"
RISKS = "memory/risk-board.md"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def everything_below(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))


@pytest.fixture
def project(tmp_path) -> Project:
    root = tmp_path / "proj"
    for folder in ("memory", "code", "code/.git"):
        (root / folder).mkdir(parents=True)
    (tmp_path / "proj-evil").mkdir()
    return Project(root)


def test_the_budget_is_written_into_an_agent_folder_made_for_it(project):
    outcome = project.write_text(BUDGET, "# Compute Budget\n")
    assert outcome == WriteOutcome(BUDGET, changed=True, sha256=sha256("# Compute Budget\n"))
    assert (project.root / BUDGET).read_text() == "# Compute Budget\n"
    assert everything_below(project.root) == [
        "code",
        "code/.agent",
        BUDGET,
        "code/.git",
        "memory",
    ]


def test_the_same_text_twice_leaves_the_file_untouched(project):
    project.write_text(BUDGET, "a\n")
    before = (project.root / BUDGET).stat()
    outcome = project.write_text(BUDGET, "a\n")
    after = (project.root / BUDGET).stat()
    assert outcome == WriteOutcome(BUDGET, changed=False, sha256=sha256("a\n"))
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "CLAUDE.md",
        "code/.git/hooks/pre-commit",
        ".agent/compute-budget.md",
        "memory/claim-board.md",
        "memory/../memory/risk-board.md",
        "./memory/risk-board.md",
        "memory//risk-board.md",
        "../proj-evil/memory/risk-board.md",
        "../proj-evil",
        "/etc/passwd",
        "memory/CON",
        "memory/risk-board.md:stream",
        "memory\\risk-board.md",
        "code/.agent/NUL.md",
        "code/.agent/COM1",
        "code/.agent/compute-budget/../x.svg",
        "code/.agent/compute-budget.svg.sh",
        "code/.agent/compute-budget.svg\n",
        "code/.agent/worktree-status.md",
        "",
        "memory/risk-board.md\0",
    ],
)
def test_no_other_file_is_written(project, path):
    before = everything_below(project.root.parent)
    for attempt in (
        lambda: project.write_text(path, "x"),
        lambda: project.unified_diff(path, "x"),
        lambda: project.locked(path).__enter__(),
    ):
        with pytest.raises(ProjectError, match="not written by the planner"):
            attempt()
    assert everything_below(project.root.parent) == before


def test_boards_counters_and_plots_are_written(project):
    for path in (
        RISKS,
        "memory/decision-log.md",
        "memory/evidence-board.md",
        "memory/action-board.md",
        "memory/handoff-board.md",
        "memory/project-conventions.md",
        "memory/project.yaml",
        "code/.agent/compute-budget.svg",
        "code/.agent/compute-budget-grid_2.svg",
    ):
        assert project.write_text(path, "x").changed


def test_in_a_worktree_only_its_budget_status_and_plots_are_written(project):
    (project.root / ".git").write_text("gitdir: /x/.git/worktrees/feat\n")
    worktree = Project(project.root)
    for path in ("compute-budget.md", "worktree-status.md", "compute-budget.svg"):
        assert worktree.write_text(f".agent/{path}", "x").changed
    for path in (RISKS, "memory/project.yaml", BUDGET):
        with pytest.raises(ProjectError, match=r"only `\.agent/compute-budget\.md`"):
            worktree.write_text(path, "x")


@pytest.mark.parametrize("link", ["memory", "memory/risk-board.md"])
def test_nothing_is_written_through_a_symlink_even_one_that_stays_inside(project, link):
    target = project.root / "elsewhere"
    if link == "memory":
        (project.root / "memory").rmdir()
        target.mkdir()
    else:
        target.write_text("old")
    (project.root / link).symlink_to(target)
    with pytest.raises(ProjectError, match=f"`{link}` is a symlink"):
        project.write_text(RISKS, "x")
    with pytest.raises(ProjectError, match=f"`{link}` is a symlink"):
        project.unified_diff(RISKS, "x")
    assert target.is_dir() or target.read_text() == "old"


def test_a_dangling_symlink_is_not_written_through(project):
    (project.root / RISKS).symlink_to(project.root.parent / "proj-evil/new.md")
    with pytest.raises(ProjectError, match="is a symlink"):
        project.write_text(RISKS, "x")
    assert everything_below(project.root.parent / "proj-evil") == []


def test_a_hard_link_keeps_its_other_name_as_it_was(project):
    outside = project.root.parent / "proj-evil/file"
    outside.write_text("old")
    (project.root / RISKS).hardlink_to(outside)
    project.write_text(RISKS, "new")
    assert outside.read_text() == "old"


def test_a_folder_in_the_files_place_is_refused(project):
    (project.root / RISKS).mkdir()
    with pytest.raises(ProjectError, match="not a regular file"):
        project.write_text(RISKS, "x")


def test_no_folder_but_the_agent_folder_is_made(project):
    (project.root / "memory").rmdir()
    with pytest.raises(ProjectError, match="Check that `memory` exists"):
        project.write_text(RISKS, "x")
    assert not (project.root / "memory").exists()


def test_a_file_changed_since_it_was_read_is_not_overwritten(project):
    project.write_text(RISKS, "one")
    first = project.sha256(RISKS)
    project.write_text(RISKS, "two", expected_sha256=first)
    with pytest.raises(ProjectError, match=r"has changed since it was read\. Read it again"):
        project.write_text(RISKS, "three", expected_sha256=first)
    assert (project.root / RISKS).read_text() == "two"


def test_a_file_that_is_gone_is_not_recreated_by_a_stale_write(project):
    with pytest.raises(ProjectError, match="the file is gone"):
        project.write_text(RISKS, "x", expected_sha256=sha256("old"))


def test_mode_line_ends_and_byte_order_mark_of_a_file_are_kept(project):
    file = project.root / RISKS
    file.write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    file.chmod(0o640)
    text = project.read(RISKS).text
    assert project.write_text(RISKS, text).changed is False
    project.write_text(RISKS, text + "c\r\n")
    assert file.read_bytes() == b"\xef\xbb\xbfa\r\nb\r\nc\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_file_that_is_not_utf8_is_not_rewritten(project):
    (project.root / RISKS).write_bytes(b"ok\ncaf\xe9\n")
    with pytest.raises(ProjectError, match=r"memory/risk-board\.md:2: the file is not UTF-8"):
        project.write_text(RISKS, "x")


def test_text_that_is_not_unicode_is_refused(project):
    with pytest.raises(ProjectError, match="not valid Unicode"):
        project.write_text(RISKS, "a\udc80")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(project, monkeypatch, step):
    project.write_text(RISKS, "old")
    before = everything_below(project.root)

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((os, "fsync", full) if step == "fsync" else (Path, "replace", full)))
    with pytest.raises(ProjectError, match="No space left on device"):
        project.write_text(RISKS, "new")
    assert (project.root / RISKS).read_text() == "old"
    assert everything_below(project.root) == before


def test_a_dry_run_shows_the_change_and_writes_nothing(project):
    project.write_text(RISKS, "a\nb\n")
    assert project.unified_diff(RISKS, "a\nc\n") == (
        "--- a/memory/risk-board.md\n+++ b/memory/risk-board.md\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    )
    assert (project.root / RISKS).read_text() == "a\nb\n"
    assert project.unified_diff(RISKS, "a\nb\n") == ""


def test_the_diff_of_a_new_file_starts_from_nothing_and_shows_a_missing_line_end(project):
    assert project.unified_diff(BUDGET, "a") == (
        f"--- /dev/null\n+++ b/{BUDGET}\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n"
    )
    assert not (project.root / "code/.agent").exists()


def append(project: Project, line: str) -> None:
    with project.locked(RISKS):
        text = project.read(RISKS).text
        project.write_text(RISKS, f"{text}{line}\n")


def test_ten_threads_that_each_append_under_the_lock_keep_all_ten_lines(project):
    project.write_text(RISKS, "")
    with ThreadPoolExecutor(10) as threads:
        list(threads.map(lambda i: append(Project(project.root), str(i)), range(10)))
    assert sorted((project.root / RISKS).read_text().split()) == [str(i) for i in range(10)]


def test_processes_that_append_under_the_lock_keep_every_line(project):
    project.write_text(RISKS, "")
    program = (
        "import sys; from pathlib import Path; from compute_budget_planner.project import Project\n"
        "p = Project(Path(sys.argv[1]))\n"
        "for i in range(20):\n"
        f"    with p.locked({RISKS!r}):\n"
        f"        p.write_text({RISKS!r}, p.read({RISKS!r}).text + sys.argv[2] + '\\n')\n"
    )
    search = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [
        subprocess.Popen([sys.executable, "-c", program, project.root, name], env=search)  # noqa: S603
        for name in ("a", "b", "c")
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    assert (
        sorted((project.root / RISKS).read_text().split()) == ["a"] * 20 + ["b"] * 20 + ["c"] * 20
    )


def test_another_process_that_keeps_the_lock_is_reported(project, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(locking, "PATIENCE_SECONDS", 0.0)
    descriptor = os.open(project.root, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(ProjectError, match="another process is writing"):
            project.write_text(RISKS, "x")
    finally:
        os.close(descriptor)
    assert project.write_text(RISKS, "x").changed


def test_where_the_system_has_no_flock_a_lock_file_serves(project, monkeypatch):
    monkeypatch.setattr(locking, "fcntl", None)
    monkeypatch.setattr(locking, "PATIENCE_SECONDS", 0.0)
    lock = project.root / locking.LOCK_NAME
    with project.locked(RISKS):
        assert lock.exists()
        assert project.write_text(RISKS, "x").changed
    assert not lock.exists()
    lock.touch()
    with pytest.raises(ProjectError, match=f"delete `{locking.LOCK_NAME}`"):
        project.write_text(RISKS, "y")
    assert (project.root / RISKS).read_text() == "x"


def test_the_lock_is_given_back_after_an_error(project):
    with pytest.raises(RuntimeError), project.locked(RISKS):
        raise RuntimeError
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(project.write_text, RISKS, "x").result(timeout=10).changed
