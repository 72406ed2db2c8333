"""No tool opens a socket, starts a process or runs what stands in a project."""

import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.tool_spec import ToolSpec
from compute_budget_planner.tools import TOOLS
from small_project import FACTS, with_budget, write_small_project

ARGUMENTS: dict[str, object] = {
    "facts": FACTS,
    "variants": [{"name": "half", "changes": {"n_layers": 6}}],
    "dry_run": False,
}
"""No files: the known places are searched, so that every trap is met."""

TRAP = "import pathlib\npathlib.Path(__file__).with_name('executed').touch()\nn_layer = 12\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = write_small_project(tmp_path)
    (folder / "configs").mkdir()
    (folder / "configs" / "model.py").write_text(TRAP, encoding="utf-8")
    (folder / "configs" / "base.yaml").write_text(
        "epochs: 3\ntrap: !!python/object/apply:os.system ['touch executed']\n", encoding="utf-8"
    )
    return folder


def forbidden(*_args: Any, **_kwargs: Any) -> None:
    message = "a tool reached for the network or a process"
    raise AssertionError(message)


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
def test_a_tool_works_without_network_and_processes(
    spec: ToolSpec, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner, names in (
        (socket, ("socket", "create_connection", "getaddrinfo")),
        (subprocess, ("Popen", "run", "check_output")),
        (os, ("system", "popen", "fork", "posix_spawn", "execv", "execve")),
    ):
        for name in names:
            monkeypatch.setattr(owner, name, forbidden)
    if spec.name == "update_memory":
        with_budget(project)
    given = {name: ARGUMENTS[name] for name in spec.arguments if name in ARGUMENTS}
    result = spec.run(open_workspace(project), spec.request_model().model_validate(given))
    assert isinstance(result, spec.result_model())
    assert not list(project.rglob("executed"))
