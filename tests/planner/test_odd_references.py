"""Paths in a job that no file can have are no files, not errors of the system."""

from pathlib import Path

import pytest
from compute_budget_planner import planner
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.requests import InspectRequest


@pytest.mark.parametrize(
    "named", ["a" * 300 + ".yaml", "a/" * 1500 + "b.yaml", "é" * 140 + ".yaml"]
)
def test_a_config_with_an_impossible_name_is_not_there(tmp_path: Path, named: str) -> None:
    job = tmp_path / "jobs/train.sh"
    job.parent.mkdir()
    job.write_text(f"#!/bin/bash\npython train.py --config {named}\n", encoding="utf-8")
    found = planner.inspect_project(open_workspace(tmp_path), InspectRequest())
    assert [file.path for file in found.files] == ["jobs/train.sh"]
