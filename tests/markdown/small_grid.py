"""A made-up grid with every kind of entry: two cells, one of them without a loss."""

from compute_budget_planner.results.grid import (
    CellOut,
    FitOut,
    GridBudgetOut,
    GridResult,
    LawOut,
    MinimumOut,
    ScenarioCellOut,
    ScenarioOut,
    SearchOut,
)
from small_ablations import spread

MIDDLE = CellOut(
    cell="b1-n1",
    role="middle",
    budget_flops=1.25e19,
    n_layers=16,
    d_model=1024,
    n_heads=15,
    params_total=254_053_376,
    params_without_embeddings=201_541_632,
    tokens=6_182_797_312,
    tokens_per_param=24.3,
    optimizer_steps=47_171,
    global_batch_size=128,
    unique_tokens=2_000_000_017,
    epochs=3.09,
    repeated_percent=67.7,
    generator_coverage_percent=40.5,
    effective_tokens=5.91e9,
    training_flops=1.26e19,
    budget_deviation_percent=0.8,
    six_nd_deviation_percent=-5.76,
    flags=["3.09 epochs are worth less than as many fresh tokens"],
    gpu_hours=spread(19.3, 24.3, 31.9),
    wall_clock_hours=spread(4.83, 6.09, 7.97),
    memory_verdict="FITS",
    predicted_loss=spread(2.93, 2.95, 2.97),
    penalty_percent=spread(0.747, 0.806, 0.902),
    inference_flops_per_token=5.39e8,
    gpu_seconds_per_million_read=spread(2.3, 3.84, 8.64),
    gpu_seconds_per_million_written=spread(5.24, 21.6, 173),
    fails_by="It repeats | too often.",
    seen_as="Validation loss rises.",
    then="Add unique tokens.",
)

BARE = MIDDLE.model_copy(
    update={
        "cell": "b2-n1",
        "role": "higher-budget",
        "unique_tokens": None,
        "epochs": None,
        "repeated_percent": None,
        "generator_coverage_percent": None,
        "effective_tokens": None,
        "flags": [],
        "gpu_hours": None,
        "wall_clock_hours": None,
        "memory_verdict": "UNKNOWN",
        "predicted_loss": None,
        "penalty_percent": None,
    }
)

GRID = GridResult(
    summary="2 cells for `base`.",
    run="base",
    status="planned",
    chart="xychart-beta\n    line [3, 2]",
    budgets=[
        GridBudgetOut(
            budget_flops=1.25e19,
            source="as given",
            k=6.37,
            optimum_params=spread(2.47e8, 2.54e8, 2.58e8),
            optimum_tokens_per_param=spread(23.6, 24.4, 25.7),
            note="beyond the fitted range: a place to start",
        ),
        GridBudgetOut(
            budget_flops=5e19,
            source="the trend",
            k=6.31,
            optimum_params=None,
            optimum_tokens_per_param=None,
        ),
    ],
    cells=[MIDDLE, BARE],
    run_first=["b1-n1", "b2-n1"],
    total_gpu_hours=spread(128, 160, 210),
    law=LawOut(
        law="a-law",
        source="A paper",
        params_low=5.7e7,
        params_high=1.62e10,
        tokens_low=8.2e8,
        tokens_high=3.18e11,
    ),
    withheld="the model is larger than any the law was fitted to",
    measured_fit=FitOut(
        minima=[
            MinimumOut(
                budget_flops=1.11e19,
                sizes=4,
                seeds=1,
                status="interior",
                lowest_params=2.01e8,
                best_params=2.42e8,
                best_params_interval=spread(2.3e8, 2.42e8, 2.56e8),
                note="One seed: the minimum may be luck.",
            )
        ],
        params_exponent=0.49,
        params_exponent_interval=spread(0.46, 0.49, 0.53),
        tokens_exponent=0.51,
        tokens_exponent_interval=spread(0.47, 0.51, 0.54),
        noise_percent=0.264,
        note="Two budgets.",
    ),
    scenarios=[
        ScenarioOut(
            scenario="api `x",
            read_tokens=1e12,
            written_tokens=2e11,
            lambda_per_gpu_hour=1.1e-4,
            mu_per_gpu_hour=1.2e-6,
            training_optimum="b1-n1",
            deployment_optimum="b1-n1",
            preferred="",
            deployment_params=6.2e7,
            deployment_tokens=1.09e11,
            saving_percent=68.7,
            reading="They differ.",
        )
    ],
    scenario_cells=[
        ScenarioCellOut(
            scenario="api `x",
            cell="b1-n1",
            training_gpu_hours=spread(19.3, 24.3, 31.9),
            inference_flops=6.47e20,
            inference_gpu_hours=spread(931, 2270, 12000),
            objective=2.96,
        )
    ],
    test_time=[
        SearchOut(
            cell="b1-n1",
            samples=4,
            inference_flops_per_answer_token=2.16e9,
            times_largest_direct=1.95,
            samples_at_equal_cost=2.05,
        )
    ],
    rules=["Compare at equal compute.", "A baseline gets as many trials."],
    must_not_extrapolate=["Loss is not the task."],
    warnings=["Some warning."],
    questions=["How large are the data?"],
)
