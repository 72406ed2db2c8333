"""The budget page as a whole: which sections, in which order, and when it counts as changed.

The same plan over the same page gives the same bytes: the date moves only when something else
did, and the change log grows only when a headline number did.
"""

from collections.abc import Sequence
from dataclasses import replace

from compute_budget_planner.markdown import budget_sections as pages
from compute_budget_planner.markdown.blocks import Section, section
from compute_budget_planner.markdown.budget_ablations import ablation_matrix
from compute_budget_planner.markdown.budget_alternatives import cheaper_alternatives
from compute_budget_planner.markdown.budget_grid import GRID, compute_optimal_grid
from compute_budget_planner.markdown.budget_history import headline, updated_log
from compute_budget_planner.markdown.budget_jobs import submission_order
from compute_budget_planner.markdown.budget_plan import BudgetPlan
from compute_budget_planner.markdown.budget_runs import full_runs
from compute_budget_planner.markdown.budget_smoke import smoke_tests
from compute_budget_planner.markdown.budget_sources import assumptions_and_sources
from compute_budget_planner.markdown.budget_totals import totals
from compute_budget_planner.markdown.machine_block import (
    MACHINE,
    ChangeEntry,
    MachineBlock,
    line_hashes,
    machine_lines,
)
from compute_budget_planner.markdown.marked_page import BUDGET_NAME, read_machine_block
from compute_budget_planner.markdown.merge import merge


def budget_text(plan: BudgetPlan, existing_text: str = "", path: str = BUDGET_NAME) -> str:
    """Return the page of a plan, refreshed over the page that is there (empty: a new one).

    Raises:
        RequestError, FormatError: the existing page cannot be refreshed; see `merge`.
    """
    previous = read_machine_block(existing_text, path)
    return merge(existing_text, render_budget(plan, previous), path)


def render_budget(plan: BudgetPlan, previous: MachineBlock | None = None) -> tuple[Section, ...]:
    """Return the sections in page order, the machine block last.

    `previous` is the machine block of the page to be refreshed: its change log goes on, and its
    date stays when nothing else has changed.
    """
    had_grid = previous is not None and GRID in previous.section_lines
    if previous is not None:
        undated = replace(plan, generated=previous.generated)
        sections, block = _rendered(undated, previous.change_log, had_grid=had_grid)
        if block.model_dump(mode="json") == previous.model_dump(mode="json"):
            return sections
    log = updated_log(previous, headline(plan), plan.generated)
    return _rendered(plan, log, had_grid=had_grid)[0]


def _rendered(
    plan: BudgetPlan, log: Sequence[ChangeEntry], *, had_grid: bool
) -> tuple[tuple[Section, ...], MachineBlock]:
    sections = (
        pages.title(plan),
        full_runs(plan.estimates),
        smoke_tests(plan.smokes),
        ablation_matrix(plan),
        totals(plan),
        cheaper_alternatives(plan),
        *compute_optimal_grid(plan, was_there=had_grid),
        pages.envelope(plan),
        submission_order(plan),
        assumptions_and_sources(plan),
        pages.disclosure(plan.disclosure),
        pages.change_log(log),
        pages.final_checks(plan),
    )
    block = MachineBlock(
        generated=plan.generated,
        tool_version=plan.tool_version,
        inputs=dict(plan.inputs),
        input_sha256=dict(plan.input_sha256),
        decisions=list(plan.decisions),
        headline=headline(plan),
        change_log=list(log),
        section_lines={s.name: " ".join(line_hashes(s.lines)) for s in sections},
    )
    return (*sections, section(MACHINE, machine_lines(block))), block
