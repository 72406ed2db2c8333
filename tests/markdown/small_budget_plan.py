"""A made-up plan with every kind of entry: two runs, one of them without numbers."""

from compute_budget_planner.markdown.budget_plan import BudgetPlan, Envelope, Totals
from compute_budget_planner.requests import Decision
from compute_budget_planner.results import (
    AssumptionOut,
    CalibrationOut,
    CheckOut,
    ConflictOut,
    EnvironmentOut,
    EstimateResult,
    FactOut,
    JobBlock,
    LimitOut,
    MemoryOut,
    MemoryTermOut,
    MfuOut,
    OverheadOut,
    ParametersOut,
    PartOut,
    SmokeResult,
    StepsOut,
)
from small_ablations import MATRIX, spread
from small_alternatives import ALTERNATIVES, NO_ALTERNATIVES

GPU = FactOut(value="A100-SXM-80GB", basis="stated", source="tool argument")
SEQ_LEN = FactOut(value=2048, basis="configured", source="configs/base.yaml:7")

BASE = EstimateResult(
    summary="base needs 96 GPU-hours (83.1 to 121) on 8 GPUs, about 12 hours.",
    run="base",
    status="estimated",
    gpu="A100-SXM-80GB",
    n_gpus=8,
    seeds=3,
    steps=StepsOut(
        examples=1_280_000,
        micro_steps=20_000,
        optimizer_steps=10_000,
        tokens=2_621_440_000,
        epochs=2.56,
        rule="max_steps as given",
        notes=["the last batch of an epoch is dropped"],
    ),
    step_seconds=spread(3.7, 4.2, 5.3),
    tokens_per_second=spread(49_500, 62_400, 70_900),
    samples_per_second=spread(24.2, 30.5, 34.6),
    gpu_hours=spread(83.1, 96, 121),
    gpu_hours_all_seeds=spread(249, 288, 363),
    wall_clock_hours=spread(10.4, 12, 15.1),
    breakdown=[
        PartOut(name="matrix products", seconds=3.1, share_percent=73.8),
        PartOut(name="attention", seconds=0.7, share_percent=16.7),
        PartOut(name="gradient all-reduce", seconds=0.4, share_percent=9.52),
    ],
    bottleneck="matrix products",
    overheads=[
        OverheadOut(name="start-up", hours=spread(0.05, 0.1, 0.25), meaning="imports, data, NCCL"),
        OverheadOut(name="checkpoints", hours=spread(0.2, 0.3, 0.6), meaning="20 checkpoints"),
    ],
    memory=MemoryOut(
        verdict="TIGHT",
        peak_gib=spread(66.2, 71.5, 77.9),
        capacity_gib=80,
        terms=[
            MemoryTermOut(name="weights", gib=2.61),
            MemoryTermOut(name="optimizer state", gib=10.4),
            MemoryTermOut(name="activations", gib=53.2),
        ],
        reason="the high end leaves less than 5 % of the memory",
        smallest_fix="activation_checkpointing=selective",
        largest_micro_batch=9,
    ),
    limit=LimitOut(
        time_limit_hours=11,
        fits="no",
        segments=2,
        usable_hours_per_segment=10.6,
        reason="each job saves before its limit",
    ),
    mfu=MfuOut(
        percent=spread(31.5, 39.7, 45.1), convention="6N + 12Lqs, dense peak of 312 TFLOP/s"
    ),
    flops_total=4.23e19,
    parameters=ParametersOut(total=1_400_000_001, active=1_400_000_002, trainable=1_400_000_003),
    cost_usd=spread(166, 192, 242),
    energy_kwh=spread(29.8, 34.5, 43.4),
    calibration=CalibrationOut(runs=["pilot-2k"], factor=1.07, reason="one run on 4 GPUs"),
    facts={
        "gpu": GPU,
        "seq_len": SEQ_LEN,
        "learning_rate": FactOut(value=2e-5, basis="configured", source="configs/base.yaml:12"),
        "glu": FactOut(value=True, basis="reference", source="model-catalogue"),
    },
    conflicts=[
        ConflictOut(
            fact="gpu",
            used=GPU,
            overruled=FactOut(value="V100-32GB", basis="configured", source="jobs/train.sh:4"),
        )
    ],
    assumptions=[
        AssumptionOut(fact="attention", value="sdpa", why="no file says which kernel", spread=1.18)
    ],
    questions=["Is `batch_size` per device or global?"],
    warnings=["the log of the pilot is older than its config"],
    narrow_by="step_seconds of ten steps on the planned GPUs",
    checkpoint_gib=15.7,
)

WITHOUT_NUMBERS = EstimateResult(
    summary="large cannot be estimated yet.",
    run="large",
    status="incomplete",
    missing=["model", "dataset_tokens"],
    facts={"gpu": GPU, "seq_len": SEQ_LEN},
)

SMOKE_JOB = JobBlock(
    environment="ibex",
    command="sbatch jobs/train.sh --max_steps 153",
    job_name="base-smoke",
    gpus=1,
    gpu_type="A100-SXM-80GB",
    walltime="00:30:00",
    walltime_margin_percent=16,
    cpus_per_task=6,
    mem="64G",
    conda_env="train",
    output_dir="outputs/base-smoke/",
    array=None,
    special="",
    task_class="smoke",
    workload_shape="single-device",
    priority="smoke",
    expected_gpu_hours=0.41,
    exp_id="EXP-004",
    invocation=("/run-experiment --env ibex --script jobs/train.sh --name base-smoke --gpus 1"),
)

FORMAL_JOB = SMOKE_JOB.model_copy(
    update={
        "command": "sbatch jobs/train.sh",
        "job_name": "base",
        "gpus": 8,
        "walltime": "11:00:00",
        "walltime_margin_percent": 4.2,
        "output_dir": "outputs/base/",
        "array": "0-2%1",
        "special": "chain of 2 jobs, --resume",
        "task_class": "formal",
        "workload_shape": "multi-gpu-native",
        "priority": "required",
        "expected_gpu_hours": 288,
        "invocation": "/run-experiment --env ibex --script jobs/train.sh --name base --gpus 8",
    }
)

SHOULD_HAVE_JOB = FORMAL_JOB.model_copy(
    update={
        "job_name": "ablation-lr",
        "walltime": "01:30:00",
        "walltime_margin_percent": None,
        "cpus_per_task": None,
        "mem": None,
        "array": None,
        "exp_id": None,
        "conda_env": None,
        "special": "change in the config: learning_rate = 1e-5, 2e-5, 4e-5",
        "priority": "should-have",
        "expected_gpu_hours": 30,
        "invocation": "/run-experiment --env ibex --name ablation-lr --gpus 8",
    }
)

SMOKE = SmokeResult(
    summary="153 steps on one GPU show a falling loss in 24.6 minutes.",
    run="base",
    status="sized",
    steps=153,
    n_gpus=1,
    data_fraction_percent=0.19,
    wall_clock_minutes=spread(20.4, 24.6, 29.9),
    gpu_hours=spread(0.34, 0.41, 0.498),
    share_of_run_percent=0.43,
    bound="at most 30 minutes with start-up",
    flags=["start-up is a fifth of the time"],
    pass_criteria=["first loss near 10.4", "checkpoint saves and resumes"],
    overrides=["--max_steps 153", "--save_steps 76"],
    expected_step_seconds=spread(7.2, 8.4, 10.1),
    expected_peak_gib=spread(70.1, 74.2, 78.8),
    job=SMOKE_JOB,
)

PLAN = BudgetPlan(
    project="tiny-llm",
    generated="2026-11-30",
    tool_version="0.1.0",
    status="draft",
    plan_sources=("jobs/train.sh", "configs/base.yaml"),
    claims=("CLM-001", "CLM-003"),
    estimates=(BASE, WITHOUT_NUMBERS),
    smokes=(SMOKE,),
    jobs=(SHOULD_HAVE_JOB, FORMAL_JOB, SMOKE_JOB),
    totals=Totals(
        main_one_seed=spread(83.1, 96, 121),
        main_all_seeds=spread(249, 288, 363),
        smokes=spread(0.34, 0.41, 0.498),
        required=spread(315, 363, 457),
    ),
    envelope=Envelope(
        available_gpu_hours=430,
        max_gpus=16,
        deadline="2027-01-15",
        environments=(
            EnvironmentOut(
                name="ibex",
                scheduler="slurm",
                time_limit_hours=24,
                max_gpus=12,
                gpu_types=["v100", "a100"],
                source="environments.yaml:3",
            ),
        ),
    ),
    ablations=MATRIX,
    alternatives=(ALTERNATIVES, NO_ALTERNATIVES),
    decisions=(
        Decision(alternative="fewer steps", decision="rejected", reason="the claim is on the end"),
        Decision(alternative="half the seeds", decision="open"),
    ),
    disclosure="8 × A100-SXM-80GB; 288 GPU-hours with 3 seeds.\nCheckpoints of 16.8 GB.",
    checks=(
        CheckOut(name="smoke under 30 minutes", passed=True, reason="29.9 minutes at most"),
        CheckOut(name="run inside the time limit", passed=False, reason="12 of 11 hours"),
        CheckOut(name="every variant has a priority", passed=None, reason="no variants yet"),
    ),
    open_points=("model of `large` is unknown",),
    inputs={"files": ["jobs/train.sh"], "facts": {"gpu": "A100-SXM-80GB", "note": "``` fence"}},
    input_sha256={"jobs/train.sh": "ab" * 32, "configs/base.yaml": "12" * 32},
)
