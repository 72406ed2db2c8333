"""What is required is never told as if it were all, nor a verdict without its bound."""

import re
from pathlib import Path

import pytest
from compute_budget_planner.requests import FactInput
from matrix_project import SETTLED, matrix_project
from written_budget import page_of, written


def standing(root: Path, hours: float | None, variants: list[dict[str, object]]) -> str:
    """Return what the summary says of the required hours, from the second range on."""
    facts: dict[str, FactInput] = {} if hours is None else {"available_gpu_hours": hours}
    result = written(matrix_project(root), facts=facts, variants=variants)
    found = re.search(r"with the required ablations(.*?)\.(?: |$)", result.summary)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("hours", "said"),
    [(None, ""), (1e6, ", inside the 1,000,000 available"), (1, ", over the 1 available")],
)
def test_costed_hours_stand_against_those_available(
    tmp_path: Path, hours: float | None, said: str
) -> None:
    assert standing(tmp_path, hours, SETTLED) == said


@pytest.mark.parametrize(("hours", "over"), [(1e6, ""), (1, ", over the 1 available")])
def test_a_required_variant_without_a_cost_is_named_as_left_out(
    tmp_path: Path, hours: float, over: str
) -> None:
    variants: list[dict[str, object]] = [{"name": "R5", "priority": "required"}]
    assert standing(tmp_path, hours, variants) == (
        f" but without R5, whose cost is not known{over}"
    )
    totals = page_of(matrix_project(tmp_path)).partition("## Totals")[2]
    assert "Required is more than that: `R5` is in no sum until it is costed" in totals
