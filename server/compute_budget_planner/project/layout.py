"""Where code, agent state and budget lie in a project, as repo-relative POSIX paths.

`memory/project.yaml` may move them. It is read as a tree of YAML nodes, never as objects: no
constructor runs and an alias cannot multiply.
"""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from compute_budget_planner.errors import ProjectError

PROJECT_YAML = "memory/project.yaml"
BUDGET_NAME = "compute-budget.md"
LAB_PAGE_NAME = "lab-guide.md"
AGENT_DIRECTORY = ".agent"

_MAX_YAML_BYTES = 1 << 20


@dataclass(frozen=True)
class Declared:
    """What `memory/project.yaml` declares; empty where it says nothing."""

    name: str = ""
    code_path: str = ""
    memory_path: str = ""


def read_declared(root: Path) -> Declared:
    """Return what the project declares about itself.

    Raises:
        ProjectError: memory/project.yaml is there, but too large or broken: it decides where the
            budget goes, so nothing is guessed in its place.
    """
    import yaml

    file = root / PROJECT_YAML
    if not file.is_file() or not file.resolve().is_relative_to(root):
        return Declared()
    if file.stat().st_size > _MAX_YAML_BYTES:
        raise ProjectError("the file is over 1 MB", where=PROJECT_YAML, remedy="Shorten it.")
    try:
        tree = yaml.compose(file.read_text(encoding="utf-8", errors="replace"), yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        raise ProjectError(
            "the file cannot be read as YAML",
            where=f"{PROJECT_YAML}:{mark.line + 1}" if mark else PROJECT_YAML,
            remedy="Repair it: it says where the code and its agent state lie.",
        ) from error
    return Declared(
        name=_scalar(tree, "project", "name"),
        code_path=_scalar(tree, "components", "code", "path"),
        memory_path=_scalar(tree, "components", "code", "memory_path"),
    )


def code_directory(root: Path, declared: Declared) -> str:
    """Return the declared code folder if it exists inside the root, else `code`, else `.`."""
    for candidate in (declared.code_path, "code"):
        if candidate and _folder_inside(root, candidate):
            return PurePosixPath(candidate).as_posix()
    return "."


def agent_directory(root: Path, declared: Declared, worktree: str) -> str:
    """Return the `.agent` folder that holds the budget; it need not exist yet.

    In a worktree its own; else the declared one, if it is called `.agent` and lies in an existing
    folder of the project; else that of the code folder.
    """
    if worktree:
        return joined(worktree, AGENT_DIRECTORY)
    path = PurePosixPath(declared.memory_path)
    if path.name == AGENT_DIRECTORY and _folder_inside(root, path.parent.as_posix()):
        return path.as_posix()
    return joined(code_directory(root, declared), AGENT_DIRECTORY)


def joined(folder: str, name: str) -> str:
    """Return `folder/name` without a leading `./`."""
    return (PurePosixPath(folder) / name).as_posix()


def _folder_inside(root: Path, relative: str) -> bool:
    parts = PurePosixPath(relative).parts
    if relative.startswith("/") or "\0" in relative or {"..", ".git"} & set(parts):
        return False
    folder = root / relative
    return folder.is_dir() and folder.resolve().is_relative_to(root)


def _scalar(node: object, *keys: str) -> str:
    import yaml

    for key in keys:
        if not isinstance(node, yaml.MappingNode):
            return ""
        node = next((value for name, value in node.value if name.value == key), None)
    return node.value.strip() if isinstance(node, yaml.ScalarNode) else ""
