import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.baseline_audit import READER
from compute_budget_planner.readers.contract import Baseline, SourceFile
from compute_budget_planner.readers.trial_counts import trial_count
from file_facts import problem_texts, reading_of, values
from hypothesis import given
from hypothesis import strategies as st

PATH = "docs/experiments/baseline_selection_audit_2026-01-05_sparse.md"
AUDIT = """\
# Baseline Selection Audit: Sparse attention

## Candidate Baseline Pool

| Candidate | Role | Requirement | Why reviewers expect it | Comparison form | Source/status |
|---|---|---|---|---|---|
| Dense (ours, re-run) | Control Baseline | MUST-HAVE | same size | matched run | code/ |
| Longformer [12] | direct-competitor | must have | nearest | reported numbers | paper |

| BigBird | standard-benchmark-baseline | should_have (appendix) | known | reported | paper |
| GPT-2 (small) | classic-baseline | optional | old | run | hub |
| GPT-2 (medium) | classic-baseline | citation-only | old | cite | hub |
|  |  |  |  |  |  |

## Selected Baseline Set

| Baseline | Main/appendix | Metric/protocol | Fairness constraints | Reviewer question answered |
|---|---|---|---|---|
| Longformer | main | perplexity | same tokens | is it the window? |

## Fairness Ledger

| Baseline | Data | Capacity | Compute | Tuning | Protocol | Metric | Implementation | Verdict |
|---|---|---|---|---|---|---|---|---|
| Longformer | other | same | less | none | other | same | theirs | Needs-Matched-Run |
| BigBird | same | same | same | same | same | same | theirs | fair with caveat |

## Tuning Budget Ledger

| Method | Search space | Trials | Selection metric | Compute budget | Notes |
|---|---|---|---|---|---|
| Ours | lr, window | 3 lr × 4 windows = 12 | val loss | 300 GPU-h | |
| Longformer | lr | 20 trials | val loss | 200 GPU-h | |
| BigBird | lr | — | val loss | — | |

## Excluded or Citation-Only Baselines

| Baseline | Status | Reason | Text/action needed |
|---|---|---|---|
| Reformer | citation-only | slower | cite |
| Perceiver | too different | modality | a sentence |
"""


def test_pool_and_ledgers_give_each_baseline_once():
    reading = reading_of(READER, PATH, AUDIT)
    assert reading.kind == "plan"
    assert reading.baselines == (
        Baseline(
            "Dense (ours, re-run)",
            "control-baseline",
            "must-have",
            "matched run",
            "",
            None,
            "",
            f"{PATH}:7",
        ),
        Baseline(
            "Longformer [12]",
            "direct-competitor",
            "must-have",
            "reported numbers",
            "needs-matched-run",
            20,
            "200 GPU-h",
            f"{PATH}:8",
        ),
        Baseline(
            "BigBird",
            "standard-benchmark-baseline",
            "should-have",
            "reported",
            "fair-with-caveat",
            None,
            "",
            f"{PATH}:10",
        ),
        Baseline(
            "GPT-2 (small)", "classic-baseline", "optional", "run", "", None, "", f"{PATH}:11"
        ),
        Baseline(
            "GPT-2 (medium)",
            "classic-baseline",
            "citation-only",
            "cite",
            "",
            None,
            "",
            f"{PATH}:12",
        ),
        Baseline("Reformer", "", "citation-only", "", "", None, "", f"{PATH}:40"),
        Baseline("Perceiver", "", "not-comparable", "", "", None, "", f"{PATH}:41"),
    )
    assert problem_texts(reading) == []


def test_the_trials_of_the_paper_s_own_method_are_a_fact():
    reading = reading_of(READER, PATH, AUDIT)
    assert values(reading.facts) == {"tuning_trials": 12}
    assert reading.facts[0].source == f"{PATH}:32"


def test_a_method_outside_the_pool_is_kept_and_asked_about():
    text = AUDIT.replace("| BigBird | lr | — |", "| Mamba | lr | 4 × 5 |")
    reading = reading_of(READER, PATH, text)
    assert reading.baselines[5] == Baseline("Mamba", "", "", "", "", 20, "", f"{PATH}:34")
    assert problem_texts(reading) == [
        f"{PATH}:34: `Mamba` is not in the candidate pool; give its requirement there"
    ]


def test_words_that_are_none_of_the_audit_s_are_told_with_the_nearest():
    text = AUDIT.replace("MUST-HAVE", "musthave").replace("| 20 trials |", "| 10-20 |")
    reading = reading_of(READER, PATH, text)
    assert reading.baselines[0].requirement == ""
    assert reading.baselines[1].trials is None
    assert problem_texts(reading) == [
        f"{PATH}:7: `Requirement` is 'musthave'. Did you mean `must-have`?",
        f"{PATH}:33: `Trials` is '10-20'; write a count such as 20, or 4 × 5",
    ]


def test_a_wanted_baseline_listed_as_excluded_stays_and_is_told():
    text = AUDIT.replace("| Reformer | citation-only |", "| BigBird | citation-only |")
    reading = reading_of(READER, PATH, text)
    assert reading.baselines[2].requirement == "should-have"
    assert problem_texts(reading) == [
        f"{PATH}:40: a baseline that the pool calls `should-have` is listed as excluded; it is kept"
    ]


def test_an_audit_without_baselines_says_so():
    reading = reading_of(READER, "audit.md", "# Baseline Selection Audit: X\n")
    assert problem_texts(reading) == [
        "audit.md:1: the audit names no baselines; fill in the table `Candidate Baseline Pool`"
    ]


@pytest.mark.parametrize(
    ("text", "trials"),
    [
        ("20", 20),
        ("20 trials", 20),
        ("1,200", 1200),
        ("4 × 5", 20),
        ("3 lr x 3 wd", 9),
        ("3 lr x 3 wd = 9", 9),
        ("0", 0),
        ("10-20", None),
        ("2.5", None),
        ("10 or 20", None),
        ("many", None),
        ("9999999", None),
        ("", None),
    ],
)
def test_trials_are_a_count_or_a_product(text: str, trials: int | None):
    assert trial_count(text) == trials


def test_other_markdown_is_no_audit():
    for path, text in (("a.md", "# Audit\n"), ("a.txt", AUDIT), ("a.md", "")):
        assert not READER.matches(SourceFile(path, text))


PIECES = st.sampled_from([*AUDIT.splitlines(keepends=True), "|", "| a | b |\n", "\n"])


@given(st.lists(st.one_of(PIECES, st.text(max_size=10)), max_size=14).map("".join))
def test_any_text_under_an_audit_s_title_gives_a_reading(text: str):
    file = SourceFile("audit.md", "# Baseline Selection Audit\n" + text)
    reading = READER.read(file, load_reference())
    assert all(baseline.trials is None or baseline.trials >= 0 for baseline in reading.baselines)
    assert all(baseline.name for baseline in reading.baselines)
