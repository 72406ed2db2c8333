"""A picture as data: lines over one axis. What draws it decides on the form.

A result that can be drawn carries its Mermaid text for every reader, and the whole picture out
of sight: the faces draw it where the optional extra is installed.
"""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field, PrivateAttr

from compute_budget_planner.results.base import Result


@dataclass(frozen=True)
class Line:
    """One line: its points and, where known, the interval about each.

    `group` is what shares a colour; a line without a label is not in the legend. A `fit` is drawn
    over the points it was fitted to.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    group: int = 0
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    style: Literal["line", "dashed", "markers", "fit"] = "line"


@dataclass(frozen=True)
class Picture:
    """Lines with the words of their axes."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    log_x: bool = False


class Pictured(Result):
    """A result that can be drawn."""

    chart: str = Field(default="", description="Mermaid")
    _picture: Picture | None = PrivateAttr(default=None)

    @property
    def picture(self) -> Picture | None:
        """The picture, None where there is nothing to draw."""
        return self._picture

    def draw(self, picture: Picture, chart: str) -> None:
        """Take a picture and its Mermaid text in."""
        self._picture = picture
        self.chart = chart
