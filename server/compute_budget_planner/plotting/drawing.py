"""A picture drawn with Matplotlib, which comes with the optional extra `plot`.

Colours are those of Okabe and Ito (2008), told apart by colour-blind readers as well. The same
picture gives the same bytes.
"""

from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from typing import Any, Literal

from compute_budget_planner.errors import RequestError
from compute_budget_planner.results.picture import Line, Picture

Form = Literal["svg", "png"]

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_INCHES = (7.2, 4.4)
_DOTS_PER_INCH = 110
_STYLES = {"line": "-", "dashed": "--", "fit": ":", "markers": "-"}


def can_draw() -> bool:
    """Tell whether the extra is installed."""
    return find_spec("matplotlib") is not None


def form_of(name: str) -> Form:
    """Return the form a file's ending stands for.

    Raises:
        RequestError: it stands for none.
    """
    forms: dict[str, Form] = {".svg": "svg", ".png": "png"}
    form = forms.get(name[-4:].lower())
    if form is None:
        raise RequestError("a plot ends in .svg or .png", where=name)
    return form


def drawn(picture: Picture, form: Form) -> bytes:
    """Return a picture as SVG or PNG.

    Raises:
        RequestError: the extra is not installed.
    """
    if not can_draw():
        raise RequestError(
            "plots need Matplotlib, which is not installed",
            where="plot",
            remedy="Install `compute-budget-planner[plot]`, or use the Mermaid text of `chart`.",
        )
    matplotlib: Any = import_module("matplotlib")
    figures: Any = import_module("matplotlib.figure")
    with matplotlib.rc_context({"svg.hashsalt": "compute-budget", "svg.fonttype": "none"}):
        figure = figures.Figure(figsize=_INCHES, dpi=_DOTS_PER_INCH, layout="constrained")
        axes = figure.add_subplot()
        for line in picture.lines:
            _draw(axes, line)
        if picture.log_x:
            axes.set_xscale("log")
        axes.set_title(picture.title, parse_math=False, fontsize="medium")
        axes.set_xlabel(picture.x_label, parse_math=False)
        axes.set_ylabel(picture.y_label, parse_math=False)
        axes.grid(visible=True, alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        legend = axes.legend(frameon=False, fontsize="small")
        for text in legend.get_texts():
            text.set_parse_math(False)
        out = BytesIO()
        nothing = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
        figure.savefig(out, format=form, metadata=nothing)
    return out.getvalue()


def _draw(axes: Any, line: Line) -> None:
    colour = _COLOURS[line.group % len(_COLOURS)]
    fit = line.style == "fit"
    axes.plot(
        line.x,
        line.y,
        _STYLES[line.style],
        color="#000000" if fit else colour,
        linewidth=2.0 if fit else 1.6,
        marker="o" if line.style == "markers" else None,
        # Matplotlib leaves out of the legend what begins with an underscore.
        label=line.label.lstrip("_") or "_",
        zorder=3 if fit else 2,
    )
    if line.low and line.high and line.style == "markers":
        reach = [
            [y - low for y, low in zip(line.y, line.low, strict=True)],
            [high - y for y, high in zip(line.y, line.high, strict=True)],
        ]
        axes.errorbar(line.x, line.y, reach, fmt="none", ecolor=colour, capsize=3, label="_")
    elif line.low and line.high:
        axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.15, linewidth=0)
