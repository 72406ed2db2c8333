"""The server as clients meet it: both protocol eras, with and without roots, over the wire."""

import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import compute_budget_planner
import pytest
from compute_budget_planner import planner
from compute_budget_planner.errors import FactError
from compute_budget_planner.mcp_server import build_server
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.results import FactOut, FileOut, InspectResult
from compute_budget_planner.shortening import MAX_CHARACTERS
from compute_budget_planner.tool_spec import ToolSpec
from compute_budget_planner.tools import TOOLS, instructions
from mcp import Client
from mcp.types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    CallToolResult,
    ListRootsResult,
    Root,
)
from pydantic import FileUrl
from small_project import FACTS, JOB, with_budget, write_small_project

MODES = ["auto", "legacy", "2026-07-28"]
RUN = {"files": [JOB], "facts": FACTS}
CALLS: dict[str, dict[str, object]] = {
    "inspect_project": {"files": [JOB]},
    "estimate_run": RUN,
    "size_smoke": RUN,
    "cost_ablations": {**RUN, "variants": [{"name": "half", "changes": {"n_layers": 6}}]},
    "suggest_alternatives": RUN,
    "write_budget": {**RUN, "dry_run": True},
    "update_memory": {"claims": ["CLM-001"], "dry_run": True},
    "plan_grid": {**RUN, "budgets_flops": [1e18]},
    "diagnose_run": {"files": [JOB]},
    "check_fairness": {"compared_runs": [{"name": "a", "trials": 8}, {"name": "b", "trials": 2}]},
}
TAKES = "takes a finite number, a text, true, false or null"
LONGEST_PREFIX = "mcp__plugin_compute-budget-planner_budget__"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    folder.mkdir()
    return write_small_project(folder)


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start outside any project, with nothing in the environment that names one."""
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.chdir(outside)
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    monkeypatch.delenv("COMPUTE_BUDGET_PROJECT_ROOT", raising=False)


def fake_inspect(monkeypatch: pytest.MonkeyPatch, act: Callable[[Any, Any], Any]) -> None:
    monkeypatch.setattr(planner, "inspect_project", act)


def inspected(**changes: Any) -> InspectResult:
    parts: dict[str, Any] = {
        "summary": "Nothing.",
        "project": "p",
        "files": [],
        "runs": [],
        "boards": {},
        "envelope": [],
        "gaps": [],
    }
    return InspectResult(**{**parts, **changes})


def root_of(workspace: Any, _request: Any) -> InspectResult:
    return inspected(project=workspace.project.root.name)


def text(result: CallToolResult) -> str:
    block, *pictures = result.content
    assert block.type == "text"
    assert {picture.type for picture in pictures} <= {"image"}
    return block.text


async def call(
    tool: str,
    arguments: dict[str, object],
    *,
    root: Path | None = None,
    mode: str = "auto",
    offered: Path | None = None,
) -> CallToolResult:
    async def roots(_context: Any) -> ListRootsResult:
        assert offered is not None
        return ListRootsResult(roots=[Root(uri=FileUrl(offered.as_uri()))])

    server = build_server(root)
    callback = roots if offered else None
    with anyio.fail_after(20):
        async with Client(server, mode=mode, list_roots_callback=callback) as client:
            return await client.call_tool(tool, arguments)


# What the client is told


@pytest.mark.anyio
@pytest.mark.parametrize("mode", MODES)
async def test_the_tools_are_listed_in_table_order_with_titles_and_hints(mode: str) -> None:
    async with Client(build_server(), mode=mode) as client:
        listed = (await client.list_tools()).tools
    assert [
        (
            tool.name,
            tool.title,
            tool.description,
            tool.annotations.model_dump(exclude_none=True) if tool.annotations else None,
        )
        for tool in listed
    ] == [
        (
            spec.name,
            spec.title,
            spec.description,
            {
                "title": spec.title,
                "read_only_hint": spec.read_only,
                "destructive_hint": spec.destructive,
                "idempotent_hint": spec.idempotent,
                "open_world_hint": False,
            },
        )
        for spec in TOOLS
    ]


@pytest.mark.anyio
async def test_every_schema_is_closed_and_typed() -> None:
    async with Client(build_server()) as client:
        listed = (await client.list_tools()).tools
    for tool in listed:
        schemas = [tool.input_schema, *tool.input_schema.get("$defs", {}).values()]
        assert all(schema["additionalProperties"] is False for schema in schemas), tool.name
        for schema in schemas:
            for name, part in schema["properties"].items():
                assert part.keys() & {"type", "anyOf", "$ref", "enum"}, (tool.name, name)
        assert tool.output_schema is not None
        assert tool.output_schema["additionalProperties"] is False


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
def test_a_tool_fits_every_client(spec: ToolSpec) -> None:
    assert len(LONGEST_PREFIX + spec.name) <= 64
    assert len(spec.description) < 2000
    assert tuple(spec.request_model().model_fields) == spec.arguments
    spec.request_model().model_validate(spec.example)


@pytest.mark.anyio
async def test_the_instructions_hold_a_sentence_of_every_tool_in_two_kilobytes() -> None:
    async with Client(build_server(), mode="legacy") as client:
        told = client.instructions
    assert told == instructions()
    assert len(told.encode()) < 2048
    assert all(f"- {spec.name}: {spec.essence}" in told for spec in TOOLS)


# Results


@pytest.mark.anyio
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
async def test_both_halves_carry_what_the_python_function_returns(
    spec: ToolSpec, mode: str, project: Path
) -> None:
    if spec.name == "update_memory":
        with_budget(project)
    request = spec.request_model().model_validate(CALLS[spec.name])
    expected = spec.run(open_workspace(project), request).model_dump(mode="json")
    result = await call(spec.name, CALLS[spec.name], root=project, mode=mode)
    assert result.structured_content == expected
    assert not result.is_error
    assert " ".join(expected["summary"].split()) in text(result)


@pytest.mark.anyio
async def test_a_large_result_is_cut_in_both_halves_and_says_so(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {"n_gpus": FactOut(value=8, basis="configured", source="a.yaml:1")}
    files = [FileOut(path=f"{n}.yaml", format="yaml", kind="job", facts=facts) for n in range(900)]
    fake_inspect(monkeypatch, lambda _workspace, _request: inspected(files=files))
    result = await call("inspect_project", {}, root=project)
    assert result.structured_content is not None
    shown = len(result.structured_content["files"])
    assert f"files {shown} of 900" in result.structured_content["summary"]
    assert f"files {shown} of 900" in text(result)
    assert len(json.dumps(result.structured_content)) < MAX_CHARACTERS * 1.2
    assert len(text(result)) <= MAX_CHARACTERS


# Errors


@pytest.mark.anyio
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fact": {}}, "estimate_run: `fact` is not an argument. Did you mean `facts`?"),
        (
            {"measured_runs": [{"fils": []}]},
            "estimate_run: `measured_runs.0.fils` is not an argument. Did you mean `files`?",
        ),
        (
            {"facts": {"n_gpus": [8]}, "files": "a.sh"},
            f"estimate_run: `files` takes a list; `facts.n_gpus` {TAKES}",
        ),
        ({"from_budget": "perhaps"}, "estimate_run: `from_budget` takes true or false"),
    ],
)
async def test_a_wrong_argument_is_refused_in_our_own_words(
    arguments: dict[str, object], message: str, mode: str, project: Path
) -> None:
    result = await call("estimate_run", arguments, root=project, mode=mode)
    assert (result.is_error, result.structured_content, text(result)) == (True, None, message)


@pytest.mark.anyio
async def test_an_error_reaches_the_model_with_its_place_and_remedy(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_workspace: Any, _request: Any) -> InspectResult:
        raise FactError("`n_gpus` is 0", where="jobs/train.sh:3", remedy="It takes 1 or more.")

    fake_inspect(monkeypatch, refuse)
    result = await call("inspect_project", {}, root=project)
    assert (result.is_error, text(result)) == (
        True,
        "Error executing tool inspect_project: jobs/train.sh:3: `n_gpus` is 0. It takes 1 or more.",
    )


@pytest.mark.anyio
async def test_a_fault_of_ours_shows_no_path_value_or_traceback(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_workspace: Any, _request: Any) -> InspectResult:
        message = "secret"
        raise RuntimeError(message)

    fake_inspect(monkeypatch, crash)
    told = text(await call("inspect_project", {}, root=project))
    assert "internal error: RuntimeError in test_mcp_server.py:" in told
    assert "please report it" in told
    assert not any(part in told for part in ("secret", "Traceback", str(Path(__file__).parent)))


@pytest.mark.anyio
async def test_a_number_that_is_none_never_leaves(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = FileOut.model_construct(
        path="a",
        format="yaml",
        kind="job",
        facts={"step_seconds": FactOut.model_construct(value=math.nan, basis="x", source="")},
        measured={},
        problems=[],
    )
    fake_inspect(monkeypatch, lambda _workspace, _request: inspected(files=[odd]))
    result = await call("inspect_project", {}, root=project)
    assert (result.is_error, result.structured_content) == (True, None)


# Which project


@pytest.mark.anyio
@pytest.mark.parametrize("mode", MODES)
async def test_the_roots_of_the_client_name_the_project(
    mode: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_inspect(monkeypatch, root_of)
    result = await call("inspect_project", {}, mode=mode, offered=project)
    assert result.structured_content == inspected(project="study").model_dump(mode="json")


@pytest.mark.anyio
@pytest.mark.parametrize("mode", MODES)
async def test_the_flag_wins_over_the_roots_of_the_client(
    mode: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_inspect(monkeypatch, root_of)
    other = tmp_path / "other"
    other.mkdir()
    result = await call("inspect_project", {}, mode=mode, root=project, offered=other)
    assert result.structured_content == inspected(project="study").model_dump(mode="json")


@pytest.mark.anyio
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("variable", ["CLAUDE_PROJECT_DIR", "COMPUTE_BUDGET_PROJECT_ROOT"])
async def test_without_roots_the_environment_names_the_project(
    variable: str, mode: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_inspect(monkeypatch, root_of)
    monkeypatch.setenv(variable, str(project))
    result = await call("inspect_project", {}, mode=mode)
    assert result.structured_content == inspected(project="study").model_dump(mode="json")


@pytest.mark.anyio
@pytest.mark.parametrize("mode", MODES)
async def test_without_any_project_the_error_says_how_to_set_one(mode: str) -> None:
    result = await call("inspect_project", {}, mode=mode)
    assert result.is_error
    assert "--project-root" in text(result)
    assert "COMPUTE_BUDGET_PROJECT_ROOT" in text(result)


# Over the wire


async def exchange(project: Path, *messages: dict[str, Any] | str) -> list[dict[str, Any]]:
    """Send lines to a server process; return its replies once it has ended cleanly.

    As many replies are awaited as there are messages with an id. Nothing else may be on stdout.
    """
    command = [sys.executable, "-m", "compute_budget_planner", "serve"]
    package = Path(compute_budget_planner.__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": str(package)}
    expected = sum(isinstance(message, dict) and "id" in message for message in messages)
    with anyio.fail_after(30):
        async with await anyio.open_process(
            [*command, "--project-root", str(project)], env=environment
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            for message in messages:
                line = message if isinstance(message, str) else json.dumps(message)
                await server.stdin.send(f"{line}\n".encode())
            output = b""
            while output.count(b"\n") < expected:
                output += await server.stdout.receive()
            await server.stdin.aclose()
            async for chunk in server.stdout:
                output += chunk
            assert await server.wait() == 0
    replies = [json.loads(line) for line in output.splitlines()]
    assert len(replies) == expected
    return replies


def initialize(version: str) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("asked", "answered"), [("2024-11-05", "2024-11-05"), ("2099-01-01", "2025-11-25")]
)
async def test_a_handshake_settles_on_a_version_and_garbage_is_ignored(
    asked: str, answered: str, project: Path
) -> None:
    (reply,) = await exchange(project, "this is not JSON", initialize(asked))
    assert reply["result"]["protocolVersion"] == answered
    assert reply["result"]["serverInfo"]["name"] == "budget"


@pytest.mark.anyio
async def test_the_modern_era_needs_no_handshake(project: Path) -> None:
    meta = {
        PROTOCOL_VERSION_META_KEY: "2026-07-28",
        CLIENT_INFO_META_KEY: {"name": "test", "version": "1"},
        CLIENT_CAPABILITIES_META_KEY: {},
    }
    call_tool = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "inspect_project",
            "arguments": CALLS["inspect_project"],
            "_meta": meta,
        },
    }
    (reply,) = await exchange(project, call_tool)
    assert reply["result"]["isError"] is False
    assert reply["result"]["structuredContent"]["summary"]
