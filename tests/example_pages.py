"""The example projects, and the pages the tools write for them, as kept under tests/golden.

Each page is what a person would get who answers the tools' questions: which device there is, how
many hours, what an ablation nobody can compute costs, which cheaper alternative is accepted.
"""

import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

from compute_budget_planner.planner import (
    Workspace,
    open_workspace,
    update_memory,
    write_budget,
)
from compute_budget_planner.requests import (
    Decision,
    MemoryRequest,
    VariantInput,
    WriteBudgetRequest,
)

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
GPT2 = "gpt2-ablation"
IMAGENET = "imagenet-lite"

PLAN = WriteBudgetRequest(runs=["gpt2-small-main"], claims=["CLM-003"])
"""What `make plan` asks for."""

ANSWERS = WriteBudgetRequest(
    from_budget=True,
    variants=[VariantInput(name="no-positions", multiplier=1.0, claims=["CLM-002"])],
    decisions=[
        Decision(
            alternative="fewer steps",
            decision="accepted",
            reason="half the tokens show whether the published loss is in reach",
        ),
        Decision(
            alternative="smaller model",
            decision="rejected",
            reason="the published value is one of this size",
        ),
    ],
)
"""What the group of the first example answers when it has read its budget."""

WEEKEND = WriteBudgetRequest(
    facts={"gpu": "RTX-3090", "available_gpu_hours": 62},
    baseline="resnet50",
    variants=[
        VariantInput(
            name="small-images", changes={"image_size": 160}, seeds=2, priority="should-have"
        ),
        VariantInput(name="long", changes={"epochs": 180}, priority="optional"),
    ],
    decisions=[
        Decision(
            alternative="faster hardware",
            decision="rejected",
            reason="there is no other machine",
        )
    ],
)
"""The command in the second example's README.md."""

GOLDEN_PAGES = {
    "gpt2-ablation-budget.md": GPT2,
    "gpt2-ablation-risk-board.md": GPT2,
    "gpt2-ablation-decision-log.md": GPT2,
    "gpt2-ablation-evidence-board.md": GPT2,
    "imagenet-lite-budget.md": IMAGENET,
}
"""Each file under tests/golden, with the example it is made from."""


def copied_example(folder: Path, name: str = GPT2) -> Path:
    """Copy an example into a folder; a budget left there by a person is not copied."""
    budgets = shutil.ignore_patterns("compute-budget.md")
    return Path(shutil.copytree(ROOT / "examples" / name, folder / name, ignore=budgets))


def opened_example(folder: Path, name: str = GPT2, today: date | None = None) -> Workspace:
    """Copy an example and open it, on a given day."""
    workspace = open_workspace(copied_example(folder, name))
    return replace(workspace, today=today) if today else workspace


def example_pages(folder: Path, name: str, today: date | None = None) -> dict[str, str]:
    """Return the pages of one example by their name under tests/golden."""
    workspace = opened_example(folder, name, today)
    root = workspace.project.root
    if name == IMAGENET:
        path = write_budget(workspace, WEEKEND).path
        return {"imagenet-lite-budget.md": (root / path).read_text(encoding="utf-8")}
    path = write_budget(workspace, PLAN).path
    pages = {"gpt2-ablation-budget.md": (root / path).read_text(encoding="utf-8")}
    write_budget(workspace, ANSWERS)
    update_memory(workspace, MemoryRequest())
    for board in ("risk-board.md", "decision-log.md", "evidence-board.md"):
        pages[f"gpt2-ablation-{board}"] = (root / "memory" / board).read_text(encoding="utf-8")
    return pages
