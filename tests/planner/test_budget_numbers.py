"""The numbers of a budget: those of the result, equal on the page and additive as shown."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.numbers import shown
from compute_budget_planner.planner import estimate_run
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.requests import RunRequest
from compute_budget_planner.results import RangeOut
from written_budget import page_of, prose, written

NAMES = ("bert-mnli", "bert-qnli", "roberta-mnli", "roberta-qnli")
Numbers = Iterator[tuple[str, float]]


def numbers_of(name: str, value: object) -> Numbers:
    match value:
        case bool() | None | str():
            return
        case int() | float():
            yield name, value
        case RangeOut():
            for end in ("low", "expected", "high"):
                yield f"{name}.{end}", getattr(value, end)
        case list():
            for index, item in enumerate(value):
                yield from numbers_of(f"{name}[{index}]", item)
        case _:
            fields = type(value).model_fields if hasattr(type(value), "model_fields") else ()
            for field in fields:
                yield from numbers_of(f"{name}.{field}", getattr(value, field))


def shown_on(page: str) -> set[str]:
    return set(re.findall(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?", page))


@pytest.mark.parametrize("shape", [projects.control_root, projects.plain_repo, projects.two_nodes])
def test_every_number_of_the_result_stands_on_the_page_as_it_is(
    tmp_path: Path, shape: Callable[[Path], Path]
) -> None:
    workspace = open_workspace(shape(tmp_path))
    result = written(workspace, facts={"usd_per_gpu_hour": 1.9})
    page = shown_on(prose(page_of(workspace)))
    missing = []
    for kind, items in (("estimate", result.estimates), ("smoke", result.smokes)):
        for item in items:
            missing += [
                (kind, name, value)
                for name, value in numbers_of("", item)
                if shown(value).rstrip(".") not in page and not name.startswith(".job")
            ]
    for job in result.jobs:
        if shown(job.expected_gpu_hours) not in page:
            missing.append(("job", job.job_name, job.expected_gpu_hours))
    assert result.total_gpu_hours is not None
    missing += [
        ("total", name, value)
        for name, value in numbers_of("", result.total_gpu_hours)
        if shown(value) not in page
    ]
    assert missing == []


def row_of(page: str, head: str) -> list[float]:
    (row,) = [line for line in page.splitlines() if line.startswith(f"| {head}")]
    return [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*\.?\d*", row.split("|")[2])]


def within_rounding(total: float, parts: float) -> bool:
    """Tell whether a sum rounded to three digits is that of the parts as shown."""
    return abs(total - parts) <= 0.005 * parts


def test_totals_are_the_sums_of_what_the_tables_show(tmp_path: Path) -> None:
    workspace = open_workspace(projects.plain_repo(tmp_path))
    result = written(workspace)
    assert [(e.run, e.seeds) for e in result.estimates] == [("medium", 1), ("small", 3)]
    page = prose(page_of(workspace))
    one, everything = row_of(page, "Main runs, one seed"), row_of(page, "Main runs, all seeds")
    smoke, required = row_of(page, "Smoke tests"), row_of(page, "**Required**")
    for index, end in enumerate(("low", "expected", "high")):
        single = [getattr(e.gpu_hours, end) for e in result.estimates]
        seeds = [getattr(e.gpu_hours_all_seeds, end) for e in result.estimates]
        # The other run is so short that it is its own smoke test.
        tests = [getattr(s.gpu_hours, end) for s in result.smokes if s.job is not None]
        assert within_rounding(one[index], sum(single))
        assert within_rounding(everything[index], sum(seeds))
        assert within_rounding(everything[index], single[0] + 3 * single[1])
        assert within_rounding(smoke[index], sum(tests))
        assert within_rounding(required[index], everything[index] + smoke[index])


def test_the_total_of_models_times_data_sets_times_seeds_is_that_of_its_atoms(
    tmp_path: Path,
) -> None:
    workspace = open_workspace(projects.models_by_datasets(tmp_path))
    result = written(workspace)
    atoms = [
        estimate_run(workspace, RunRequest(run=name)).gpu_hours.expected  # type: ignore[union-attr]
        for name in NAMES
    ]
    assert result.total_gpu_hours is not None
    assert within_rounding(result.total_gpu_hours.expected, 3 * sum(atoms))


def test_a_total_with_an_unknown_part_is_unknown(tmp_path: Path) -> None:
    root = projects.plain_repo(tmp_path)
    projects.write_files(root, {"configs/small.yaml": "model: gpt2\n"})
    result = written(open_workspace(root))
    assert [e.status for e in result.estimates] == ["estimated", "incomplete"]
    assert result.total_gpu_hours is None
    assert result.checks[0].passed is None
    assert any(point.startswith("small: ") for point in result.open_points)
