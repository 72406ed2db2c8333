"""Jobs on the page: in the order of submission, each with a block that is ready."""

import re
from dataclasses import replace

import yaml
from budget_page import rows_of, section_of
from small_budget_plan import FORMAL_JOB, PLAN, SHOULD_HAVE_JOB, SMOKE_JOB

APART = {"invocation", "walltime_margin_percent"}


def test_jobs_stand_smoke_first_then_by_priority() -> None:
    rows = rows_of(section_of("submission-order", PLAN), "No.")
    assert rows[1:] == [
        ["1", "`base-smoke`", "smoke", "1 × `A100-SXM-80GB`", "`00:30:00`", "16", "0.41"],
        ["2", "`base`", "required", "8 × `A100-SXM-80GB`", "`11:00:00`", "4.2", "288"],
        ["3", "`ablation-lr`", "should-have", "8 × `A100-SXM-80GB`", "`01:30:00`", "chain", "30"],
    ]


def test_jobs_of_one_priority_keep_their_order() -> None:
    names = ["z", "a", "m"]
    jobs = tuple(FORMAL_JOB.model_copy(update={"job_name": name}) for name in names)
    rows = rows_of(section_of("submission-order", replace(PLAN, jobs=jobs)), "No.")
    assert [row[1] for row in rows[1:]] == ["`z`", "`a`", "`m`"]


def test_each_job_has_one_block_with_what_is_known_and_its_invocation() -> None:
    text = section_of("submission-order", PLAN)
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    left_out = {"cpus_per_task", "mem", "array", "exp_id"}
    assert blocks == [
        SMOKE_JOB.model_dump(exclude={*APART, "array"}),
        FORMAL_JOB.model_dump(exclude=APART),
        SHOULD_HAVE_JOB.model_dump(exclude={*APART, *left_out}),
    ]
    assert re.findall(r"```text\n(.*?)\n```", text) == [
        SMOKE_JOB.invocation,
        FORMAL_JOB.invocation,
        SHOULD_HAVE_JOB.invocation,
    ]


def test_what_run_experiment_asks_for_stands_even_when_it_is_not_known() -> None:
    plan = replace(PLAN, jobs=(SHOULD_HAVE_JOB,))
    assert "\nconda_env: null\n" in section_of("submission-order", plan)


def test_rows_of_the_matrix_without_a_job_are_named_with_the_reason() -> None:
    assert (
        "\n\nNot submitted. Cut: `deep` (3 seeds), `lion` (1 seed). Open: `no-bias`. "
        "Run already: `narrow`.\n\n"
    ) in section_of("submission-order", PLAN)
    without = section_of("submission-order", replace(PLAN, ablations=None))
    assert "No should-have or optional job is costed yet." in without


def test_an_invocation_cannot_close_the_part_it_stands_in() -> None:
    job = SMOKE_JOB.model_copy(update={"invocation": "<!-- budget:end submission-order -->"})
    text = section_of("submission-order", replace(PLAN, jobs=(job,)))
    assert "\n<! -- budget:end submission-order -->\n" in text
