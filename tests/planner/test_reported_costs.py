"""GPU-hours, limits, ablations and costs people got wrong in public threads, with right values.

Where a thread gives measured hours, the run is calibrated on them and must give them back.
"""

from pathlib import Path

import made_up_projects as projects
import pytest
from compute_budget_planner.planner import estimate_run, suggest_alternatives
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.requests import RunRequest
from compute_budget_planner.results import EstimateResult, RangeOut
from matrix_project import costed, row
from written_budget import page_of, prose, written

IMAGES: dict[str, object] = {
    "model": "resnet50",
    "objective": "classification",
    "dataset_examples": 1_281_167,
    "max_steps": 10_000,
    "micro_batch_size": 32,
    "precision": "fp16",
    "gpu": "V100-SXM2-32GB",
}
TOKENS: dict[str, object] = {
    "model": "llama-3.2-1b",
    "max_steps": 1000,
    "seq_len": 2048,
    "micro_batch_size": 4,
    "precision": "bf16",
    "gpu": "A100-SXM-80GB",
    "n_gpus": 8,
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return open_workspace(tmp_path)


def estimated(workspace: Workspace, **facts: object) -> EstimateResult:
    return estimate_run(workspace, RunRequest.model_validate({"facts": facts}))


def measured(workspace: Workspace, hours: float, **facts: object) -> EstimateResult:
    """Estimate a run of as many steps as these hours hold, which has taken them already."""
    planned = {**IMAGES, **facts}
    sample = estimated(workspace, **planned).wall_clock_hours
    assert sample is not None
    steps = round(10_000 * hours / sample.expected)
    earlier = {"facts": {"wall_clock_hours": hours, "steps_done": steps}}
    request = {"facts": {**planned, "max_steps": steps}, "measured_runs": [earlier]}
    return estimate_run(workspace, RunRequest.model_validate(request))


def about(value: RangeOut | None, right: float) -> bool:
    return value is not None and value.expected == pytest.approx(right, rel=0.05)


# GPU-hours, wall-clock and seeds


@pytest.mark.parametrize(
    ("gpu", "n_gpus", "hours", "gpu_hours"),
    [
        # AIoT-MLSys-Lab/DeepAA #6: nine hours on eight V100 are no nine GPU-hours.
        ("V100-SXM2-32GB", 8, 9, 72),
        # rai-opensource/theia #27: 152 GPU-hours are 8 × 19 h.
        ("H100-SXM-80GB", 8, 19, 152),
        # DiT-3D/DiT-3D #21: "training hours" of 32 devices are 32 times as many GPU-hours.
        ("V100-SXM2-32GB", 32, 41, 1312),
        # facebookresearch/detr #283: 32 × 85 h and 64 × 99 h.
        ("V100-SXM2-32GB", 32, 85, 2720),
        ("V100-SXM2-32GB", 64, 99, 6336),
    ],
)
def test_gpu_hours_are_devices_times_hours(
    workspace: Workspace, gpu: str, n_gpus: int, hours: float, gpu_hours: float
) -> None:
    result = measured(workspace, hours, gpu=gpu, n_gpus=n_gpus)
    assert about(result.wall_clock_hours, hours)
    assert about(result.gpu_hours, gpu_hours)


def test_one_seed_and_all_seeds_are_two_numbers_and_both_are_shown(tmp_path: Path) -> None:
    workspace = open_workspace(tmp_path)
    # jurgisp/memory-maze #8: 14 days on one GPU, five seeds.
    dreamer = measured(workspace, 14 * 24, n_gpus=1, seeds=5)
    assert about(dreamer.gpu_hours, 336)
    assert about(dreamer.gpu_hours_all_seeds, 1680)
    # eloialonso/iris #11: "3.5 A100 days" were five seeds, 16.8 hours each.
    iris = measured(workspace, 16.8, n_gpus=1, seeds=5, gpu="A100-SXM-80GB")
    assert about(iris.gpu_hours, 16.8)
    assert about(iris.gpu_hours_all_seeds, 3.5 * 24)
    for result in (dreamer, iris):
        assert result.gpu_hours is not None
        assert result.gpu_hours_all_seeds is not None
        for number in (result.gpu_hours, result.gpu_hours_all_seeds):
            assert f"{number.expected:,g}" in result.summary


def test_hours_are_disclosed_with_their_devices(workspace: Workspace) -> None:
    # taoyang1122/adapt-image-models #23, jafarinia/snuffy #3: hours without type and number.
    result = written(workspace, facts={**TOKENS, "seeds": 3})
    (estimate,) = result.estimates
    assert estimate.gpu_hours is not None
    for part in ("8 × A100-SXM-80GB", "GPU-hours", f"{estimate.gpu_hours.expected:g}"):
        assert part in result.disclosure
    assert result.disclosure.split(".")[0] in prose(page_of(workspace)).replace("`", "")


def test_what_variants_share_is_paid_once(workspace: Workspace) -> None:
    # davidbrandfonbrener/color-filter-olmo #6: 4 h of priors, 110 h of scores and 20 h of
    # training are 134 H100-hours against 45 h × 4 = 180; another threshold adds 20, not 134.
    variants = [
        {"name": "color-filter", "multiplier": 134 / 180},
        {"name": "other-threshold", "multiplier": 20 / 180},
    ]
    facts = {**TOKENS, "gpu": "H100-SXM-80GB", "n_gpus": 4}
    sample = estimated(workspace, **facts).wall_clock_hours
    assert sample is not None
    facts["max_steps"] = round(1000 * 45 / sample.expected)
    measured_run = {"facts": {"wall_clock_hours": 45, "steps_done": facts["max_steps"]}}
    result = costed(workspace, variants=variants, facts=facts, measured_runs=[measured_run])
    for variant, hours in (("baseline", 180), ("color-filter", 134), ("other-threshold", 20)):
        assert about(row(result, variant).gpu_hours, hours)
    assert about(result.all_gpu_hours, 180 + 134 + 20)


# Rates that are something else


def test_a_rate_faster_than_the_device_is_questioned(workspace: Workspace) -> None:
    # mlfoundations/open_lm #262: `samples_per_second_per_gpu` counted tokens.
    tokens = estimated(workspace, **TOKENS, samples_per_second=60_000)
    assert any("does the rate count tokens for samples" in text for text in tokens.questions)
    samples = estimated(workspace, **TOKENS, samples_per_second=60_000 / 2048)
    assert (samples.warnings, samples.calibration is None) == ([], False)


def test_the_number_of_steps_stands_beside_the_hours_that_follow_from_it(
    workspace: Workspace,
) -> None:
    # mihirp1998/VADER #7: 460 h for 10,000 default iterations; the paper's run took 6 to 12 h.
    default = estimated(workspace, **{**TOKENS, "max_steps": 10_000, "grad_accum_steps": 64})
    paper = estimated(workspace, **{**TOKENS, "max_steps": 200, "grad_accum_steps": 64})
    assert default.steps is not None
    assert (default.steps.optimizer_steps, default.steps.rule) == (10_000, "max_steps as given")
    assert default.wall_clock_hours is not None
    assert paper.wall_clock_hours is not None
    share = paper.wall_clock_hours.expected / default.wall_clock_hours.expected
    assert 6 <= 460 * share <= 12


# Limits


def test_a_measured_part_says_how_many_jobs_to_queue(workspace: Workspace) -> None:
    # pnnl/PTMPSI #22: the number of restarts follows from the rate, not from a guess.
    guessed = estimated(workspace, **{**TOKENS, "max_steps": 400_000, "time_limit_hours": 24})
    assert guessed.step_seconds is not None
    known = estimated(
        workspace,
        **{**TOKENS, "max_steps": 400_000, "time_limit_hours": 24},
        step_seconds=guessed.step_seconds.expected,
    )
    assert guessed.limit is not None
    assert known.limit is not None
    assert guessed.limit.segments is not None
    assert known.limit.segments is not None
    assert known.limit.usable_hours_per_segment is not None
    assert known.wall_clock_hours is not None
    assert known.limit.segments <= guessed.limit.segments
    whole = known.limit.segments * known.limit.usable_hours_per_segment
    assert whole >= known.wall_clock_hours.high - known.limit.usable_hours_per_segment * 0.01


def test_the_default_of_an_environment_is_a_limit_too(tmp_path: Path) -> None:
    # espnet/espnet PR #6627: the submit wrapper asked for four hours when nobody did.
    root = projects.control_root(tmp_path)
    job = root / "code/jobs/gpt2-main.sh"
    text = job.read_text(encoding="utf-8").replace("#SBATCH --time=12:00:00\n", "")
    job.write_text(text, encoding="utf-8")
    environments = root / "environments.yaml"
    four_hours = (
        environments.read_text(encoding="utf-8")
        .replace(", max_walltime: '24:00:00'", "")
        .replace("12:00:00", "04:00:00")
    )
    environments.write_text(four_hours, encoding="utf-8")
    result = estimate_run(open_workspace(root), RunRequest())
    assert result.limit is not None
    assert result.limit.time_limit_hours == 4


# What people asked to be told before a run


def test_time_memory_and_a_range_of_costs_are_told_before_a_run(workspace: Workspace) -> None:
    # huggingface/autotrain-advanced PR #32, mosaicml/examples PR #93, MakazhanAlpamys/Soup #13:
    # 200 batches of a 125M model, in money.
    facts = {**TOKENS, "model": "gpt2", "seq_len": 1024, "max_steps": 200, "usd_per_gpu_hour": 2.0}
    result = estimated(workspace, **facts)
    assert result.cost_usd is not None
    assert result.gpu_hours is not None
    assert result.memory is not None
    for end in ("low", "expected", "high"):
        dollars, hours = getattr(result.cost_usd, end), getattr(result.gpu_hours, end)
        assert dollars == pytest.approx(2 * hours, rel=0.01)
    assert result.cost_usd.low < result.cost_usd.expected < result.cost_usd.high < 20
    assert result.memory.verdict == "FITS"


def test_without_a_price_no_cost_is_made_up(workspace: Workspace) -> None:
    # vukrosic/autoresearch-ai #12: null without an hourly price.
    assert estimated(workspace, **TOKENS).cost_usd is None


def test_hours_hold_more_than_the_steps(workspace: Workspace) -> None:
    # ai-dynamo/dynamo PR #13557: GPU-hours of the benchmark alone miss start-up and restarts.
    result = estimated(workspace, **TOKENS)
    assert result.gpu_hours is not None
    assert result.step_seconds is not None
    bare = 1000 * result.step_seconds.expected / 3600 * 8
    assert result.gpu_hours.expected > bare
    assert "start-up" in {overhead.name for overhead in result.overheads}


def test_a_million_steps_are_met_with_fewer_and_with_what_that_may_hide(
    workspace: Workspace,
) -> None:
    # MCG-NJU/DDT #8: how many steps give an ablation a useful signal, on 8 × A100?
    facts: dict[str, object] = {
        "model": "DiT-XL/2",
        "dataset_examples": 1_281_167,
        "max_steps": 1_000_000,
        "micro_batch_size": 32,
        "gpu": "A100-SXM-80GB",
        "n_gpus": 8,
        "precision": "bf16",
    }
    result = suggest_alternatives(workspace, RunRequest.model_validate({"facts": facts}))
    (fewer,) = [a for a in result.alternatives if a.alternative == "fewer steps"]
    assert fewer.changes == {"max_steps": 500_000}
    assert fewer.saving_gpu_hours_percent == pytest.approx(50, abs=1)
    assert (fewer.changes_design, fewer.decision) == (True, "open")
    assert fewer.watch == "whether curves have crossed before the end"


def test_devices_are_ranked_by_what_the_whole_run_costs(workspace: Workspace) -> None:
    # wanshuiyin/Auto-claude-code-research-in-sleep #89: by total cost, not by price per hour.
    facts = {**TOKENS, "gpu": "V100-SXM2-32GB", "precision": "fp16", "micro_batch_size": 2}
    result = suggest_alternatives(workspace, RunRequest.model_validate({"facts": facts}))
    before = estimated(workspace, **facts).gpu_hours
    assert before is not None
    faster = [a for a in result.alternatives if a.group == "hardware"]
    assert [a.changes["gpu"] for a in faster] == ["H100-SXM-80GB", "A100-SXM-80GB"]
    prices = workspace.reference.accelerators
    for a in faster:
        old, new = prices["V100-SXM2-32GB"], prices[str(a.changes["gpu"])]
        cost = a.gpu_hours.expected * (new.usd_per_gpu_hour or 0)
        whole = before.expected * (old.usd_per_gpu_hour or 1)
        assert a.saving_cost_percent == pytest.approx(100 * (1 - cost / whole), abs=0.5)


def test_no_job_of_the_plan_is_quietly_made_smaller(tmp_path: Path) -> None:
    # altaidevorg/isanagent #36: never downgrade the objective; the smoke test alone is small.
    workspace = open_workspace(projects.control_root(tmp_path))
    result = written(workspace, facts={"available_gpu_hours": 0.5})
    formal = [job for job in result.jobs if job.task_class == "formal"]
    assert [(job.gpus, job.gpu_type, job.priority) for job in formal] == [
        (4, "A100-SXM-80GB", "required")
    ]
    assert "--nproc_per_node=4" in formal[0].command
    assert {a.decision for found in result.alternatives for a in found.alternatives} == {"open"}
