"""A field's name becomes the words and the unit a reader sees."""

import pytest
from compute_budget_planner.markdown.labels import column_of, heading_of, unit_of


@pytest.mark.parametrize(
    ("field", "heading", "unit", "column"),
    [
        ("wall_clock_hours", "Wall clock", "hours", "wall clock (hours)"),
        ("gpu_hours", "GPU-hours", "", "GPU-hours"),
        ("expected_gpu_hours", "Expected GPU-hours", "", "expected GPU-hours"),
        ("gpu_hours_all_seeds", "GPU-hours all seeds", "", "GPU-hours all seeds"),
        ("peak_gib", "Peak", "GiB", "peak (GiB)"),
        ("share_percent", "Share", "%", "share (%)"),
        ("percent", "Percent", "", "percent"),
        ("n_gpus", "Number of GPUs", "", "number of GPUs"),
        ("flops_total", "FLOPs total", "", "FLOPs total"),
        ("tokens_per_second", "Tokens per second", "", "tokens per second"),
        ("hours", "Hours", "", "hours"),
    ],
)
def test_units_stand_once_behind_the_value_or_in_the_head_of_a_column(
    field: str, heading: str, unit: str, column: str
) -> None:
    assert (heading_of(field), unit_of(field), column_of(field)) == (heading, unit, column)
