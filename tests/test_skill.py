"""SKILL.md and the memory templates keep the rules of the skill specification and the suite."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
SKILL = (ROOT / "SKILL.md").read_text(encoding="utf-8")
FRONTMATTER = re.match(r"\A---\n(.*?)\n---\n", SKILL, re.DOTALL)
assert FRONTMATTER is not None
KEYS = yaml.safe_load(FRONTMATTER.group(1))
BODY = SKILL[FRONTMATTER.end() :]

RISK_COLUMNS = (
    "ID, Kind, Status, Severity, Probability, Summary, Threatens, Mitigation, Actions, Certainty, "
    "Updated"
)
EVIDENCE_COLUMNS = (
    "ID, Kind, Status, Summary, Source paths, Supports, Weakens, Traced by, Visualized by, "
    "Certainty, Updated"
)
FAMILY_COLUMNS = "ID, Status, Hypothesis, Branch/worktree, Run IDs, Metrics, Decision, Updated"
FIGURE_COLUMNS = "ID, Kind, Status, Paper location, Shows, Source paths, Traced by, Updated"


def headers(page: str) -> list[str]:
    """Return the header rows of all tables of a page, as comma-separated names."""
    lines = page.splitlines()
    return [
        ", ".join(cell.strip() for cell in line.strip("|").split("|"))
        for line, below in pairwise(lines)
        if line.startswith("|") and re.fullmatch(r"\|[ |:-]+\|", below)
    ]


def tree_paths() -> list[str]:
    """Return the paths the directory tree of SKILL.md shows."""
    block = SKILL.split("<installed-skill-dir>/\n", 1)[1].split("```", 1)[0]
    paths, folder = [], ""
    for line in block.splitlines():
        name = re.sub(r"^[│├└─ ]+", "", line)
        nested = line.startswith("│   ")
        if name.endswith("/") and not nested:
            folder = name
        paths.append(folder + name if nested else name)
    return paths


def test_the_frontmatter_has_only_keys_of_the_agent_skills_specification() -> None:
    assert set(KEYS) == {"name", "description", "license", "allowed-tools"}
    assert KEYS["name"] == "compute-budget-planner"
    assert KEYS["license"] == "MIT"
    assert KEYS["allowed-tools"].split() == ["Read", "Write", "Edit", "Bash", "Glob"]


def test_the_description_is_a_short_routing_rule_with_the_triggers_first() -> None:
    description = KEYS["description"]
    assert len(description) <= 500
    assert not set("<>") & set(description)
    first = description.split(". ")[0]
    for trigger in (
        "GPU hours",
        "budget",
        "smoke-test sizing",
        "how long",
        "allocation",
        "cost of N ablations",
    ):
        assert trigger in first


def test_the_body_stays_within_its_lines_and_tokens() -> None:
    assert len(SKILL.splitlines()) < 500
    # four characters make a token of English prose; tables and code make fewer
    assert len(BODY) / 3.5 < 5_000


def test_the_sections_stand_in_the_order_of_the_suite() -> None:
    order = [
        "# Compute Budget Planner",
        "Use this skill when:",
        "Do not use this skill",
        "Pair this skill with:",
        "## Skill Directory Layout",
        "## Progressive Loading",
        "## Core Principles",
        *(f"## Step {n} — " for n in range(1, 8)),
        "## Memory Writeback",
        "## Final Sanity Check",
    ]
    places = [BODY.index("\n" + heading) for heading in order]
    assert places == sorted(places)
    headings = re.findall(r"^## .*", BODY, re.MULTILINE)
    assert len(headings) == len([o for o in order if o.startswith("## ")])


def test_the_tree_lists_exactly_what_ships() -> None:
    listed = {path for path in tree_paths() if not path.endswith("/")}
    shipped = {"SKILL.md"} | {
        path.relative_to(ROOT).as_posix()
        for folder in ("references", "memory_templates")
        for path in (ROOT / folder).iterdir()
    }
    assert listed == shipped
    assert {path for path in tree_paths() if path.endswith("/")} == {
        "references/",
        "memory_templates/",
        "server/",
    }


def test_every_path_named_in_the_text_exists() -> None:
    named = set(re.findall(r"`((?:references|memory_templates)/[\w.-]+)`", SKILL))
    assert named
    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []


def test_the_pages_the_guide_names_exist() -> None:
    guide = (ROOT / "references" / "estimation-guide.md").read_text(encoding="utf-8")
    pages = set(re.findall(r"`([a-z-]+\.md)`", guide))
    pages -= {"lab-guide.md"}
    assert [page for page in sorted(pages) if not (ROOT / "references" / page).is_file()] == []


@pytest.mark.parametrize("folder", [".", "references", "memory_templates"])
def test_no_page_hard_codes_a_home_or_a_machine_path(folder: str) -> None:
    for page in sorted((ROOT / folder).glob("*.md")):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"~/\.(claude|codex|agents)|/home/|/Users/|/work/|/tmp/", text), page


def test_six_contents_of_the_plan_are_named() -> None:
    step = BODY.split("## Step 6", 1)[1].split("## Memory Writeback", 1)[0]
    items = re.findall(r"^\d\. (.+)$", step, re.MULTILINE)
    assert items == [
        "full-run estimate: GPU-hours and wall-clock",
        "smoke spec: steps, data fraction, expected wall-clock",
        "ablation matrix with priority and cost",
        "cheaper alternatives, accepted or rejected",
        "available resources and whether the plan fits",
        "submission order: smoke → required → should-have → optional",
    ]


def test_each_step_names_a_tool_a_command_and_the_way_by_hand() -> None:
    tools = (
        "inspect_project",
        "estimate_run",
        "size_smoke",
        "cost_ablations",
        "suggest_alternatives",
        "write_budget",
        "plan_grid",
    )
    parts = re.split(r"^## ", BODY, flags=re.MULTILINE)
    steps = [part for part in parts if part.startswith("Step ")]
    for tool, step in zip(tools, steps, strict=True):
        assert f"`{tool}`" in step
        assert f"compute-budget-planner {tool.replace('_', '-')}" in step
        assert "By hand:" in step


def test_tools_are_named_without_a_client_prefix() -> None:
    assert "mcp__" not in SKILL


def test_templates_use_upper_snake_case_placeholders_only() -> None:
    for page in sorted((ROOT / "memory_templates").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"\{\{[A-Z][A-Z0-9_]*\}\}", text)
        rest = re.sub(r"\{\{[A-Z][A-Z0-9_]*\}\}", "", text)
        assert not set("{}") & set(rest), page


def test_board_templates_have_the_columns_of_the_suite() -> None:
    folder = ROOT / "memory_templates"
    assert headers((folder / "risk-board.md").read_text(encoding="utf-8")) == [RISK_COLUMNS]
    assert headers((folder / "evidence-board.md").read_text(encoding="utf-8")) == [
        EVIDENCE_COLUMNS,
        FAMILY_COLUMNS,
        FIGURE_COLUMNS,
    ]
    decision_log = (folder / "decision-log.md").read_text(encoding="utf-8")
    bullets = "Date, Decision, Why, Alternatives considered, Affects, Revisit when, Certainty"
    assert bullets in decision_log
    assert bullets in BODY


def test_the_budget_template_has_every_heading_and_the_ablation_columns_first() -> None:
    template = (ROOT / "memory_templates" / "compute-budget.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", template, re.MULTILINE)
    assert headings == [
        "Full Run Estimate",
        "Smoke Test",
        "Ablation Matrix",
        "Totals",
        "Cheaper Alternatives",
        "Resource Envelope",
        "Submission Order",
        "Assumptions and Sources",
        "Disclosure",
        "Change Log",
        "Final Checks",
    ]
    first_five = "Variant, Changed variable, Cost multiplier, GPU-hours, Priority"
    assert any(header.startswith(first_five + ", ") for header in headers(template))
    assert first_five in headers(SKILL)
    assert re.search(r"```json\n.*\n```\n\Z", template)
