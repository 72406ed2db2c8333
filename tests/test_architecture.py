"""The package keeps its shape: imports go down, and every module holds one idea."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import compute_budget_planner
from compute_budget_planner.readers.registry import READERS

PACKAGE = Path(compute_budget_planner.__file__).parent
MODULES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(PACKAGE.rglob("*.py"))
}
TREES = {path: ast.parse(text) for path, text in MODULES.items()}

LAYERS = (
    {"__init__", "errors"},
    {"numbers"},
    {"guide"},
    {"workload"},
    {"estimation"},
    {"planning", "readers", "project", "results", "requests"},
    {"markdown", "plotting"},
    {"planner"},
    {"measuring"},
)
"""Lowest first. A layer knows those below it; its parts do not know one another."""

REQUESTS = {"grid_arguments", "grid_request", "diagnosis_request"}
"""Parts of `requests` with files of their own."""

FACES = len(LAYERS)
"""What stands in no layer serves the command line and the MCP server, above all of them."""

LONGEST = 320
TABLES = {"tools.py"}
"""Modules that are one table and read entry by entry, whatever their length."""


def part_of(module: str) -> str:
    """Return the package, or the module beside the packages, that a path or name belongs to."""
    part = module.split("/", maxsplit=1)[0].removesuffix(".py")
    return "requests" if part in REQUESTS else part


def height_of(part: str) -> int:
    return next((height for height, parts in enumerate(LAYERS) if part in parts), FACES)


def imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the dotted name and the line of everything imported, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            whole = module == PACKAGE.name
            names = [f"{module}.{alias.name}" for alias in node.names] if whole else [module]
            yield from ((name, node.lineno) for name in names)


def own_imports(path: str) -> Iterator[tuple[str, int]]:
    """Yield the part of the package each import of a module reaches, and its line."""
    for name, line in imports(TREES[path]):
        head, _, rest = name.partition(".")
        if head == PACKAGE.name:
            part = rest.split(".", maxsplit=1)[0]
            known = (PACKAGE / part).is_dir() or f"{part}.py" in MODULES
            yield part_of(part) if part and known else "__init__", line


def test_imports_go_down_only() -> None:
    upward = [
        f"{path}:{line} imports {part}"
        for path in MODULES
        for part, line in own_imports(path)
        if part != part_of(path) and height_of(part) >= height_of(part_of(path)) < FACES
    ]
    assert upward == []


def test_only_one_module_knows_mcp() -> None:
    knowing = {
        path
        for path, tree in TREES.items()
        for name, _ in imports(tree)
        if name.split(".", maxsplit=1)[0] == "mcp"
    }
    assert knowing == {"mcp_server.py"}


def test_only_the_command_line_prints() -> None:
    printing = {
        path
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and node.id == "print")
        or (isinstance(node, ast.Attribute) and node.attr in ("echo", "stdout"))
    }
    assert printing == {"cli.py"}


def test_no_module_is_too_long_to_hold_in_the_head() -> None:
    lengths = {path: text.count("\n") for path, text in MODULES.items() if path not in TABLES}
    assert {path: n for path, n in lengths.items() if n > LONGEST} == {}


def test_no_module_is_a_drawer_for_what_has_no_place() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "shared"}
    names = {path: set(path.removesuffix(".py").split("/")) for path in MODULES}
    assert [path for path, parts in names.items() if parts & drawers] == []


def test_every_module_says_what_it_is() -> None:
    assert [path for path, tree in TREES.items() if not ast.get_docstring(tree)] == []


def test_every_reader_says_what_it_reads() -> None:
    silent = [
        reader.format
        for reader in READERS
        if not (sys.modules[type(reader).__module__].__doc__ and type(reader).__doc__)
    ]
    assert silent == []
