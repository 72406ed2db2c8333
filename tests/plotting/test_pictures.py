"""Pictures as Mermaid for every reader, and drawn where the extra is installed."""

import re

import pytest
from compute_budget_planner.errors import RequestError
from compute_budget_planner.plotting import drawing
from compute_budget_planner.plotting.drawing import can_draw, drawn, form_of
from compute_budget_planner.plotting.mermaid import mermaid_of
from compute_budget_planner.results.picture import Line, Picture
from hypothesis import given
from hypothesis import strategies as st

PICTURE = Picture(
    'loss of "run" `a`; $x_$',
    "steps",
    "loss",
    (
        Line("training", (0.0, 50.0, 100.0), (4.0, 2.0, 1.0), 0, style="dashed"),
        Line("validation", (0.0, 100.0), (4.0, 3.0), 1, low=(3.5, 2.5), high=(4.5, 3.5)),
        Line("short", (0.0, 20.0), (1.0, 1.0), 2),
        Line("falls by 1 %", (50.0, 100.0), (2.0, 1.0), 1, style="fit"),
    ),
)


def test_mermaid_shows_whole_lines_at_equal_distances() -> None:
    title, x_axis, y_axis, *lines = mermaid_of(PICTURE).splitlines()[1:]
    assert title == "    title \"loss of 'run' 'a', $x_$, lines in order: training, validation\""
    assert x_axis == '    x-axis "steps" 0 --> 100'
    assert y_axis == '    y-axis "loss" 0.85 --> 4.15'
    values = [[float(v) for v in re.findall(r"-?[\d.]+", line)] for line in lines]
    assert [len(row) for row in values] == [25, 25]
    assert (values[0][0], values[0][12], values[0][-1]) == (4, 2, 1)
    assert values[1][12] == 3.5


def test_mermaid_of_a_logarithmic_axis_is_drawn_over_its_exponent() -> None:
    line = Line("1e19 FLOPs", (1e8, 1e10), (3.0, 2.0))
    chart = mermaid_of(Picture("grid", "parameters", "loss", (line,), log_x=True))
    assert 'x-axis "log10 of parameters" 8 --> 10' in chart
    assert mermaid_of(Picture("none", "x", "y", ())) == ""


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60),
    st.text(max_size=60),
)
def test_mermaid_is_well_formed_whatever_the_names(values: list[float], name: str) -> None:
    line = Line(name, tuple(float(i) for i in range(len(values))), tuple(values))
    chart = mermaid_of(Picture(name, "steps", "loss", (line,)))
    head = [part for part in chart.split("\n") if part.startswith("    ")]
    assert len(head) == 4
    assert all(part.count('"') in (0, 2) for part in head)
    assert re.fullmatch(r"    line \[-?\d[-\d., ]*\]", head[3])


def test_a_plot_is_svg_or_png() -> None:
    assert (form_of("a.svg"), form_of("A.PNG")) == ("svg", "png")
    with pytest.raises(RequestError, match=r"a\.bmp: a plot ends in \.svg or \.png"):
        form_of("a.bmp")


def test_without_the_extra_the_way_to_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "find_spec", lambda _name: None)
    assert not can_draw()
    with pytest.raises(RequestError, match=r"compute-budget-planner\[plot\]"):
        drawn(PICTURE, "svg")


@pytest.mark.skipif(not can_draw(), reason="needs the extra `plot`")
def test_a_drawing_is_the_same_twice_and_holds_every_line() -> None:
    svg = drawn(PICTURE, "svg")
    assert svg == drawn(PICTURE, "svg")
    assert svg.startswith(b"<?xml")
    for words in (b"training", b"validation", b"falls by 1 %", b"$x_$"):
        assert words in svg
    assert drawn(PICTURE, "png").startswith(b"\x89PNG")
