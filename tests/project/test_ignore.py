"""Whether git ignores the budget, by the documented rules of gitignore(5)."""

from pathlib import Path

import pytest
from compute_budget_planner.project import Project

BUDGET = "code/.agent/compute-budget.md"


def project_with(root: Path, files: dict[str, str]) -> Project:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Project(root)


def test_the_line_that_ignores_the_budget_is_named(tmp_path):
    project = project_with(
        tmp_path, {"code/.git/HEAD": "", "code/.gitignore": "# state\n*.log\n\n.agent/\n"}
    )
    assert project.git_ignored(BUDGET) == "code/.gitignore:4 (.agent/)"
    assert project.git_ignored("code/train.log") == "code/.gitignore:2 (*.log)"
    assert project.git_ignored("code/train.py") is None


def test_rules_of_the_outer_repository_do_not_reach_into_a_nested_one(tmp_path):
    files = {".git/HEAD": "", ".gitignore": "code/\n", "code/.git/HEAD": ""}
    assert project_with(tmp_path, files).git_ignored(BUDGET) is None


def test_without_a_nested_repository_the_outer_rules_hold(tmp_path):
    files = {".git/HEAD": "", ".gitignore": "code/\n"}
    assert project_with(tmp_path, files).git_ignored(BUDGET) == ".gitignore:1 (code/)"


def test_the_exclude_file_of_the_repository_is_read(tmp_path):
    files = {".git/info/exclude": ".agent\n"}
    assert project_with(tmp_path, files).git_ignored(BUDGET) == ".git/info/exclude:1 (.agent)"


def test_a_worktree_shares_the_exclude_file_of_its_repository(tmp_path):
    files = {
        "code/.git/info/exclude": "*.md\n",
        "code/.git/worktrees/feat/HEAD": "",
        "trees/feat/.git": "gitdir: ../../code/.git/worktrees/feat\n",
    }
    assert (
        project_with(tmp_path, files).git_ignored("trees/feat/.agent/compute-budget.md")
        == "code/.git/info/exclude:1 (*.md)"
    )


@pytest.mark.parametrize(
    ("rules", "ignored"),
    [
        (".agent/*\n!.agent/compute-budget.md\n", None),  # taken back by a later line
        (".agent/\n!.agent/compute-budget.md\n", ".gitignore:1 (.agent/)"),  # its folder is out
        ("!*.md\n*.md\n", ".gitignore:2 (*.md)"),  # the last line wins
        ("/code/\n", ".gitignore:1 (/code/)"),
        ("/.agent/\n", None),  # anchored elsewhere
        ("**/.agent/**\n", ".gitignore:1 (**/.agent/**)"),
        ("code/.agent/**\n!code/.agent/compute-budget.md\n", None),  # what is in it, not itself
        ("*\n!*/\n!*.py\n", ".gitignore:1 (*)"),  # `!*/` takes folders back, not their files
        ("*\n!*/\n!*.md\n", None),
        ("!\n\\#x\n", None),
        ("", None),
    ],
)
def test_the_rules_of_gitignore_decide(tmp_path, rules, ignored):
    project = project_with(tmp_path, {".git/HEAD": "", ".gitignore": rules})
    assert project.git_ignored(BUDGET) == ignored


def test_the_nearer_ignore_file_wins_over_the_farther_and_over_exclude(tmp_path):
    files = {
        ".gitignore": "compute-budget.md\n",
        ".git/info/exclude": "compute-budget.md\n",
        "code/.agent/.gitignore": "!compute-budget.md\n",
    }
    assert project_with(tmp_path, files).git_ignored(BUDGET) is None


def test_windows_line_ends_and_symlinked_ignore_files(tmp_path):
    project = project_with(tmp_path, {".git/HEAD": "", ".gitignore": ".agent/\r\n"})
    assert project.git_ignored(BUDGET) == ".gitignore:1 (.agent/)"
    (tmp_path / ".gitignore").rename(tmp_path / "rules")
    (tmp_path / ".gitignore").symlink_to("rules")
    assert project.git_ignored(BUDGET) is None


def test_a_project_without_repository_ignores_nothing(tmp_path):
    assert project_with(tmp_path, {}).git_ignored(BUDGET) is None
