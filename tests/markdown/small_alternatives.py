"""Made-up alternatives, one or two of each group, and a run for which there are none yet."""

from compute_budget_planner.results import AlternativeOut, AlternativesResult
from small_ablations import spread

COMPILE = AlternativeOut(
    alternative="compile the model",
    group="free",
    changes={"compile": True},
    gpu_hours=spread(72.3, 83.5, 105),
    wall_clock_hours=spread(9.04, 10.4, 13.1),
    saving_gpu_hours_percent=13.1,
    saving_wall_clock_percent=13.2,
    saving_cost_percent=13,
    falls=["GPU-hours", "wall-clock", "cost"],
    signal_quality="same result",
    misleading_risk="shapes that vary compile again",
    watch="graph breaks in the log",
    memory_verdict="TIGHT",
    changes_design=False,
    decision="open",
)

FP8 = COMPILE.model_copy(
    update={
        "alternative": "FP8 matmuls",
        "group": "lever",
        "changes": {"precision": "fp8"},
        "saving_cost_percent": None,
        "falls": ["GPU-hours", "wall-clock"],
        "signal_quality": "fair",
        "decision": "accepted",
        "reason": "small-scale comparison passed",
    }
)

FEWER_STEPS = AlternativeOut(
    alternative="fewer steps",
    group="question",
    changes={"max_steps": 5_000, "note": "re-stretched"},
    gpu_hours=spread(42, 48.3, 60.9),
    wall_clock_hours=spread(5.25, 6.04, 7.61),
    saving_gpu_hours_percent=49.7,
    saving_wall_clock_percent=49.6,
    saving_cost_percent=49.5,
    falls=["GPU-hours", "wall-clock", "cost"],
    signal_quality="fair for large differences",
    misleading_risk="a schedule cut short is another schedule",
    watch="whether curves have crossed before the end",
    memory_verdict="TIGHT",
    changes_design=True,
    decision="rejected",
    reason="the claim is on the end",
)

FASTER = AlternativeOut(
    alternative="faster hardware: 2 × H200",
    group="hardware",
    changes={"gpu": "H200", "n_gpus": 2},
    gpu_hours=spread(36.1, 41.7, 52.6),
    wall_clock_hours=spread(18.1, 20.9, 26.3),
    saving_gpu_hours_percent=56.6,
    saving_wall_clock_percent=-74.1,
    saving_cost_percent=12.4,
    falls=["GPU-hours", "cost"],
    signal_quality="same result",
    misleading_risk="GPU-hours on two devices are different units",
    watch="",
    memory_verdict="FITS",
    changes_design=False,
)

ALTERNATIVES = AlternativesResult(
    summary="4 alternatives to `base`.",
    run="base",
    status="estimated",
    gpu_hours=spread(83.1, 96, 121),
    wall_clock_hours=spread(10.4, 12, 15.1),
    alternatives=[COMPILE, FP8, FEWER_STEPS, FASTER],
    not_worth_listing=["8-bit optimizer: saves nothing (96.2 GPU-hours)"],
)

NO_ALTERNATIVES = AlternativesResult(
    summary="No alternatives yet for `large`: model, dataset_tokens missing.",
    run="large",
    status="incomplete",
    missing=["model", "dataset_tokens"],
    questions=["Which model is `large`?"],
)
