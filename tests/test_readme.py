"""What README.md shows is what the commands print."""

import re
from pathlib import Path

import pytest
from compute_budget_planner.tools import TOOLS
from readme_blocks import README, ROOT, blocks, copied_example, real_output

TEXT = README.read_text(encoding="utf-8")


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block["command"])
def test_an_output_in_the_readme_is_the_real_one(block: re.Match[str], tmp_path: Path) -> None:
    project = copied_example(tmp_path)
    assert block["output"] == real_output(project, block["command"], block["sections"])


def test_the_first_screen_shows_the_main_job_its_output_and_the_tests() -> None:
    screen = TEXT[: TEXT.index("\n## Install")]
    assert len(screen.splitlines()) <= 55
    assert next(block["command"] for block in blocks()) == "make plan"
    assert "make test" in screen


def test_every_tool_is_named() -> None:
    missing = [tool.name for tool in TOOLS if f"`{tool.name}`" not in TEXT]
    assert missing == []


def test_every_relative_link_leads_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", TEXT)
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_accuracy_it_claims_is_that_of_the_benchmark_page() -> None:
    page = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")
    row = re.search(r"^\| all but those apart \|(.+)\|$", page, re.MULTILINE)
    assert row is not None
    rows, _, _, error, _, _, inside, *_ = (cell.strip() for cell in row[1].split("|"))
    claimed = (
        f"On {int(rows):,} measured speeds of language models, each source left out of what "
        f"predicts it, the median error is {float(error):g} % and {inside} % lie in the range"
    )
    assert claimed in " ".join(TEXT.split())
