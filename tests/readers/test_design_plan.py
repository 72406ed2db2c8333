import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import SourceFile, Variant
from compute_budget_planner.readers.design_plan import READER
from compute_budget_planner.readers.seed_counts import seed_count
from file_facts import problem_texts, reading_of, values
from hypothesis import given
from hypothesis import strategies as st

PATH = "docs/experiments/experiment_plan_2026-01-05_mixup.md"
PLAN = """\
# Experiment Design Plan

Date: 2026-01-05
Project: demo
Mode: ablation
Target claim: CLM-003

## 3. Evidence Standard

- Intended use: main table
- Required repeats/seeds: 3 seeds (42, 43, 44)

## 4. Experimental Unit

- Dataset/split: CIFAR-100 / train
- Model/method: gpt2 with mixup
- Compute: 4x A100-80GB, at most 1,200 GPU-hours
- Environment: cluster

## 6. Run Matrix

| Run ID | Purpose | Change | Fixed controls | Dataset/split | Metric | Seeds | Expected | Output |
|---|---|---|---|---|---|---|---|---|
| R1 | baseline | none | all | CIFAR-100 | acc | 42, 43, 44 | - | o/r1 |
| R2 | ablation | no mixup | all | CIFAR-100 | acc | 0-4 | lower | o/r2 |

| R3 | sensitivity | batch 128 \\| 256 | all | CIFAR-100 | acc | 1 | same | o/r3 |
| R4 | check | lr 0.3 | all | CIFAR-100 | acc | — | same | o/r4 |

## 8. Stop Conditions and Decision Rule

- Stop condition: results are due by 2026-03-01

Status: READY_TO_RUN
"""


def test_the_run_matrix_becomes_variants_with_their_seeds():
    reading = reading_of(READER, PATH, PLAN)
    assert reading.kind == "plan"
    assert reading.variants == (
        Variant("R1", "none", 3, "baseline", f"{PATH}:24", dataset="CIFAR-100", controls="all"),
        Variant("R2", "no mixup", 5, "ablation", f"{PATH}:25", dataset="CIFAR-100", controls="all"),
        Variant(
            "R3",
            "batch 128 | 256",
            1,
            "sensitivity",
            f"{PATH}:27",
            dataset="CIFAR-100",
            controls="all",
        ),
        Variant("R4", "lr 0.3", 3, "check", f"{PATH}:28", dataset="CIFAR-100", controls="all"),
    )
    assert problem_texts(reading) == []


def test_bullets_give_seeds_data_model_hardware_and_ceiling():
    reading = reading_of(READER, PATH, PLAN)
    assert values(reading.facts) == {
        "seeds": 3,
        "dataset": "CIFAR-100",
        "model": "gpt2",
        "available_gpu_hours": 1200,
        "n_gpus": 4,
        "gpu": "A100-80GB",
        "deadline": "2026-03-01",
    }
    assert {f.name: f.source for f in reading.facts}["gpu"] == f"{PATH}:17"


def test_mode_claim_and_status_are_notes():
    assert reading_of(READER, PATH, PLAN).notes == {
        "mode": "ablation",
        "target_claim": "CLM-003",
        "compute": "4x A100-80GB, at most 1,200 GPU-hours",
        "status": "READY_TO_RUN",
    }


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("3", 3),
        ("5 seeds", 5),
        ("42, 43, 44", 3),
        ("{0, 1}", 2),
        ("0-4", 5),
        ("0–9", 10),
        ("3 (42, 43, 44)", 3),
        ("42", 1),
        ("0", 1),
        ("4-0", None),
        ("0-999999", None),
        ("several", None),
        ("", None),
    ],
)
def test_seeds_are_a_count_a_list_or_a_range(text: str, seeds: int | None):
    assert seed_count(text) == seeds


def test_a_factorial_plan_has_one_column_per_factor():
    text = """\
# Experiment Design Plan
## 6. Run Matrix
| Run ID | mixup | ema | Purpose |
|---|---|---|---|
| F1 | off | off | baseline |
| F2 | on | off | main effect |
"""
    assert reading_of(READER, "plan.md", text).variants == (
        Variant("F1", "mixup=off, ema=off", 1, "baseline", "plan.md:5"),
        Variant("F2", "mixup=on, ema=off", 1, "main effect", "plan.md:6"),
    )


def test_a_row_names_its_claims_and_its_data():
    text = PLAN.replace("| baseline | none |", "| tests CLM-002, CLM-ART-001 | none |").replace(
        "| 42, 43, 44 | - |", "| 42, 43, 44 | CLM-002 holds, CLM-003 falls |"
    )
    first = reading_of(READER, PATH, text).variants[0]
    assert first.claims == ("CLM-002", "CLM-ART-001", "CLM-003")
    assert first.dataset == "CIFAR-100"


@pytest.mark.parametrize(
    "header",
    [
        "| Variant | Changed variable | Cost multiplier | Priority |",
        "| 变体 | 变更变量 | 成本倍数 | 优先级 |",
    ],
)
def test_the_short_form_has_multipliers_and_priorities_in_either_language(header: str):
    text = f"""\
## Ablations

{header}
| --- | --- | --- | --- |
| baseline | none | 1× | Required |
| deep | n_layers: 12 -> 24 | ~2x | Should have |
| wide | width | TBD | 可选 |
"""
    reading = reading_of(READER, "ablations.md", text)
    assert reading.variants == (
        Variant("baseline", "none", 1, "", "ablations.md:5", priority="required", multiplier=1.0),
        Variant(
            "deep",
            "n_layers: 12 -> 24",
            1,
            "",
            "ablations.md:6",
            priority="should-have",
            multiplier=2.0,
        ),
        Variant("wide", "width", 1, "", "ablations.md:7", priority="optional"),
    )
    assert problem_texts(reading) == []


def test_a_priority_or_multiplier_that_is_none_is_told():
    text = """\
| Variant | Changed variable | Cost multiplier | GPU-hours | Priority | Claim |
|---|---|---|---|---|---|
| a | x | 0 | 3 | high | CLM-001 |
"""
    reading = reading_of(READER, "a.md", text)
    assert reading.variants == (Variant("a", "x", 1, "", "a.md:3", claims=("CLM-001",)),)
    assert problem_texts(reading) == [
        "a.md:3: `Priority` is 'high'; write required, should-have or optional",
        "a.md:3: `Cost multiplier` is '0'; write a number above 0 such as 1.5×",
    ]


def test_seeds_that_cannot_be_read_are_told_and_the_required_number_holds():
    text = PLAN.replace("0-4", "several")
    reading = reading_of(READER, PATH, text)
    assert reading.variants[1].seeds == 3
    assert problem_texts(reading) == [
        f"{PATH}:25: `Seeds` is 'several'; write a count, a list or a range such as 0-4"
    ]


def test_a_plan_without_runs_says_so():
    reading = reading_of(READER, "plan.md", "# Experiment Design Plan\n\n## 6. Run Matrix\n")
    assert reading.variants == ()
    assert problem_texts(reading) == [
        "plan.md:3: the plan lists no runs; fill in the table under `Run Matrix`"
    ]


def test_other_markdown_is_no_plan():
    for path, text in (("a.md", "# Plan\n"), ("a.txt", PLAN), ("a.md", "")):
        assert not READER.matches(SourceFile(path, text))


PIECES = st.sampled_from(
    [
        "# Experiment Design Plan\n",
        "## 6. Run Matrix\n",
        "| Run ID | Seeds |\n|---|---|\n",
        "| 变体 | 变更变量 | 成本倍数 | 优先级 |\n|---|---|---|---|\n",
        "| a | b | 99999999999 | ? |\n",
        "| a | 9-1 |\n",
        "- Compute: 9 x\n",
        "\n",
        "|",
        "- Required repeats/seeds: 99999999999\n",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=10)), max_size=12).map("".join))
def test_any_text_under_a_plan_s_title_gives_a_reading(text: str):
    file = SourceFile("plan.md", "# Experiment Design Plan\n" + text)
    reading = READER.read(file, load_reference())
    assert all(variant.seeds >= 1 for variant in reading.variants)
