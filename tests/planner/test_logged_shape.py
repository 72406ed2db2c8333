"""A log of the planned model: what it saw of shape, device and memory counts for the plan."""

from pathlib import Path

from compute_budget_planner import planner
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.requests import MeasuredRun, RunRequest
from compute_budget_planner.results import EstimateResult

JOB = """\
#!/bin/bash
#SBATCH --job-name=gpt
#SBATCH --nodes=1
#SBATCH --gres=gpu:a100:8
#SBATCH --output=outputs/gpt-%j.out
torchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py \\
  --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 \\
  --micro-batch-size 4 --global-batch-size 64 --train-iters 50000 --bf16
"""
SHAPE = """\
------------------------ arguments ------------------------
  global_batch_size ............................... 64
  hidden_size ..................................... {width}
  micro_batch_size ................................ 4
  num_layers ...................................... 24
  padded_vocab_size ............................... 50304
  seq_length ...................................... 1024
  world_size ...................................... 8
-------------------- end of arguments ---------------------
using world size: 8, data-parallel size: 8
"""
LINE = (
    " iteration {i}/ 50000 | consumed samples: 1 | elapsed time per iteration (ms): 500.0 | "
    "global batch size: 64 | lm loss: 5.0E+00 |\n"
)
PEAK = (
    "[Rank 0] (after 10 iterations) memory (MB) | max allocated: 30720.0 | max reserved: 35840.0\n"
)


def estimated(root: Path, request: RunRequest, width: int = 1024) -> EstimateResult:
    log = SHAPE.format(width=width) + LINE.format(i=10) + PEAK
    log += "".join(LINE.format(i=i) for i in range(20, 400, 10))
    for path, text in {"jobs/gpt.sh": JOB, "outputs/gpt-1.out": log}.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return planner.estimate_run(open_workspace(root), request)


def test_a_log_of_the_same_model_gives_the_vocabulary_no_file_gives(tmp_path: Path) -> None:
    found = estimated(tmp_path, RunRequest(facts={"gpu": "A100-SXM-80GB"}))
    fact = found.facts["vocab_size"]
    assert (fact.value, fact.basis) == (50_304, "measured")


def test_a_log_of_another_model_says_nothing_about_this_one(tmp_path: Path) -> None:
    found = estimated(tmp_path, RunRequest(facts={"gpu": "A100-SXM-80GB"}), width=512)
    assert found.facts["vocab_size"].basis == "assumed"


def test_a_stated_device_settles_the_ambiguous_one_of_the_logged_job(tmp_path: Path) -> None:
    found = estimated(tmp_path, RunRequest(facts={"gpu": "A100-SXM-80GB"}))
    assert found.calibration is not None
    assert "the same model, device, batch and length" in found.calibration.reason


def test_another_device_than_the_logged_job_may_have_had_is_another(tmp_path: Path) -> None:
    found = estimated(tmp_path, RunRequest(facts={"gpu": "H100-SXM-80GB"}))
    assert found.calibration is not None
    assert "the nearest of another model or device" in found.calibration.reason


def test_a_measured_peak_over_the_predicted_one_is_believed(tmp_path: Path) -> None:
    memory = estimated(tmp_path, RunRequest(facts={"gpu": "A100-SXM-80GB"})).memory
    assert memory is not None
    assert memory.peak_gib is not None
    assert memory.peak_gib.low >= 35.0
    assert memory.reason.startswith("an earlier run of this configuration reached ")


def test_a_log_that_is_found_and_named_counts_once(tmp_path: Path) -> None:
    named = [MeasuredRun(files=["outputs/gpt-1.out"])]
    facts = {"gpu": "A100-SXM-80GB"}
    found = estimated(tmp_path, RunRequest(facts=dict(facts), measured_runs=named))
    assert found.calibration is not None
    assert found.calibration.runs == ["outputs/gpt-1.out"]
