"""A job ready to submit, and the result of `size_smoke`."""

from typing import Literal

from pydantic import Field

from compute_budget_planner.results.base import NextStep, RangeOut, Result, Rounded

SUBMISSION_ORDER = ("smoke", "required", "should-have", "optional")
"""Priorities of jobs in the order they are submitted in."""


class JobBlock(Result):
    """The eight things `run-experiment` asks for, and what the plan knows beside them."""

    environment: str
    command: str
    job_name: str
    gpus: int
    gpu_type: str
    walltime: str = Field(description="HH:MM:SS, margin included, within the limit")
    walltime_margin_percent: Rounded | None = Field(
        description="walltime over expected wall-clock; null where the time limit cuts it"
    )
    cpus_per_task: int | None
    mem: str | None
    conda_env: str | None
    output_dir: str
    array: str | None
    special: str
    task_class: Literal["smoke", "debug", "formal"]
    workload_shape: Literal["single-device", "multi-gpu-native", "independent-targets", "pipeline"]
    priority: Literal["smoke", "required", "should-have", "optional"] = "required"
    expected_gpu_hours: Rounded
    exp_id: str | None
    invocation: str = Field(description="the /run-experiment line")


class SmokeResult(Result):
    """Result of `size_smoke`."""

    summary: str
    run: str
    status: Literal["sized", "incomplete"]
    missing: list[str] = Field(default_factory=list)
    steps: int | None = None
    n_gpus: int | None = None
    data_fraction_percent: Rounded | None = None
    wall_clock_minutes: RangeOut | None = None
    gpu_hours: RangeOut | None = None
    share_of_run_percent: Rounded | None = None
    bound: str = Field(default="", description="the rule that decided the number of steps")
    flags: list[str] = Field(default_factory=list)
    pass_criteria: list[str] = Field(default_factory=list)
    overrides: list[str] = Field(default_factory=list, description="options for the framework")
    expected_step_seconds: RangeOut | None = None
    expected_peak_gib: RangeOut | None = None
    job: JobBlock | None = None
    questions: list[str] = Field(default_factory=list)
    next: list[NextStep] = Field(default_factory=list)
