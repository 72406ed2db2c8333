"""`cost_ablations`: every row costed or asked about, never guessed; what is required and cut."""

import unicodedata
from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.errors import FactError, RequestError
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.planner import estimate_run
from compute_budget_planner.planner.matrix.cost_neutral import neutral_values
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.requests import RunRequest
from compute_budget_planner.results import AblationsResult, EstimateResult, RangeOut
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matrix_project import (
    PLAN,
    ROWS,
    SETTLED,
    audit_text,
    costed,
    matrix_project,
    plan_text,
    row,
)

BASE = ROWS[:1]
NEUTRAL = "changes no cost: guide, table `cost_neutral`"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return matrix_project(tmp_path, audit=audit_text())


def estimate(workspace: Workspace, **facts: object) -> EstimateResult:
    return estimate_run(workspace, RunRequest.model_validate({"facts": facts}))


def hours(value: RangeOut | None) -> float:
    assert value is not None
    return value.expected


def of_one_row(tmp_path: Path, change: str, **request: object) -> AblationsResult:
    """Cost a plan of the baseline and one row `X` with this change."""
    plan = plan_text((*BASE, ("X", "look", change, "1")))
    return costed(matrix_project(tmp_path, plan), **request)


def finished_log(name: str, job: int = 1) -> dict[str, str]:
    """Return the log of a job that took two hours."""
    return {
        f"code/outputs/logs/{name}/slurm-{job}.out": (
            f"Job ID: {job}\nJob name: {name}\nGPUs: 4\n"
            f"Start: Mon Nov  2 0{job}:00:00 UTC 2026\n"
            f"End: Mon Nov  2 0{job + 2}:00:00 UTC 2026\nExit: 0\n"
        )
    }


# Where rows come from


def test_plan_audit_and_caller_make_one_matrix(workspace: Workspace) -> None:
    result = costed(workspace, variants=SETTLED)
    shown = [
        (v.variant, v.changed_variable, v.priority, v.seeds, v.further_seeds, v.basis, v.rule)
        for v in result.variants
    ]
    assert shown == [
        ("R0", "none", "required", 3, 0, "baseline", "the baseline of all comparisons"),
        ("R1", "seq_len = 512", "required", 5, 2, "re-estimated", "CLM-001 depends on it"),
        (
            "half-depth",
            "n_layers = 6",
            "required",
            3,
            0,
            "re-estimated",
            "the plan lists it under required ablations",
        ),
        (
            "R3",
            "dropout: 0.1 -> 0.2",
            "optional",
            3,
            0,
            "reference",
            f"no claim names it; {NEUTRAL}",
        ),
        (
            "R4",
            "learning_rate ∈ {0.0001, 0.0003, 0.001}",
            "should-have",
            1,
            0,
            "re-estimated",
            "sensitivity: a reviewer may ask",
        ),
        ("R5", "a memory token per layer", "optional", 3, 0, "stated", "no claim names it"),
        ("RoBERTa", "method: RoBERTa", "required", 1, 0, "stated", "baseline audit: must-have"),
        (
            "RoBERTa (tuning)",
            "8 trials before the real run",
            "required",
            1,
            0,
            "stated",
            "baseline audit: must-have",
        ),
        (
            "BigBird",
            "method: BigBird",
            "should-have",
            3,
            0,
            "open",
            "baseline audit: should-have",
        ),
    ]
    assert result.excluded == ["GPT-4 (not-comparable)", "T5 (citation-only)"]
    assert row(result, "R1").source == f"{PLAN}:15"


def test_a_matrix_without_its_baseline_gets_one(tmp_path: Path) -> None:
    workspace = open_workspace(projects.control_root(tmp_path))
    result = costed(workspace, variants=[{"name": "half-depth", "changes": {"n_layers": 6}}])
    assert [(v.variant, v.cost_multiplier, v.source) for v in result.variants] == [
        ("baseline", 1.0, "added: no row is the baseline"),
        ("half-depth", row(result, "half-depth").cost_multiplier, "stated"),
    ]


def test_a_caller_may_name_the_baseline_itself(tmp_path: Path) -> None:
    workspace = open_workspace(projects.control_root(tmp_path))
    result = costed(workspace, variants=[{"name": "baseline", "seeds": 3}])
    assert [(v.variant, v.basis, v.seeds) for v in result.variants] == [("baseline", "baseline", 3)]


def test_a_project_without_a_matrix_is_told_how_to_give_one(tmp_path: Path) -> None:
    workspace = open_workspace(projects.control_root(tmp_path))
    with pytest.raises(RequestError, match=r"there is no ablation matrix.*Pass `variants`"):
        costed(workspace)


def test_the_caller_s_variant_replaces_the_plan_s_row_and_keeps_what_it_does_not_say(
    workspace: Workspace,
) -> None:
    given = {"name": "r1", "changes": {"seq_len": 256}, "priority": "optional", "claims": ["CLM-9"]}
    found = row(costed(workspace, variants=[given]), "R1")
    assert (found.changed_variable, found.seeds, found.priority, found.rule, found.claims) == (
        "seq_len = 256",
        5,
        "optional",
        "as stated",
        ["CLM-001", "CLM-9"],
    )


def test_a_stated_multiplier_wins_over_a_change_that_can_be_read(workspace: Workspace) -> None:
    found = row(
        costed(workspace, variants=[{"name": "half-depth", "multiplier": 0.7}]), "half-depth"
    )
    assert (found.cost_multiplier, found.basis) == (0.7, "stated")


def test_changes_and_a_multiplier_together_are_refused(workspace: Workspace) -> None:
    both = {"name": "R1", "changes": {"seq_len": 256}, "multiplier": 2}
    with pytest.raises(RequestError, match=r"variants\.R1: .*both.*not both"):
        costed(workspace, variants=[both])


def test_a_misspelt_fact_of_a_variant_is_refused_with_its_place(workspace: Workspace) -> None:
    with pytest.raises(FactError, match=r"variants\.X\.changes\.n_layer.*`n_layers`"):
        costed(workspace, variants=[{"name": "X", "changes": {"n_layer": 6}}])


# What a row costs


def test_a_row_costs_what_the_run_costs_with_its_change(workspace: Workspace) -> None:
    result = costed(workspace, variants=SETTLED)
    base, other = estimate(workspace), estimate(workspace, n_layers=6)
    found = row(result, "half-depth")
    assert found.gpu_hours_one_seed == other.gpu_hours
    assert found.wall_clock_hours == other.wall_clock_hours
    assert found.cost_multiplier == pytest.approx(
        hours(other.gpu_hours) / hours(base.gpu_hours), rel=0.01
    )
    assert hours(found.gpu_hours) == pytest.approx(3 * hours(other.gpu_hours), rel=0.01)
    assert row(result, "R0").gpu_hours_one_seed == base.gpu_hours


def test_a_sweep_of_three_points_costs_three_times_and_runs_side_by_side(
    workspace: Workspace,
) -> None:
    result = costed(workspace, variants=SETTLED)
    base, sweep = row(result, "R0"), row(result, "R4")
    assert sweep.cost_multiplier == 3
    assert (sweep.runs_per_seed, sweep.wall_clock_hours) == (3, base.wall_clock_hours)
    assert hours(sweep.gpu_hours) == pytest.approx(3 * hours(base.gpu_hours_one_seed), rel=0.01)


def test_tuning_trials_are_a_row_of_their_own(workspace: Workspace) -> None:
    result = costed(workspace, variants=SETTLED)
    one, tuning = row(result, "RoBERTa"), row(result, "RoBERTa (tuning)")
    assert (one.cost_multiplier, tuning.cost_multiplier, tuning.runs_per_seed) == (0.8, 6.4, 8)
    assert hours(tuning.gpu_hours) == pytest.approx(8 * hours(one.gpu_hours_one_seed), rel=0.01)
    assert "RoBERTa (tuning) (8 trials)" in result.minimum_run_set


def test_a_factor_is_taken_of_the_baseline_s_own_value(tmp_path: Path) -> None:
    result = of_one_row(tmp_path, "half the steps")
    workspace = open_workspace(tmp_path)
    assert row(result, "X").gpu_hours_one_seed == estimate(workspace, max_steps=10_000).gpu_hours


def test_a_factor_on_what_the_baseline_does_not_say_is_asked_about(tmp_path: Path) -> None:
    found = row(of_one_row(tmp_path, "half the depth and twice the experts"), "X")
    assert (found.basis, found.cost_multiplier) == ("open", None)
    assert found.question == (
        "X: the baseline does not say `n_experts`, which this row changes by a factor"
    )


@pytest.mark.parametrize(
    "change",
    [
        "a memory token per layer",
        "our attention instead of theirs",
        "dropout and half depth in the encoder",
        "layerdrop 0.2",
        "warm-up with smaller batch",
        "no cross-attention",
        "-",
    ],
)
def test_a_change_nobody_can_read_is_a_question_and_never_one_times(
    tmp_path: Path, change: str
) -> None:
    result = of_one_row(tmp_path, change)
    found = row(result, "X")
    assert (found.basis, found.cost_multiplier, found.gpu_hours) == ("open", None, None)
    assert found.question.startswith("X: ")
    assert found.question in result.questions
    assert result.next[0].question == found.question
    assert hours(result.all_gpu_hours) == hours(row(result, "R0").gpu_hours)


def test_a_multiplier_of_the_plan_costs_what_cannot_be_read(tmp_path: Path) -> None:
    found = row(of_one_row(tmp_path, "a memory token per layer, 1.5x compute"), "X")
    assert (found.basis, found.cost_multiplier) == ("stated", 1.5)


def test_an_unreadable_required_row_leaves_the_verdict_open(tmp_path: Path) -> None:
    plan = plan_text((*BASE, ("X", "CLM-001", "a memory token", "1")))
    result = costed(matrix_project(tmp_path, plan), facts={"available_gpu_hours": 1000})
    assert (result.verdict, row(result, "X").priority) == ("unknown", "required")
    settled = costed(
        open_workspace(tmp_path),
        facts={"available_gpu_hours": 1000},
        variants=[{"name": "X", "multiplier": 1.1}],
    )
    assert settled.verdict == "fits"


# Changes that cost nothing by the guide


@pytest.mark.parametrize(
    ("change", "values"),
    [
        ("dropout: 0.1 -> 0.2", 1),
        ("no dropout", 1),
        ("weight decay 0.1 → 0.01 and label smoothing 0.1", 1),
        ("warm-up 500 -> 2000 steps", 1),
        ("without gradient clipping", 1),
        ("initialisation: xavier -> kaiming", 1),
        ("seed 43", 1),
        ("loss weight = 0.5", 1),
        ("lr schedule: cosine -> linear", 1),
        ("0.2 dropout", 1),
        ("dropout in {0.0, 0.1, 0.2}", 3),
        ("dropout 0.0, 0.1, 0.2", 3),
        ("weight decay 0.1 or 0.01", 2),
        # Pairs or a grid.
        ("dropout {0, 0.1}, weight decay {0, 0.1}", 0),
        # More, or other, than the name.
        ("dropout and half depth", 0),
        ("layerdrop 0.2", 0),
        ("dropout -> layerdrop", 0),
        ("warm-up with smaller batch", 0),
        ("seed 43; seq_len 512", 0),
        ("5 seeds", 0),
        ("3x schedule", 0),
        ("schedule: stop at half the steps", 0),
        ("no auxiliary loss", 0),
        ("none", 0),
        ("", 0),
    ],
)
def test_the_guide_says_which_changes_cost_nothing(change: str, values: int) -> None:
    assert neutral_values(change, load_reference()) == values


def test_what_costs_nothing_costs_what_the_baseline_costs_per_value(tmp_path: Path) -> None:
    result = of_one_row(tmp_path, "dropout in {0.1, 0.2, 0.3}")
    base, found = row(result, "R0"), row(result, "X")
    assert (found.basis, found.cost_multiplier, found.runs_per_seed) == ("reference", 3, 3)
    assert found.rule.endswith(NEUTRAL)
    assert hours(found.gpu_hours) == pytest.approx(3 * hours(base.gpu_hours_one_seed), rel=0.01)


@given(st.text(max_size=40))
def test_no_text_is_taken_as_costless_without_a_name_of_the_guide(text: str) -> None:
    reference = load_reference()
    if neutral_values(text, reference):
        plain = unicodedata.normalize("NFKC", text).lower()
        rows = reference.rows("cost_neutral").values()
        known = [name for r in rows for name in (r.required("name"), *r.words("aliases"))]
        assert any(name.split()[0].split("-")[0] in plain for name in known)


# What has run already


def test_what_the_evidence_board_calls_done_is_not_costed_again(workspace: Workspace) -> None:
    board = (
        "# Evidence Board\n\n## Experiment Families\n\n"
        "| ID | Status | Hypothesis | Branch/worktree | Run IDs | Metrics | Decision | Updated |\n"
        "|---|---|---|---|---|---|---|---|\n"
        "| EXP-001 | completed | - | - | half-depth | loss | - | 2026-10-01 |\n"
        "| EXP-002 | running | - | - | R1 | loss | - | 2026-10-01 |\n"
    )
    projects.write_files(workspace.project.root, {"memory/evidence-board.md": board})
    result = costed(workspace, variants=SETTLED)
    done = row(result, "half-depth")
    assert (done.basis, done.gpu_hours, done.rule) == (
        "exists",
        RangeOut(low=0, expected=0, high=0),
        "has run already (EXP-001, memory/evidence-board.md:7)",
    )
    assert row(result, "R1").basis == "re-estimated"
    assert not any(name.startswith("half-depth") for name in result.minimum_run_set)


def test_seeds_that_have_run_are_not_costed_again_and_the_others_are(workspace: Workspace) -> None:
    job = (workspace.project.root / "code/jobs/gpt2-main.sh").read_text(encoding="utf-8")
    projects.write_files(
        workspace.project.root,
        {
            "code/jobs/ablation-half-depth.sh": job.replace("gpt2-main", "ablation-half-depth"),
            **finished_log("ablation-half-depth"),
        },
    )
    result = costed(workspace, variants=SETTLED)
    found = row(result, "half-depth")
    assert (result.baseline, found.seeds, found.basis) == ("gpt2-main", 2, "re-estimated")
    assert found.rule == (
        "the plan lists it under required ablations; 1 of 3 seeds have run "
        "(code/outputs/logs/ablation-half-depth/slurm-1.out)"
    )
    assert hours(found.gpu_hours) == pytest.approx(2 * hours(found.gpu_hours_one_seed), rel=0.01)


# Baseline and main runs


def test_several_runs_that_could_be_the_baseline_are_refused(tmp_path: Path) -> None:
    workspace = open_workspace(projects.plain_repo(tmp_path))
    variants = [{"name": "half-depth", "changes": {"n_layers": 6}}]
    with pytest.raises(RequestError, match=r"baseline: .*`medium`, `small`.*Name the run"):
        costed(workspace, variants=variants)
    assert costed(workspace, variants=variants, baseline="small").baseline == "small"


def test_jobs_of_variants_are_neither_baseline_nor_main_runs(workspace: Workspace) -> None:
    before = costed(workspace, variants=SETTLED)
    job = (workspace.project.root / "code/jobs/gpt2-main.sh").read_text(encoding="utf-8")
    jobs = {
        f"code/jobs/{name}.sh": job.replace("gpt2-main", name)
        for name in ("ablation-R1", "half-depth", "ablation-R5")
    }
    projects.write_files(workspace.project.root, jobs)
    assert costed(workspace, variants=SETTLED) == before


def test_other_main_runs_count_as_required_with_all_their_seeds(tmp_path: Path) -> None:
    workspace = open_workspace(projects.plain_repo(tmp_path))
    variants = [{"name": "half-depth", "changes": {"n_layers": 6}, "priority": "optional"}]
    result = costed(workspace, variants=variants, baseline="medium")
    small = estimate_run(workspace, RunRequest(run="small"))
    assert [(m.run, m.seeds, m.gpu_hours) for m in result.main_runs] == [
        ("small", 3, small.gpu_hours_all_seeds)
    ]
    matrix = {t.priority: t.gpu_hours.expected for t in result.totals}
    assert hours(result.required_gpu_hours) == pytest.approx(
        matrix["required"] + hours(small.gpu_hours_all_seeds), rel=0.01
    )
    assert result.minimum_run_set == ["small (3 seeds)", "baseline (1 seed)"]


def test_a_baseline_that_is_a_main_run_has_all_of_its_seeds(tmp_path: Path) -> None:
    workspace = open_workspace(projects.plain_repo(tmp_path))
    variants = [{"name": "half-depth", "changes": {"n_layers": 6}}]
    result = costed(workspace, variants=variants, baseline="small", required_seeds=1)
    assert [(v.variant, v.seeds, v.further_seeds) for v in result.variants] == [
        ("baseline", 3, 0),
        ("half-depth", 1, 0),
    ]


def test_without_a_plan_s_number_variants_take_the_seeds_of_their_baseline(tmp_path: Path) -> None:
    workspace = open_workspace(projects.plain_repo(tmp_path))
    half = {"name": "half-depth", "changes": {"n_layers": 6}}
    five = {"name": "half-width", "changes": {"d_model": 384, "n_heads": 6}, "seeds": 5}
    for baseline, seeds in (("small", [3, 3, 5]), ("medium", [1, 1, 5])):
        result = costed(workspace, variants=[half, five], baseline=baseline)
        assert [v.seeds for v in result.variants] == seeds


def test_shared_controls_make_a_baseline_beside_the_main_run(tmp_path: Path) -> None:
    plan = plan_text(ROWS[:2], controls="max_steps 2000")
    workspace = matrix_project(tmp_path, plan)
    result = costed(workspace)
    short, full = estimate(workspace, max_steps=2000), estimate(workspace)
    assert row(result, "R0").gpu_hours_one_seed == short.gpu_hours
    assert [(m.run, m.gpu_hours) for m in result.main_runs] == [("gpt2-main", full.gpu_hours)]


def test_a_baseline_that_cannot_be_estimated_is_named_with_what_is_missing(tmp_path: Path) -> None:
    workspace = open_workspace(projects.lone_config(tmp_path))
    with pytest.raises(RequestError, match=r"cannot be estimated: .*`model`"):
        costed(workspace, variants=[{"name": "x", "multiplier": 2}])


# What is kept and what is cut


def test_totals_state_one_seed_and_all_and_add_up(workspace: Workspace) -> None:
    result = costed(workspace, variants=[*SETTLED, {"name": "BigBird", "multiplier": 1.5}])
    parts = {
        priority: [v for v in result.variants if v.priority == priority]
        for priority in ("required", "should-have", "optional")
    }
    for total in result.totals:
        one = sum(hours(v.gpu_hours_one_seed) for v in parts[total.priority])
        assert total.gpu_hours_one_seed.expected == pytest.approx(one, rel=0.01)
    whole = sum(total.gpu_hours.expected for total in result.totals)
    assert hours(result.all_gpu_hours) == pytest.approx(whole, rel=0.01)
    assert whole == pytest.approx(sum(hours(v.gpu_hours) for v in result.variants), rel=0.01)
    further = 2 * hours(row(result, "R1").gpu_hours_one_seed)
    should_have = sum(hours(v.gpu_hours) for v in parts["should-have"]) + further
    assert result.totals[1].gpu_hours.expected == pytest.approx(should_have, rel=0.01)


def test_hours_between_required_and_the_rest_cut_the_dearest_should_have(
    workspace: Workspace,
) -> None:
    free = costed(workspace, variants=SETTLED)
    enough = hours(free.required_gpu_hours) + free.totals[1].gpu_hours.expected / 2
    result = costed(workspace, variants=SETTLED, facts={"available_gpu_hours": enough})
    assert (result.verdict, result.shortfall_gpu_hours) == ("fits", 0)
    assert [(c.variant, c.priority, c.seeds, c.effect) for c in result.cut] == [
        ("R3", "optional", 3, "no claim names it; say in the paper that it was left out"),
        ("R4", "should-have", 1, "no claim names it; say in the paper that it was left out"),
        ("R5", "optional", 3, "no claim names it; say in the paper that it was left out"),
    ]
    assert "R1 (2 seeds)" in result.kept


def test_a_claim_that_loses_seeds_is_told_apart_from_one_that_loses_its_run(
    workspace: Workspace,
) -> None:
    required = hours(costed(workspace, variants=SETTLED).required_gpu_hours)
    given = [*SETTLED, {"name": "R4", "claims": ["CLM-002"], "priority": "optional"}]
    result = costed(workspace, variants=given, facts={"available_gpu_hours": required + 0.1})
    effects = {c.variant: c.effect for c in result.cut}
    assert effects["R1"] == "CLM-001 rests on fewer seeds"
    assert effects["R4"] == "weakens CLM-002"


def test_required_above_the_hours_stays_and_points_to_alternatives(workspace: Workspace) -> None:
    variants = [*SETTLED, {"name": "BigBird", "multiplier": 1}]
    result = costed(workspace, variants=variants, facts={"available_gpu_hours": 20})
    assert result.verdict == "over"
    assert result.shortfall_gpu_hours == pytest.approx(
        hours(result.required_gpu_hours) - 20, rel=0.01
    )
    assert result.kept == result.minimum_run_set
    assert result.next[0].tool == "suggest_alternatives"


def test_elapsed_time_needs_the_number_of_devices_at_once(workspace: Workspace) -> None:
    assert costed(workspace, variants=SETTLED).elapsed_hours is None
    slow = costed(workspace, variants=SETTLED, facts={"max_gpus": 4})
    fast = costed(workspace, variants=SETTLED, facts={"max_gpus": 16})
    assert slow.elapsed_hours is not None
    assert fast.elapsed_hours is not None
    # Every run takes four devices, so on four of them they run one after the other.
    assert slow.elapsed_hours == pytest.approx(hours(slow.all_gpu_hours) / 4, rel=0.01)
    assert slow.elapsed_hours / 4 <= fast.elapsed_hours <= slow.elapsed_hours


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(available=st.floats(1, 400))
def test_cutting_never_removes_a_required_run(workspace: Workspace, available: float) -> None:
    result = costed(workspace, variants=SETTLED, facts={"available_gpu_hours": available})
    assert set(result.minimum_run_set) <= set(result.kept)
    assert all(c.priority != "required" for c in result.cut)
