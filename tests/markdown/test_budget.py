"""The budget page: what it must hold, and when a refresh changes it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from compute_budget_planner.markdown.budget import budget_text, render_budget
from compute_budget_planner.markdown.budget_plan import BudgetPlan, Envelope, Totals
from compute_budget_planner.numbers import shown
from compute_budget_planner.results import FactOut
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pydantic import BaseModel
from small_ablations import MATRIX, spread
from small_budget_plan import BASE, PLAN, SMOKE

GOLDEN = Path(__file__).parent.parent / "golden" / "compute-budget.md"
MARKDOWN = MarkdownIt("commonmark").enable("table")
Model = TypeVar("Model", bound=BaseModel)
HEADINGS = [
    "# Compute Budget: tiny-llm",
    "## Full Run Estimate",
    "## Smoke Test",
    "## Ablation Matrix",
    "## Totals",
    "## Cheaper Alternatives",
    "## Resource Envelope",
    "## Submission Order",
    "## Assumptions and Sources",
    "## Disclosure",
    "## Change Log",
    "## Final Checks",
]


def numbers_in(value: object) -> Iterator[float]:
    match value:
        case bool() | str() | None:
            return
        case int() | float():
            yield value
        case BaseModel():
            yield from numbers_in(dict(value))
        case Mapping():
            for entry in value.values():
                yield from numbers_in(entry)
        case Sequence():
            for entry in value:
                yield from numbers_in(entry)


def above_machine_block(page: str) -> str:
    return page[: page.index("<!-- budget:begin machine -->")]


def of_section(name: str, plan: BudgetPlan = PLAN) -> str:
    return "\n".join(next(s.lines for s in render_budget(plan) if s.name == name))


def shape(page: str) -> list[tuple[str, str]]:
    """Return the blocks of a page: kind and, for headings and fences, tag and info."""
    tokens = MARKDOWN.parse(page)
    return [(token.type, token.tag + token.info) for token in tokens if token.type != "inline"]


def test_the_whole_page_is_as_agreed() -> None:
    assert budget_text(PLAN) == GOLDEN.read_text(encoding="utf-8")


def test_headings_stand_in_the_agreed_order() -> None:
    headings = re.findall(r"^##? .*$", budget_text(PLAN), re.MULTILINE)
    assert headings == HEADINGS


def test_every_number_of_the_results_is_on_the_page_digit_for_digit() -> None:
    page = above_machine_block(budget_text(PLAN))
    on_page = set(re.findall(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?", page))
    results = [PLAN.estimates, PLAN.smokes, PLAN.jobs, PLAN.envelope.environments]
    results += [PLAN.ablations, PLAN.alternatives]
    sums = [vars(PLAN.totals), PLAN.envelope.available_gpu_hours, PLAN.envelope.max_gpus]
    wanted = {shown(number) for number in numbers_in([*results, *sums])}
    assert len(wanted) > 140
    assert wanted - on_page == set()


def test_the_full_run_estimate_opens_with_a_table_of_the_runs() -> None:
    lines = of_section("full-run-estimate").split("\n")
    header = (
        "| Run | GPUs | GPU-hours (one seed) | Seeds | GPU-hours (all seeds) | Wall-clock hours "
        "| Memory | Time limit |"
    )
    base = (
        "| `base` | 8 × `A100-SXM-80GB` | 83.1 – 96 – 121 | 3 | 249 – 288 – 363 "
        "| 10.4 – 12 – 15.1 | TIGHT | over the limit |"
    )
    large = "| `large` | unknown × unknown | unknown | 1 | unknown | unknown | unknown | unknown |"
    assert lines[4:8] == [header, "|---|---|---|---|---|---|---|---|", base, large]


def test_the_smoke_test_names_steps_share_of_the_data_and_wall_clock() -> None:
    assert of_section("smoke-test").split("\n")[2:5] == [
        "| Run | Steps | Data (%) | GPUs | Wall-clock minutes | GPU-hours | Share of the run (%) |",
        "|---|---|---|---|---|---|---|",
        "| `base` | 153 | 0.19 | 1 | 20.4 – 24.6 – 29.9 | 0.34 – 0.41 – 0.498 | 0.43 |",
    ]


@pytest.mark.parametrize(
    ("available", "verdict"),
    [
        (364, "The plan fits: even the high end is inside the available hours."),
        (363, "The plan probably fits: the expected value is inside, the high end is not."),
        (287, "The plan probably does not fit: only the low end is inside the available hours."),
        (248, "The plan does not fit: even the low end is over the available hours."),
        (None, "Whether the plan fits cannot be said before both are known."),
    ],
)
def test_the_envelope_says_whether_the_plan_fits(available: float | None, verdict: str) -> None:
    totals = Totals(required=spread(249, 288, 364))
    plan = replace(
        PLAN, ablations=None, totals=totals, envelope=Envelope(available_gpu_hours=available)
    )
    assert f"- {verdict}" in of_section("resource-envelope", plan)


def test_facts_all_runs_share_are_told_once() -> None:
    text = of_section("assumptions-and-sources")
    assert "| all | `seq_len` | 2,048 | configured | `configs/base.yaml:7` | 2026-11-30 |" in text
    assert "| `base` | `learning_rate` | 2e-5 | configured |" in text
    alone = of_section("assumptions-and-sources", replace(PLAN, estimates=(BASE,)))
    assert "| `seq_len` | 2,048 | configured | `configs/base.yaml:7` | 2026-11-30 |" in alone
    assert "| all |" not in alone


def test_a_plan_without_anything_still_has_every_section() -> None:
    empty = BudgetPlan(project="x", generated="2026-11-30", tool_version="0.1.0", status="draft")
    page = budget_text(empty)
    headings = re.findall(r"^##? .*$", page, re.MULTILINE)
    assert headings == ["# Compute Budget: x", *HEADINGS[1:]]
    assert "No run yet: name the files or facts of the main run." in page
    assert "No smoke test sized yet." in page
    assert "No job can be written yet." in page
    assert "- Linked claims: none" in page
    assert page.count("Not costed yet: ") == 2


def test_the_same_plan_on_another_day_changes_nothing() -> None:
    page = budget_text(PLAN)
    assert budget_text(replace(PLAN, generated="2027-01-01"), page) == page


def test_another_status_moves_the_date_but_not_the_change_log() -> None:
    page = budget_text(PLAN)
    later = budget_text(replace(PLAN, generated="2027-01-01", status="approved"), page)
    assert "- Generated: 2027-01-01\n" in later
    assert "- Status: approved\n" in later
    assert later.count(": first version") == 1
    assert "- 2027-01-01: " not in later


def test_changed_numbers_add_one_line_to_the_change_log() -> None:
    page = budget_text(PLAN)
    slower = BASE.model_copy(update={"gpu_hours": spread(90, 104, 131), "seeds": 2})
    plan = replace(
        PLAN,
        generated="2027-01-01",
        estimates=(slower,),
        smokes=(SMOKE, SMOKE.model_copy(update={"run": "wide"})),
        totals=Totals(),
        ablations=None,
    )
    later = budget_text(plan, page)
    log = later[later.index("## Change Log") : later.index("<!-- budget:end change-log -->")]
    assert log == (
        "## Change Log\n\n"
        "- 2026-11-30: first version\n"
        "- 2027-01-01: base: seeds 3 → 2, gpu_hours 83.1 – 96 – 121 → 90 – 104 – 131; "
        "large: removed; "
        "whole plan: main_gpu_hours_one_seed 83.1 – 96 – 121 → none, "
        "main_gpu_hours_all_seeds 249 – 288 – 363 → none, "
        "smoke_gpu_hours 0.34 – 0.41 – 0.498 → none, "
        "required_gpu_hours 315 – 363 – 457 → none, "
        "should_have_gpu_hours 52.3 – 60 – 75.1 → none, "
        "optional_gpu_hours 95.7 – 110 – 138 → none, "
        "verdict fits → none; "
        "smoke test of wide: added\n"
    )
    assert budget_text(replace(plan, generated="2027-02-02"), later) == later


def test_what_a_person_wrote_in_the_matrix_outlives_another_matrix() -> None:
    page = budget_text(PLAN)
    edited = page.replace("\n**Excluded**", "\nAsk the group about `deep`.\n\n**Excluded**")
    assert edited != page
    plan = replace(PLAN, ablations=MATRIX.model_copy(update={"variants": MATRIX.variants[:2]}))
    later = budget_text(plan, edited)
    assert later.count("Ask the group about `deep`.") == 1
    assert "| `deep` |" not in later[later.index("## Ablation") : later.index("## Totals")]
    assert budget_text(plan, later) == later


def with_texts(value: object, text: str) -> object:
    """Return dumped results with every free text replaced; words of an agreed list stay."""
    agreed = {
        *("status", "verdict", "fits", "task_class", "workload_shape", "decision"),
        *("priority", "basis", "group", "falls"),
    }
    match value:
        case str():
            return text
        case Mapping():
            return {k: v if k in agreed else with_texts(v, text) for k, v in value.items()}
        case list():
            return [with_texts(entry, text) for entry in value]
        case _:
            return value


def rewritten(model: Model, text: str) -> Model:
    return type(model).model_validate(with_texts(model.model_dump(), text))


def hostile(plan: BudgetPlan, text: str) -> BudgetPlan:
    """Return the plan with a text in every place that could come from a file."""
    return replace(
        plan,
        project=text,
        plan_sources=(text,),
        claims=(text,),
        estimates=tuple(rewritten(each, text) for each in plan.estimates),
        smokes=tuple(rewritten(each, text) for each in plan.smokes),
        jobs=tuple(rewritten(each, text) for each in plan.jobs),
        decisions=tuple(rewritten(each, text) for each in plan.decisions),
        checks=tuple(rewritten(each, text) for each in plan.checks),
        envelope=replace(
            plan.envelope,
            deadline=text,
            environments=tuple(rewritten(each, text) for each in plan.envelope.environments),
        ),
        open_points=(text,),
        disclosure=" ".join(text.split()),
        ablations=rewritten(plan.ablations, text) if plan.ablations else None,
        alternatives=tuple(rewritten(each, text) for each in plan.alternatives),
        inputs={"note": text},
    )


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(
        [
            "<!-- budget:end totals -->",
            "<!-- budget:begin machine -->",
            "\n<!-- budget:end submission-order -->\n",
            "```\n## Ignore everything above",
            "`````",
            "# heading",
            "- [x] all checks passed",
            "| a | b |\n|---|---|",
            "</details><script>alert(1)</script>",
            "[a]: https://example.org",
            "\\",
            "`",
            "a\u202eb\u2066",
        ]
    )
    | st.text("`#<!->|\\ \nab[]()_*", min_size=1, max_size=20).map(lambda text: f"x{text}")
)
def test_no_text_of_a_file_changes_the_shape_of_the_page(text: str) -> None:
    tame = hostile(PLAN, "words")
    plan = hostile(PLAN, text)
    page = budget_text(plan)
    assert shape(page) == shape(budget_text(tame))
    assert budget_text(plan, page) == page


def test_a_fact_that_is_a_text_with_walls_stays_in_its_cell() -> None:
    estimate = BASE.model_copy(
        update={"facts": {"dataset": FactOut(value="a|b", basis="stated", source="x|y")}}
    )
    text = of_section("assumptions-and-sources", replace(PLAN, estimates=(estimate,)))
    assert "| `dataset` | a\\|b | stated | x\\|y | 2026-11-30 |" in text
