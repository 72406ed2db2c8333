"""`check_fairness`: plans, audits, configs and stated sides against the rules."""

from pathlib import Path

import made_up_projects as projects
from click.testing import CliRunner
from compute_budget_planner.cli import main
from compute_budget_planner.diagnosis_request import FairnessRequest
from compute_budget_planner.planner.fairness.judging import check_fairness
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.results.fairness import BreachOut, FairnessResult

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "gpt2-ablation"
AUDIT = (
    "# Baseline Selection Audit: tiny\n\n## Candidate Baseline Pool\n\n"
    "| Candidate | Role | Requirement | Comparison form |\n|---|---|---|---|\n"
    "| RoBERTa | classic-baseline | must-have | rerun |\n"
    "| BigBird | classic-baseline | must-have | rerun |\n"
    "| T5 | classic-baseline | citation-only | quoted |\n\n"
    "## Fairness Ledger\n\n| Baseline | Verdict |\n|---|---|\n"
    "| BigBird | not-directly-comparable |\n\n"
    "## Tuning Budget Ledger\n\n| Method | Trials |\n|---|---|\n"
    "| Ours | 40 |\n| RoBERTa | 0 |\n"
)


def judged(root: Path, **request: object) -> FairnessResult:
    return check_fairness(open_workspace(root), FairnessRequest.model_validate(request))


def breach(result: FairnessResult, name: str) -> BreachOut:
    (found,) = [b for b in result.breaches if b.breach == name]
    return found


def test_a_plan_of_fixed_tokens_is_no_comparison_at_equal_compute() -> None:
    result = judged(EXAMPLE)
    fixed = breach(result, "fixed-steps")
    assert fixed.rule == "equal-compute"
    assert "half-depth" in fixed.sides
    assert fixed.numbers.startswith("38,100 steps each, FLOPs: baseline ")
    one_rate = breach(result, "one-learning-rate")
    assert "lr-2x" not in one_rate.sides
    assert "0.0006" in one_rate.numbers
    assert result.status == "breaches"
    assert "tuning trials" in result.not_checked


def test_an_audit_shows_the_untuned_the_unrecorded_and_the_incomparable(tmp_path: Path) -> None:
    path = "docs/experiments/baseline_selection_audit_2026-11-01_tiny.md"
    projects.write_files(tmp_path, {path: AUDIT})
    result = judged(tmp_path, files=[path])
    assert [(b.breach, b.sides, b.numbers) for b in result.breaches] == [
        ("default-baseline", ["our method", "RoBERTa"], "our method has 40 trials, RoBERTa none"),
        ("trials-unknown", ["BigBird"], "our method has 40 trials, the others none on record"),
        ("not-comparable", ["BigBird"], "verdict of the ledger: not-directly-comparable"),
    ]
    assert [side.side for side in result.sides] == ["our method", "RoBERTa", "BigBird"]
    assert all(b.means and b.mend for b in result.breaches)


def test_configs_of_several_runs_are_sides(tmp_path: Path) -> None:
    result = judged(
        projects.plain_repo(tmp_path), facts={"learning_rate": 3e-4, "dataset": "openwebtext"}
    )
    assert [side.side for side in result.sides] == ["medium", "small"]
    assert [b.breach for b in result.breaches] == [
        "unequal-compute",
        "one-learning-rate",
        "unequal-seeds",
    ]
    assert breach(result, "unequal-seeds").numbers == "seeds: medium 1, small 3"


def test_stated_sides_are_judged_by_what_is_said_of_them(tmp_path: Path) -> None:
    result = judged(
        tmp_path,
        compared_runs=[
            {
                "name": "ours",
                "role": "method",
                "trials": 40,
                "validation_data": "A",
                "facts": {"params_total": 10**8, "learning_rate": 6e-4, "max_steps": 1000},
            },
            {
                "name": "base",
                "role": "baseline",
                "trials": 40,
                "validation_data": "B",
                "facts": {"params_total": 10**9, "learning_rate": 6e-4, "max_steps": 1000},
            },
        ],
        facts={"seq_len": 1024, "global_batch_size": 64},
    )
    assert [b.breach for b in result.breaches] == ["fixed-steps", "validation-data"]
    # 6·N·D (Kaplan et al. 2020): 6 x 1e8 x 1,000 x 64 x 1,024.
    assert "ours 3.93e16, base 3.93e17; up to 10 times" in breach(result, "fixed-steps").numbers


def test_equal_sides_break_nothing_and_what_nobody_said_is_listed(tmp_path: Path) -> None:
    sides = [{"name": n, "role": r, "trials": 8} for n, r in (("a", "method"), ("b", "baseline"))]
    result = judged(tmp_path, compared_runs=sides)
    assert (result.status, result.breaches) == ("fair so far", [])
    assert result.not_checked[:2] == ["training compute", "learning rate and size"]
    assert result.summary.startswith("2 sides compared. No rule is broken by what is known.")


def test_a_random_split_of_grouped_data_is_a_breach_for_all(tmp_path: Path) -> None:
    sides = [{"name": "a"}, {"name": "b"}]
    result = judged(
        tmp_path, compared_runs=sides, validation_split="random", data_depends_on=["groups"]
    )
    assert [(b.breach, b.rule, b.sides) for b in result.breaches] == [
        ("random-split", "split", ["a", "b"])
    ]
    unknown = judged(tmp_path, compared_runs=sides, data_depends_on=["groups"])
    assert (unknown.breaches, len(unknown.warnings)) == ([], 1)


def test_one_side_is_no_comparison(tmp_path: Path) -> None:
    result = judged(tmp_path, compared_runs=[{"name": "a"}])
    assert result.status == "incomplete"
    assert result.questions[0].startswith("What is compared with what?")
    assert len(result.rules) == 8


def test_the_command_line_takes_sides_with_their_roles(tmp_path: Path) -> None:
    run = CliRunner().invoke(
        main,
        [
            "check-fairness",
            f"--project-root={tmp_path}",
            "--compare=ours:role=method,trials=40,params_total=1e8",
            "--compare=base:role=baseline,trials=0",
        ],
    )
    assert run.exit_code == 0
    assert "ours has 40 trials, base none" in run.stdout
    wrong = CliRunner().invoke(main, ["check-fairness", "--compare=ours"])
    assert wrong.exit_code == 2
    assert "NAME:PATH" in wrong.stderr
