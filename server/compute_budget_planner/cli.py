"""The tools on a command line: one subcommand per tool, and `serve` for the MCP server.

Exit codes: 0 done, 1 the product's own error (one message on stderr), 2 wrong usage. Libraries
that take time to load are imported when a command runs.
"""

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from compute_budget_planner import __version__
from compute_budget_planner.command_options import PARAMETERS
from compute_budget_planner.errors import PlannerError, ProjectError, RequestError
from compute_budget_planner.option_parsing import argument_of
from compute_budget_planner.tool_spec import ToolSpec, fault_of
from compute_budget_planner.tools import TOOLS

if TYPE_CHECKING:
    from pydantic import BaseModel

_FAILED = 1
_ROOT_VARIABLE = "COMPUTE_BUDGET_PROJECT_ROOT"


def _place_options() -> list[click.Parameter]:
    """Return the options that stand before or after the subcommand alike."""
    return [
        click.Option(
            ["--project-root"],
            metavar="FOLDER",
            help=f"The project; default: ${_ROOT_VARIABLE}, else the project around the current "
            "directory.",
        ),
        click.Option(
            ["--guide"],
            metavar="PAGE",
            multiple=True,
            help="A page of your own reference tables; its rows win. Repeatable.",
        ),
    ]


def _place(project_root: str | None, guide: tuple[str, ...]) -> tuple[str | None, list[Path]]:
    """Return project root and guide pages, from before and after the subcommand together."""
    parent = click.get_current_context().parent
    outer = parent.params if parent else {}
    pages = (*outer.get("guide", ()), *guide)
    return project_root or outer.get("project_root"), [Path(page) for page in pages]


def _run(
    spec: ToolSpec,
    *,
    as_json: bool,
    project_root: str | None,
    guide: tuple[str, ...],
    plot: str | None = None,
    **values: object,
) -> None:
    """Carry a tool out, print its result, and draw it into a file where one is named."""
    flag, pages = _place(project_root, guide)
    arguments = {field: argument_of(field, values[field]) for field in spec.arguments}
    try:
        result = _result(spec, arguments, flag, pages)
        if plot is not None:
            _draw(result, Path(plot))
    except PlannerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(_FAILED)
    except Exception as error:
        click.echo(fault_of(error), err=True)
        sys.exit(_FAILED)
    click.echo(result.model_dump_json(indent=2) if as_json else _styled(result), color=_color())


def _result(
    spec: ToolSpec, arguments: dict[str, object], flag: str | None, pages: list[Path]
) -> "BaseModel":
    from compute_budget_planner.arguments import checked
    from compute_budget_planner.planner.workspace import open_workspace

    request = checked(spec.request_model(), arguments, spec.name)
    return spec.run(open_workspace(_root(flag), pages, start=Path.cwd()), request)


def _draw(result: "BaseModel", file: Path) -> None:
    """Draw a result into the file a person named, whose ending says the form.

    Raises:
        RequestError: the form is unknown, there is nothing to draw, or the extra is missing.
        ProjectError: the file cannot be written.
    """
    from compute_budget_planner.plotting.drawing import drawn, form_of
    from compute_budget_planner.results.picture import Pictured

    form = form_of(file.name)
    picture = result.picture if isinstance(result, Pictured) else None
    if picture is None:
        raise RequestError("there is nothing to draw: no curve and no predicted loss", where="plot")
    image = drawn(picture, form)
    try:
        file.write_bytes(image)
    except OSError as error:
        raise ProjectError(
            f"the plot cannot be written ({type(error).__name__})", where=file.name
        ) from error


def _root(flag: str | None) -> Path:
    from compute_budget_planner.project.root import find_root, resolve_root

    return resolve_root(
        flag or os.environ.get(_ROOT_VARIABLE) or find_root(Path.cwd()),
        (),
        os.environ,
        Path.cwd(),
    )


def _styled(result: "BaseModel") -> str:
    """Return a result as text with bold headings; click drops the style off a terminal."""
    from compute_budget_planner.markdown.result_text import text_of

    lines = text_of(result).rstrip("\n").split("\n")
    return "\n".join(click.style(line, bold=True) if line[:1] == "#" else line for line in lines)


def _color() -> bool | None:
    """Leave colour to click, which looks for a terminal, unless the user declined it."""
    return False if os.environ.get("NO_COLOR") else None


def _serve(*, project_root: str | None, guide: tuple[str, ...]) -> None:
    """Serve the tools over MCP on stdin and stdout."""
    from compute_budget_planner.mcp_server import serve

    flag, pages = _place(project_root, guide)
    serve(Path(flag) if flag else None, pages)


def _measure(
    *, project_root: str | None, guide: tuple[str, ...], seconds: int | None, **wishes: Any
) -> None:
    """Measure the device of this machine and write the project's lab page."""
    flag, pages = _place(project_root, guide)
    try:
        from compute_budget_planner.measuring.session import Request, measure_here

        request = Request(seconds=seconds, guide_pages=pages, **wishes)
        text = measure_here(_root(flag), request, partial(click.echo, err=True))
    except PlannerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(_FAILED)
    except Exception as error:
        click.echo(fault_of(error), err=True)
        sys.exit(_FAILED)
    click.echo(text)


_MEASURE_OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(["--quick"], is_flag=True, help="About one minute instead of five; no compiling."),
    click.Option(
        ["--seconds"],
        type=click.IntRange(min=1, max=3600),
        help="Time to measure for, start-up and compiling aside; default 300, with --quick 60.",
    ),
    click.Option(
        ["--gpu"], metavar="NAME", help="The device's name in the guide where its driver is vague."
    ),
    click.Option(["--dry-run"], is_flag=True, help="Measure, show the diff and write nothing."),
)


_PLOT = click.Option(
    ["--plot"],
    metavar="FILE",
    help="Draw the result into an .svg or .png file; needs the extra `plot`.",
)


def _add(
    name: str, title: str, about: str, run: Callable[..., None], *options: click.Parameter
) -> None:
    params = [*options, *_place_options()]
    main.add_command(click.Command(name, callback=run, help=about, short_help=title, params=params))


main = click.Group(
    "compute-budget-planner",
    params=_place_options(),
    help="Estimate, size and budget ML training runs before they are submitted.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
click.version_option(__version__, prog_name="compute-budget-planner")(main)

for _spec in TOOLS:
    _add(
        _spec.name.replace("_", "-"),
        _spec.title,
        _spec.essence,
        partial(_run, _spec),
        *(PARAMETERS[field]() for field in _spec.arguments),
        *([_PLOT] if _spec.pictured else []),
        click.Option(["--json", "as_json"], is_flag=True, help="Print the structured result."),
    )
_add(
    "measure",
    "Measure this machine",
    "Measure what the GPUs of this machine reach (about five minutes, with the PyTorch of your "
    "environment) and write it as a lab page, whose rows win over the shipped guide.",
    _measure,
    *_MEASURE_OPTIONS,
)
_add("serve", "MCP server", "Serve the tools over MCP on stdin and stdout.", _serve)
