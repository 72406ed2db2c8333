"""Which folder is the project, and where things lie in it."""

from pathlib import Path

import pytest
from compute_budget_planner.errors import ProjectError
from compute_budget_planner.project import Project, find_root, resolve_root


def make(*folders: Path) -> None:
    for folder in folders:
        folder.mkdir(parents=True)


def make_worktree(folder: Path) -> None:
    make(folder)
    (folder / ".git").write_text("gitdir: /somewhere/code/.git/worktrees/feat\n")


def test_the_nearest_ancestor_with_memory_is_the_root_even_above_a_git_repository(tmp_path):
    make(tmp_path / "memory", tmp_path / "code/.git", tmp_path / "code/src/deep")
    assert find_root(tmp_path / "code/src/deep") == tmp_path.resolve()


def test_without_memory_the_git_top_level_is_the_root(tmp_path):
    make(tmp_path / "repo/.git", tmp_path / "repo/src")
    (tmp_path / "repo/src/train.py").write_text("")
    assert find_root(tmp_path / "repo/src/train.py") == (tmp_path / "repo").resolve()


def test_without_memory_and_git_the_start_is_the_root(tmp_path):
    make(tmp_path / "plain/sub")
    assert find_root(tmp_path / "plain/sub") == (tmp_path / "plain/sub").resolve()


def test_a_python_package_called_memory_makes_no_root(tmp_path):
    make(tmp_path / "repo/.git", tmp_path / "repo/src/memory")
    (tmp_path / "repo/src/memory/__init__.py").write_text("")
    assert find_root(tmp_path / "repo/src") == (tmp_path / "repo").resolve()


def test_home_is_not_found_from_below_although_it_holds_memory(tmp_path, monkeypatch):
    make(tmp_path / "memory", tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_root(tmp_path / "work") == (tmp_path / "work").resolve()


def test_a_start_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(ProjectError, match="does not exist"):
        find_root(tmp_path / "nowhere")


def test_the_flag_wins_over_client_roots_environment_and_current_directory(tmp_path):
    make(*(tmp_path / name / "jobs" for name in ("flag", "client", "env", "cwd")))
    environ = {"COMPUTE_BUDGET_PROJECT_ROOT": str(tmp_path / "env")}
    client = [(tmp_path / "client").as_uri()]
    found = [
        resolve_root(tmp_path / "flag", client, environ, tmp_path / "cwd").name,
        resolve_root(None, client, environ, tmp_path / "cwd").name,
        resolve_root(None, [], environ, tmp_path / "cwd").name,
        resolve_root(None, [], {"CLAUDE_PROJECT_DIR": str(tmp_path / "env")}, tmp_path).name,
        resolve_root(None, [], {}, tmp_path / "cwd").name,
    ]
    assert found == ["flag", "client", "env", "env", "cwd"]


def test_our_own_variable_is_more_specific_than_that_of_the_client(tmp_path):
    make(tmp_path / "own", tmp_path / "claude")
    environ = {
        "CLAUDE_PROJECT_DIR": str(tmp_path / "claude"),
        "COMPUTE_BUDGET_PROJECT_ROOT": str(tmp_path / "own"),
    }
    assert resolve_root(None, [], environ, tmp_path) == (tmp_path / "own").resolve()


def test_of_several_client_roots_the_one_that_looks_like_a_project_is_taken(tmp_path):
    make(tmp_path / "notes", tmp_path / "my project/experiments")
    roots = [
        "https://example.org/x",
        "file:///does/not/exist",
        (tmp_path / "notes").as_uri(),
        (tmp_path / "my project").as_uri(),
    ]
    assert resolve_root(None, roots, {}, tmp_path) == (tmp_path / "my project").resolve()


def test_home_as_a_client_root_is_passed_over(tmp_path):
    make(tmp_path / "home/memory", tmp_path / "env")
    environ = {"HOME": str(tmp_path / "home"), "CLAUDE_PROJECT_DIR": str(tmp_path / "env")}
    root = resolve_root(None, [(tmp_path / "home").as_uri()], environ, tmp_path)
    assert root == (tmp_path / "env").resolve()


@pytest.mark.parametrize("wide", ["/", "home", ".", "home/.codex"])
def test_the_file_systems_root_home_and_what_holds_it_are_refused(tmp_path, wide):
    make(tmp_path / "home/.codex", tmp_path / "home/jobs")
    environ = {"HOME": str(tmp_path / "home")}
    with pytest.raises(ProjectError, match="Name the folder of one project"):
        resolve_root(tmp_path / wide, [], environ, tmp_path)


def test_a_current_directory_that_is_home_is_refused_although_it_has_a_marker(tmp_path):
    make(tmp_path / "jobs")
    with pytest.raises(ProjectError, match=r"home directory.*--project-root"):
        resolve_root(None, [], {"HOME": str(tmp_path)}, tmp_path)


def test_a_current_directory_without_marker_is_refused_with_the_way_to_set_the_root(tmp_path):
    with pytest.raises(ProjectError) as refused:
        resolve_root(None, [], {}, tmp_path)
    assert str(refused.value) == (
        "project root: no project root is set, and the current directory does not look like a "
        "project (memory/, jobs/, configs/, experiments/, code/ are all missing). Pass "
        "--project-root /path/to/project to the server, or set COMPUTE_BUDGET_PROJECT_ROOT in "
        "its environment."
    )


def test_a_flag_that_names_a_file_or_nothing_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for name, fault in [("file", "is not a folder"), ("nothing", "does not exist")]:
        with pytest.raises(ProjectError, match=fault):
            resolve_root(tmp_path / name, [], {}, tmp_path)


def test_the_budget_of_a_control_root_lies_in_the_agent_state_of_its_code(tmp_path):
    make(tmp_path / "memory", tmp_path / "code")
    project = Project(tmp_path)
    assert (project.code_dir, project.agent_dir, project.budget_path) == (
        "code",
        "code/.agent",
        "code/.agent/compute-budget.md",
    )


def test_without_code_folder_the_budget_lies_in_the_agent_state_of_the_root(tmp_path):
    project = Project(tmp_path)
    assert (project.name, project.code_dir, project.budget_path, project.is_worktree) == (
        tmp_path.name,
        ".",
        ".agent/compute-budget.md",
        False,
    )


def test_project_yaml_names_the_project_and_moves_code_and_agent_state(tmp_path):
    make(tmp_path / "memory", tmp_path / "src", tmp_path / "code", tmp_path / "state")
    (tmp_path / "memory/project.yaml").write_text(
        "project: {name: Scaling}\n"
        "components:\n  code:\n    path: src\n    memory_path: state/.agent\n"
    )
    project = Project(tmp_path)
    assert (project.name, project.code_dir, project.budget_path) == (
        "Scaling",
        "src",
        "state/.agent/compute-budget.md",
    )


@pytest.mark.parametrize("path", ["../other", "/etc", ".git", "missing", "link"])
def test_a_declared_code_folder_that_is_absent_or_leads_out_is_passed_over(tmp_path, path):
    root = tmp_path / "proj"
    make(root / "memory", root / "code", root / ".git", tmp_path / "other")
    (root / "link").symlink_to(tmp_path / "other")
    (root / "memory/project.yaml").write_text(f"components: {{code: {{path: '{path}'}}}}\n")
    assert Project(root).code_dir == "code"


@pytest.mark.parametrize("memory_path", [".git/hooks", "docs", "../x/.agent", "nowhere/.agent"])
def test_a_declared_agent_state_that_is_none_is_passed_over(tmp_path, memory_path):
    make(tmp_path / "memory", tmp_path / "code", tmp_path / "docs")
    (tmp_path / "memory/project.yaml").write_text(
        f"components: {{code: {{memory_path: {memory_path}}}}}\n"
    )
    assert Project(tmp_path).agent_dir == "code/.agent"


@pytest.mark.parametrize("text", ["a: [1,\nb: }", "[" * 5000, "a: 1\n---\nb: 2\n"])
def test_a_broken_project_yaml_is_named_instead_of_guessed_around(tmp_path, text):
    make(tmp_path / "memory")
    (tmp_path / "memory/project.yaml").write_text(text)
    with pytest.raises(ProjectError, match=r"memory/project\.yaml.*cannot be read as YAML"):
        _ = Project(tmp_path).code_dir


def test_aliases_and_tags_in_project_yaml_build_nothing(tmp_path):
    make(tmp_path / "memory")
    bomb = "a0: &a0 [x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
    )
    (tmp_path / "memory/project.yaml").write_text(
        bomb + "evil: !!python/object/apply:os.abort []\nproject: {name: fine}\n"
    )
    assert Project(tmp_path).name == "fine"


def test_a_worktree_keeps_its_own_budget(tmp_path):
    make_worktree(tmp_path / "feat")
    make(tmp_path / "feat/code")
    project = Project(tmp_path / "feat")
    assert (project.is_worktree, project.budget_path, project.worktree_status_path) == (
        True,
        ".agent/compute-budget.md",
        ".agent/worktree-status.md",
    )


def test_a_submodule_is_no_worktree(tmp_path):
    (tmp_path / ".git").write_text("gitdir: ../.git/modules/sub\n")
    assert Project(tmp_path).is_worktree is False


def test_standing_in_a_worktree_of_a_control_root_the_project_is_that_root(tmp_path):
    make(tmp_path / "memory", tmp_path / "code")
    make_worktree(tmp_path / "code-worktrees/feat")
    make(tmp_path / "code-worktrees/feat/src")
    project = Project.around(tmp_path / "code-worktrees/feat/src")
    assert (project.root, project.worktree, project.budget_path) == (
        tmp_path.resolve(),
        "code-worktrees/feat",
        "code-worktrees/feat/.agent/compute-budget.md",
    )
    assert Project.around(tmp_path / "code").worktree == ""


def test_a_root_that_is_no_folder_is_refused(tmp_path):
    with pytest.raises(ProjectError, match="is not a folder"):
        Project(tmp_path / "absent")
