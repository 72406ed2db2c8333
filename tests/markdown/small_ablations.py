"""A made-up ablation matrix with every kind of row; its sums can be checked by hand."""

from compute_budget_planner.results import (
    AblationsResult,
    CutOut,
    MainRunOut,
    PriorityTotalOut,
    RangeOut,
    VariantOut,
)


def spread(low: float, expected: float, high: float) -> RangeOut:
    return RangeOut(low=low, expected=expected, high=high)


BASELINE = VariantOut(
    variant="baseline",
    changed_variable="none",
    cost_multiplier=1,
    gpu_hours=spread(26.1, 30, 37.5),
    priority="required",
    seeds=3,
    gpu_hours_one_seed=spread(8.7, 10, 12.5),
    wall_clock_hours=spread(1.09, 1.25, 1.56),
    n_gpus=8,
    rule="the baseline of all comparisons",
    basis="baseline",
    memory_verdict="FITS",
    source="docs/plan.md:21",
)

WIDE = BASELINE.model_copy(
    update={
        "variant": "wide",
        "changed_variable": "d_ff = 12288",
        "cost_multiplier": 1.5,
        "gpu_hours": spread(65.5, 75, 94),
        "seeds": 5,
        "further_seeds": 2,
        "gpu_hours_one_seed": spread(13.1, 15, 18.8),
        "wall_clock_hours": spread(1.64, 1.88, 2.35),
        "claims": ["CLM-001", "CLM-003"],
        "rule": "CLM-001, CLM-003 depends on it",
        "basis": "re-estimated",
        "source": "docs/plan.md:22",
    }
)

LEARNING_RATE = BASELINE.model_copy(
    update={
        "variant": "lr",
        "changed_variable": "learning_rate = 1e-5, 2e-5, 4e-5",
        "cost_multiplier": 3,
        "priority": "should-have",
        "seeds": 1,
        "gpu_hours_one_seed": spread(26.1, 30, 37.5),
        "runs_per_seed": 3,
        "rule": "sensitivity: a reviewer may ask",
        "basis": "re-estimated",
        "source": "docs/plan.md:23",
    }
)

DEEP = BASELINE.model_copy(
    update={
        "variant": "deep",
        "changed_variable": "n_layers = 48",
        "cost_multiplier": 2,
        "gpu_hours": spread(52.2, 60, 75),
        "priority": "optional",
        "gpu_hours_one_seed": spread(17.4, 20, 25),
        "wall_clock_hours": spread(2.18, 2.5, 3.13),
        "claims": ["CLM-003"],
        "rule": "as stated",
        "basis": "re-estimated",
        "memory_verdict": "OOM",
        "source": "docs/plan.md:24",
    }
)

LION = BASELINE.model_copy(
    update={
        "variant": "lion",
        "changed_variable": "method: lion",
        "gpu_hours": spread(8.7, 10, 12.5),
        "priority": "optional",
        "seeds": 1,
        "tuning_trials": 4,
        "rule": "baseline audit: optional",
        "basis": "stated",
        "source": "docs/audit.md:17",
    }
)

LION_TUNING = LION.model_copy(
    update={
        "variant": "lion (tuning)",
        "changed_variable": "4 trials before the real run",
        "cost_multiplier": 4,
        "gpu_hours": spread(34.8, 40, 50),
        "gpu_hours_one_seed": spread(34.8, 40, 50),
        "runs_per_seed": 4,
    }
)

DONE = VariantOut(
    variant="narrow",
    changed_variable="d_model = 512",
    cost_multiplier=None,
    gpu_hours=spread(0, 0, 0),
    priority="required",
    seeds=3,
    gpu_hours_one_seed=spread(0, 0, 0),
    rule="has run already (EXP-002, memory/evidence-board.md:9)",
    basis="exists",
    source="docs/plan.md:25",
)

OPEN = VariantOut(
    variant="no-bias",
    changed_variable="no biases",
    cost_multiplier=None,
    gpu_hours=None,
    priority="optional",
    seeds=3,
    rule="no claim names it",
    basis="open",
    source="docs/plan.md:26",
    question="no-bias: 'no biases' is not a change of facts. Write `fact: old -> new`.",
)

MATRIX = AblationsResult(
    summary="8 rows over the baseline `base`.",
    baseline="base",
    variants=[BASELINE, WIDE, LEARNING_RATE, DEEP, LION, LION_TUNING, DONE, OPEN],
    main_runs=[MainRunOut(run="base", seeds=3, gpu_hours=spread(249, 288, 363))],
    totals=[
        PriorityTotalOut(
            priority="required",
            gpu_hours_one_seed=spread(21.8, 25, 31.3),
            gpu_hours=spread(65.4, 75, 93.9),
        ),
        PriorityTotalOut(
            priority="should-have",
            gpu_hours_one_seed=spread(26.1, 30, 37.5),
            gpu_hours=spread(52.3, 60, 75.1),
        ),
        PriorityTotalOut(
            priority="optional",
            gpu_hours_one_seed=spread(60.9, 70, 87.5),
            gpu_hours=spread(95.7, 110, 138),
        ),
    ],
    required_gpu_hours=spread(314, 363, 457),
    all_gpu_hours=spread(462, 533, 670),
    available_gpu_hours=430,
    verdict="fits",
    shortfall_gpu_hours=0,
    minimum_run_set=["base (3 seeds)", "baseline (3 seeds)", "wide (3 seeds)"],
    kept=["baseline (3 seeds)", "wide (3 seeds)", "wide (2 seeds)", "lr (1 seed)"],
    cut=[
        CutOut(
            variant="deep",
            priority="optional",
            seeds=3,
            gpu_hours=spread(52.2, 60, 75),
            claims=["CLM-003"],
            effect="weakens CLM-003",
        ),
        CutOut(
            variant="lion",
            priority="optional",
            seeds=1,
            gpu_hours=spread(8.7, 10, 12.5),
            claims=[],
            effect="no claim names it; say in the paper that it was left out",
        ),
    ],
    elapsed_hours=37.7,
    max_gpus=16,
    excluded=["gpt-5 (citation-only)"],
    questions=[
        "docs/plan.md:21: `Fixed controls` 'as usual' cannot be read as facts",
        OPEN.question,
    ],
)
