"""The checkout is a Claude Code plugin as well: its manifest names what is there."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from compute_budget_planner import __version__
from compute_budget_planner.cli import main

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
SERVER = MANIFEST["mcpServers"]["budget"]


def test_the_manifest_has_only_known_fields_and_the_package_s_version() -> None:
    assert set(MANIFEST) == {
        "name",
        "version",
        "description",
        "license",
        "keywords",
        "skills",
        "mcpServers",
    }
    assert MANIFEST["version"] == __version__
    assert MANIFEST["license"] == "MIT"


def test_its_skill_folders_hold_a_skill_of_the_plugin_s_name() -> None:
    for folder in MANIFEST["skills"]:
        assert folder.startswith("./")
        text = (ROOT / folder / "SKILL.md").read_text(encoding="utf-8")
        assert yaml.safe_load(text.split("---\n")[1])["name"] == MANIFEST["name"]


def test_its_server_is_the_one_the_skill_names_and_starts_in_the_user_s_project() -> None:
    assert set(MANIFEST["mcpServers"]) == {"budget"}
    assert "`budget` MCP server" in (ROOT / "SKILL.md").read_text(encoding="utf-8")
    arguments = SERVER["args"]
    variables = {name for text in arguments for name in re.findall(r"\$\{(\w+)\}", text)}
    assert variables == {"CLAUDE_PLUGIN_ROOT", "CLAUDE_PROJECT_DIR"}
    assert arguments[arguments.index("--directory") + 1] == "${CLAUDE_PLUGIN_ROOT}"
    assert arguments[arguments.index("--project-root") + 1] == "${CLAUDE_PROJECT_DIR}"
    assert "/" not in "".join(arguments)


def test_its_server_command_is_one_the_command_line_has() -> None:
    words = SERVER["args"][SERVER["args"].index("compute-budget-planner") + 1 :]
    result = CliRunner().invoke(main, [words[0], *words[1:], "--help"])
    assert result.exit_code == 0
    assert "MCP server" in result.output or "over MCP" in result.output


def test_the_skill_passes_the_validator_of_the_agent_skills_specification(tmp_path: Path) -> None:
    pytest.importorskip("skills_ref", reason="the validator is not installed")
    skill = tmp_path / "compute-budget-planner"
    skill.mkdir()
    shutil.copy(ROOT / "SKILL.md", skill)
    for folder in ("references", "memory_templates"):
        shutil.copytree(ROOT / folder, skill / folder)
    command = [sys.executable, "-m", "skills_ref.cli", "validate", str(skill)]
    found = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    assert (found.returncode, found.stdout) == (0, f"Valid skill: {skill}\n")
