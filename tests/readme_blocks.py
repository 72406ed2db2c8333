"""The outputs shown in README.md, made by running the real commands.

As a script it renews README.md and the pages of the examples under tests/golden after a meant
change.

A block is fenced as `console` and begins with its command:

- `$ compute-budget-planner …`, run in a copy of the example; `| head -n N` cuts its output.
- `$ make plan`, of whose page a comment before the fence names the sections shown.
"""

import re
import shlex
import tempfile
from pathlib import Path

from click.testing import CliRunner
from compute_budget_planner.cli import main
from example_pages import GOLDEN, GPT2, IMAGENET, ROOT, copied_example, example_pages

README = ROOT / "README.md"
BUDGET = "code/.agent/compute-budget.md"

_BLOCK = re.compile(
    r"(?:^<!-- sections: (?P<sections>.+) -->\n)?"
    r"^```console\n\$ (?P<command>.+)\n(?P<output>(?s:.*?))^```$",
    re.MULTILINE,
)
_PLAN = re.compile(
    r"compute-budget-planner --project-root \$\(COPY\) \\\n\s*(.+) > build/plan\.txt"
)
_CUT = "[…]"
_ROWS = 4
"""Rows of a table shown in README.md, after its header and rule."""


def output_of(project: Path, arguments: str) -> str:
    """Return what the command line prints for a project."""
    words = ["--project-root", str(project), *shlex.split(arguments)]
    result = CliRunner().invoke(main, words, prog_name="compute-budget-planner")
    assert result.exit_code == 0, result.output
    return result.stdout


def plan_arguments() -> str:
    """Return the arguments with which `make plan` runs the command line."""
    found = _PLAN.search((ROOT / "Makefile").read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def sections_of(page: str, titles: list[str]) -> str:
    """Return the beginnings of sections, each up to the first rows of its first table."""
    plain = re.sub(r"^<!-- budget:.*-->\n", "", page, flags=re.MULTILINE)
    parts = dict(re.findall(r"^## (.+)\n+((?s:.*?))(?=^##|\Z)", plain, re.MULTILINE))
    return f"\n{_CUT}\n\n".join(f"## {title}\n\n{_beginning(parts[title])}" for title in titles)


def _beginning(section: str) -> str:
    head = re.match(rf"(?:(?!\|).*\n)*(?:\|.*\n){{0,{2 + _ROWS}}}", section)
    return head[0] if head else ""


def real_output(project: Path, command: str, sections: str | None) -> str:
    """Return what a block should show."""
    if command == "make plan":
        said = output_of(project, plan_arguments()).split("\n", 1)[0]
        page = (project / BUDGET).read_text(encoding="utf-8")
        shown = sections_of(page, (sections or "").split(", "))
        return f"{said}\n\n{_CUT}\n\n{shown}\n{_CUT}\n"
    arguments, _, cut = command.removeprefix("compute-budget-planner ").partition(" | head -n ")
    lines = output_of(project, arguments).splitlines(keepends=True)
    return "".join(lines[: int(cut)] if cut else lines)


def blocks() -> list[re.Match[str]]:
    """Return the blocks of README.md: groups `command`, `sections` and `output`."""
    return list(_BLOCK.finditer(README.read_text(encoding="utf-8")))


def _renew(folder: Path) -> None:
    text = README.read_text(encoding="utf-8")
    for number, block in reversed(list(enumerate(blocks()))):
        project = copied_example(folder / str(number))
        output = real_output(project, block["command"], block["sections"])
        text = text[: block.start("output")] + output + text[block.end("output") :]
    README.write_text(text, encoding="utf-8")
    for name in (GPT2, IMAGENET):
        for page, content in example_pages(folder / "pages", name).items():
            (GOLDEN / page).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        _renew(Path(temporary))
