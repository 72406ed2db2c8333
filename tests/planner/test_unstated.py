"""What nobody said but the answer rests on is said with the answer."""

from pathlib import Path

from compute_budget_planner import planner
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.requests import FactInput, RunRequest, WriteBudgetRequest
from compute_budget_planner.results import EstimateResult

SEVEN: dict[str, FactInput] = {
    "model": "llama-7b",
    "gpu": "A100-SXM-40GB",
    "n_gpus": 8,
    "seq_len": 2048,
    "micro_batch_size": 4,
    "max_steps": 1000,
    "optimizer": "adamw",
}
TUNED: dict[str, FactInput] = {
    "model": "llama-7b",
    "gpu": "RTX-3090",
    "method": "qlora",
    "seq_len": 512,
    "micro_batch_size": 4,
    "dataset_examples": 52_002,
    "epochs": 3,
}
PADDED = (
    "Are batches padded to all 512 tokens of `seq_len`? Each row is counted with that many; where "
    "a batch is padded to its longest row only, the cost is an upper bound."
)


def estimated(root: Path, facts: dict[str, FactInput]) -> EstimateResult:
    return planner.estimate_run(open_workspace(root), RunRequest(facts=facts))


def test_settings_taken_so_that_a_run_fits_are_named_with_the_verdict(tmp_path: Path) -> None:
    found = estimated(tmp_path, SEVEN)
    told = (
        "only with `sharding` fsdp and `activation_checkpointing` full, which nobody gives: else "
        "it would not fit"
    )
    assert found.memory is not None
    assert found.memory.verdict == "FITS"
    assert found.memory.reason.endswith(told)
    assert told in found.summary
    assert [(a.fact, a.value, a.why) for a in found.assumptions[:2]] == [
        ("sharding", "fsdp", "`ddp` would not fit in memory"),
        ("activation_checkpointing", "full", "`none` would not fit in memory"),
    ]
    assert found.questions == [
        "Will the run use `sharding` fsdp? It is taken because `ddp` would not fit in memory.",
        (
            "Will the run use `activation_checkpointing` full? It is taken because `none` would "
            "not fit in memory."
        ),
    ]


def test_settings_that_are_given_are_not_asked_about(tmp_path: Path) -> None:
    given: dict[str, FactInput] = {"sharding": "fsdp", "activation_checkpointing": "full"}
    found = estimated(tmp_path, {**SEVEN, **given})
    assert found.memory is not None
    assert "nobody gives" not in found.memory.reason
    assert found.questions == []


def test_rows_of_unlike_length_are_said_to_be_counted_in_full(tmp_path: Path) -> None:
    assert PADDED in estimated(tmp_path, TUNED).questions


def test_packed_rows_and_pretraining_have_no_padding_to_ask_about(tmp_path: Path) -> None:
    packed = estimated(tmp_path, {**TUNED, "packing": True, "dataset_tokens": 9_000_000})
    pretrained = estimated(tmp_path, {**TUNED, "method": "pretrain"})
    assert PADDED not in [*packed.questions, *pretrained.questions]


def test_a_budget_without_numbers_says_which_facts_are_missing(tmp_path: Path) -> None:
    config = tmp_path / "configs/exp.yaml"
    config.parent.mkdir()
    config.write_text(
        "model: llama-7b\nnum_gpus: 8\nbatch_size: 4\nseq_len: 2048\n", encoding="utf-8"
    )
    result = planner.write_budget(open_workspace(tmp_path), WriteBudgetRequest(dry_run=True))
    assert result.summary.startswith(
        "Would write `.agent/compute-budget.md` (draft). Not estimated yet: `exp` lacks `gpu`, "
    )


def which_batch(root: Path, facts: dict[str, FactInput]) -> list[str]:
    asked = estimated(root, {"dataset_examples": 1_281_167, "gpu": "A100-SXM-40GB", **facts})
    return [q.partition(": ")[0] for q in asked.questions if "per device or global" in q]


def test_which_batch_is_meant_is_asked_of_the_place_it_is_taken_from_until_answered(
    tmp_path: Path,
) -> None:
    (tmp_path / "train.sh").write_text(
        "#!/bin/bash\n#SBATCH --gres=gpu:4\n"
        "python train.py --model resnet50 --batch_size 64 --epochs 90\n"
    )
    (tmp_path / "train.py").write_text(
        "import argparse\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--batch_size", type=int, default=32)\n'
    )
    assert which_batch(tmp_path, {}) == ["train.sh:3"]
    assert which_batch(tmp_path, {"micro_batch_size": 64}) == []
    assert which_batch(tmp_path, {"global_batch_size": 64}) == []
    assert which_batch(tmp_path, {"n_gpus": 1}) == []
