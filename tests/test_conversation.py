"""One conversation over MCP, from the first look at a project to its memory, held twice."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from compute_budget_planner.mcp_server import build_server
from conversation_project import write_study
from mcp import Client

CLAIM = "CLM-001"
TOKEN = {"name": "memory-token", "multiplier": 1.1}
"""The row of the plan that no facts can say, as its author costs it."""
ACCEPTED = {
    "alternative": "fewer steps",
    "decision": "accepted",
    "reason": "the curves do not cross after half of the steps",
}
BUDGET = "code/.agent/compute-budget.md"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def snapshot(root: Path) -> dict[str, bytes]:
    """Return every file's bytes by path, the lock of the writer left out."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


class Conversation:
    """An agent that calls tools and keeps what it was told."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        with anyio.fail_after(30):
            result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        return result.structured_content

    async def follow(self, told: dict[str, Any]) -> dict[str, Any]:
        """Make the call a result names as the next one."""
        step = told["next"][0]
        return await self.call(step["tool"], **step["arguments"])


async def held(client: Client) -> dict[str, dict[str, Any]]:
    """Hold the whole conversation once and return what every step said."""
    ask = Conversation(client)
    said: dict[str, dict[str, Any]] = {}
    said["inspect"] = await ask.call("inspect_project")
    (run,) = [run["name"] for run in said["inspect"]["runs"]]
    said["estimate"] = await ask.call("estimate_run", run=run)
    said["smoke"] = await ask.follow(said["estimate"])

    said["matrix"] = await ask.call("cost_ablations")
    # The question is answered with a multiplier, as it asks.
    said["costed"] = await ask.call("cost_ablations", variants=[TOKEN])
    required = said["costed"]["required_gpu_hours"]["expected"]
    should_have = total(said["costed"], "should-have")["expected"]
    available = {"available_gpu_hours": round(required + 0.25 * should_have, 1), "max_gpus": 8}
    said["cut"] = await ask.call("cost_ablations", variants=[TOKEN], facts=available)

    said["alternatives"] = await ask.call("suggest_alternatives", run=run)
    said["written"] = await ask.call(
        "write_budget", facts=available, variants=[TOKEN], claims=[CLAIM]
    )
    said["decided"] = await ask.call("write_budget", from_budget=True, decisions=[ACCEPTED])
    said["dry"] = await ask.follow(said["decided"])
    said["remembered"] = await ask.follow(said["dry"]) if said["dry"]["next"] else said["dry"]
    return said


def total(matrix: dict[str, Any], priority: str) -> dict[str, Any]:
    """Return the GPU-hours of a priority, all seeds."""
    (found,) = [t["gpu_hours"] for t in matrix["totals"] if t["priority"] == priority]
    return found


def variant(matrix: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [v for v in matrix["variants"] if v["variant"] == name]
    return found


def row_of(root: Path, board: str, entry: str) -> list[str]:
    """Return the cells of a board's row."""
    lines = (root / f"memory/{board}.md").read_text(encoding="utf-8").splitlines()
    (row,) = [line for line in lines if line.startswith(f"| {entry} |")]
    return [cell.strip() for cell in row.strip("|").split("|")]


@pytest.fixture(params=["auto", "legacy"])
async def twice(
    request: pytest.FixtureRequest, anyio_backend: str, tmp_path: Path
) -> tuple[Path, list[dict[str, Any]], list[dict[str, bytes]]]:
    """Return a project, what two conversations about it said, and its files before and after."""
    root = write_study(tmp_path / "study")
    files = [snapshot(root)]
    said = []
    async with Client(build_server(root), mode=request.param) as client:
        for _ in range(2):
            said.append(await held(client))
            files.append(snapshot(root))
    return root, said, files


@pytest.mark.anyio
async def test_a_conversation_leads_from_a_look_to_the_memory_and_holding_it_again_changes_nothing(
    twice: tuple[Path, list[dict[str, Any]], list[dict[str, bytes]]],
) -> None:
    root, (said, again), (before, after, once_more) = twice

    # A look: one job, nothing missing.
    assert said["inspect"]["gaps"] == []
    assert said["estimate"]["status"] == "estimated"
    assert said["estimate"]["limit"]["fits"] == "yes"
    assert said["smoke"]["status"] == "sized"
    assert said["smoke"]["share_of_run_percent"] <= 5
    assert said["smoke"]["wall_clock_minutes"]["high"] <= 30

    # The matrix: what cannot be read is asked about, then costed as answered.
    token = variant(said["matrix"], "memory-token")
    assert (token["basis"], token["cost_multiplier"]) == ("open", None)
    assert said["matrix"]["next"][0]["question"] == token["question"]
    token = variant(said["costed"], "memory-token")
    assert (token["basis"], token["cost_multiplier"]) == ("stated", 1.1)
    assert said["costed"]["questions"] == []

    # Hours between required and the rest: all of required stays, some should-have is cut.
    cut = said["cut"]
    assert cut["verdict"] == "fits"
    assert set(cut["minimum_run_set"]) <= set(cut["kept"])
    assert "should-have" in {c["priority"] for c in cut["cut"]}
    assert "required" not in {c["priority"] for c in cut["cut"]}
    should_have = [v["variant"] for v in cut["variants"] if v["priority"] == "should-have"]
    lost = {c["variant"] for c in cut["cut"]}
    assert 0 < len(lost & set(should_have)) < len(should_have)

    # The same numbers in the budget as from every tool before it.
    written, decided = said["written"], said["decided"]
    assert written["estimates"][0]["gpu_hours"] == said["estimate"]["gpu_hours"]
    assert written["smokes"][0]["steps"] == said["smoke"]["steps"]
    for part in ("variants", "totals", "required_gpu_hours", "verdict", "kept", "cut"):
        assert written["ablations"][part] == cut[part], part
    assert [check["passed"] for check in written["checks"]] == [True] * 5
    priorities = [job["priority"] for job in written["jobs"]]
    order = ["smoke", "required", "should-have", "optional"]
    assert priorities == sorted(priorities, key=order.index)
    names = {job["job_name"] for job in written["jobs"]}
    fully_cut = {c["variant"] for c in cut["cut"]} - {k.rpartition(" (")[0] for k in cut["kept"]}
    assert not names & {f"ablation-{name}" for name in fully_cut}

    # The decision is kept by the refresh and put on record.
    fewer = {a["alternative"]: a for a in decided["alternatives"][0]["alternatives"]}["fewer steps"]
    assert (fewer["decision"], fewer["reason"]) == ("accepted", ACCEPTED["reason"])
    told = {a["alternative"]: a for a in said["alternatives"]["alternatives"]}["fewer steps"]
    assert [fewer[part] for part in ("gpu_hours", "changes")] == [
        told[part] for part in ("gpu_hours", "changes")
    ]
    assert said["dry"]["dry_run"] is True
    ids = {b["path"]: b["ids"] for b in said["remembered"]["boards"]}
    # Boards end at RSK-003 and EVD-004, the log at DEC-002; the counters say 9, 4 and 1.
    assert ids == {
        "memory/risk-board.md": ["RSK-010"],
        "memory/decision-log.md": ["DEC-003"],
        "memory/evidence-board.md": ["EVD-005"],
        "memory/project.yaml": [],
    }
    assert said["remembered"]["id_counters"] == {"risk": 10, "evidence": 5, "decision": 3}
    assert "medium" in row_of(root, "risk-board", "RSK-010")  # only the high end exceeds the hours
    for path, entry in (("risk-board", "RSK-010"), ("evidence-board", "EVD-005")):
        assert CLAIM in row_of(root, path, entry)

    # Only the budget, the boards and the counters were written.
    changed = {path for path in after if after[path] != before.get(path)}
    assert changed == {BUDGET, *ids}

    # Everything again: byte for byte the same, decisions kept, ids as they were.
    assert once_more == after
    assert again["written"]["changed"] is False
    assert again["decided"]["changed"] is False
    assert again["written"]["alternatives"] == decided["alternatives"]
    kept = {b["path"]: b["ids"] for b in again["remembered"]["boards"]}
    assert {path: entries for path, entries in kept.items() if entries} == {
        path: entries for path, entries in ids.items() if entries
    }
    for step in ("inspect", "estimate", "smoke", "costed", "cut"):
        assert json.dumps(again[step]) == json.dumps(said[step]), step
