"""Runs whose configuration stands in several files: composed, followed, counted once."""

from pathlib import Path

from compute_budget_planner.planner.sources.gather import Gathered, gather, run_facts
from compute_budget_planner.planner.workspace import open_workspace
from compute_budget_planner.workload.merge import merge

TREE = {
    "configs/config.yaml": (
        "defaults:\n  - _self_\n  - trainer: default\n  - experiment: null\nbatch: 1\n"
    ),
    "configs/trainer/default.yaml": (
        "_target_: lightning.Trainer\nmax_epochs: 10\ndevices: 4\naccelerator: gpu\n"
    ),
    "configs/experiment/long.yaml": "# @package _global_\ntrainer: {max_epochs: 99}\n",
    "train.py": (
        "import hydra\n\n\n@hydra.main(config_path='configs', config_name='config')\n"
        "def main(cfg):\n    pass\n"
    ),
    "jobs/long.sh": "#!/bin/bash\n#SBATCH --gres=gpu:4\npython train.py experiment=long\n",
    "jobs/short.sh": "#!/bin/bash\n#SBATCH --gres=gpu:4\npython train.py trainer.max_epochs=2\n",
}


def gathered(root: Path, files: dict[str, str], *named: str) -> Gathered:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return gather(open_workspace(root), named)


def facts_of(found: Gathered) -> dict[str, dict[str, tuple[object, str]]]:
    return {
        run.name: {
            name: (fact.value, fact.source)
            for name, fact in merge(run_facts(found, run))[0].items()
        }
        for run in found.runs
    }


def test_each_job_composes_the_tree_its_script_names_with_its_own_overrides(tmp_path: Path) -> None:
    found = gathered(tmp_path, TREE)
    facts = facts_of(found)
    assert facts.keys() == {"long", "short"}
    assert facts["long"]["epochs"] == (99.0, "configs/experiment/long.yaml:2")
    assert facts["short"]["epochs"] == (2.0, "jobs/short.sh:3")
    assert facts["long"]["gpus_per_node"][0] == 4
    assert {"configs/config.yaml", "configs/trainer/default.yaml"} <= set(found.runs[0].paths)


def test_a_tree_without_jobs_is_one_run_and_its_groups_are_none(tmp_path: Path) -> None:
    files = {path: text for path, text in TREE.items() if path.startswith("configs/")}
    found = gathered(tmp_path, files)
    assert {name: facts["epochs"] for name, facts in facts_of(found).items()} == {
        "config": (10.0, "configs/trainer/default.yaml:2")
    }


def test_a_configuration_of_an_evaluation_is_no_run(tmp_path: Path) -> None:
    files = {path: text for path, text in TREE.items() if path.startswith("configs/")}
    found = gathered(tmp_path, files | {"configs/eval.yaml": files["configs/config.yaml"]})
    assert [run.name for run in found.runs] == ["config"]


def test_an_experiment_that_is_named_is_composed_with_the_configuration_above_it(
    tmp_path: Path,
) -> None:
    files = {path: text for path, text in TREE.items() if path.startswith("configs/")}
    found = gathered(tmp_path, files, "configs/experiment/long.yaml")
    facts = facts_of(found)["long"]
    assert facts["epochs"] == (99.0, "configs/experiment/long.yaml:2")
    assert facts["gpus_per_node"] == (4, "configs/trainer/default.yaml:3")


def test_a_base_configuration_that_is_followed_is_no_run_of_its_own(tmp_path: Path) -> None:
    files = {
        "configs/long.yaml": "_BASE_: base.yaml\nMODEL: {}\nSOLVER: {MAX_ITER: 300}\n",
        "configs/base.yaml": "SOLVER: {IMS_PER_BATCH: 16, MAX_ITER: 100}\n",
    }
    found = gathered(tmp_path, files)
    (run,) = found.runs
    assert run.paths == ("configs/long.yaml", "configs/base.yaml")
    assert facts_of(found)["long"]["max_steps"] == (300, "configs/long.yaml:3")
    assert facts_of(found)["long"]["global_batch_size"] == (16, "configs/base.yaml:1")


def test_a_broken_file_of_a_tree_is_a_problem_of_the_job_and_stops_no_call(tmp_path: Path) -> None:
    files = TREE | {"configs/trainer/default.yaml": "a: [1,\n"}
    found = gathered(tmp_path, files, "jobs/long.sh")
    job = found.readings["jobs/long.sh"]
    assert any(p.source.startswith("configs/trainer/default.yaml:2") for p in job.problems)


def test_defaults_of_the_called_script_stand_below_everything_else(tmp_path: Path) -> None:
    files = {
        "run.sh": "#!/bin/bash\npython train.py --epochs 7\n",
        "train.py": (
            "p.add_argument('--epochs', default=3)\n"
            "p.add_argument('--learning-rate', default=0.5)\n"
        ),
    }
    facts = facts_of(gathered(tmp_path, files, "run.sh"))["run"]
    assert facts["epochs"] == (7.0, "run.sh:2")
    assert facts["learning_rate"] == (0.5, "train.py:2")


def test_the_data_a_configuration_names_are_counted_where_they_lie(tmp_path: Path) -> None:
    files = {
        "sft.yaml": "train_file: data/train.jsonl\nnum_train_epochs: 2\nmax_steps: -1\n",
        "data/train.jsonl": '{"text": "a b c d"}\n' * 25,
    }
    facts = facts_of(gathered(tmp_path, files, "sft.yaml"))["sft"]
    assert facts["dataset_examples"] == (25, "data/train.jsonl")


def test_the_tokens_nanogpt_prepared_belong_to_its_configuration(tmp_path: Path) -> None:
    (tmp_path / "data" / "tiny").mkdir(parents=True)
    (tmp_path / "data" / "tiny" / "train.bin").write_bytes(bytes(4000))
    text = "dataset = 'tiny'\nblock_size = 8\nbatch_size = 2\nmax_iters = 5\n"
    found = gathered(tmp_path, {"config/tiny.py": text}, "config/tiny.py")
    assert facts_of(found)["tiny"]["dataset_tokens"] == (2000, "data/tiny/train.bin")


def test_a_folder_of_images_may_be_named_itself(tmp_path: Path) -> None:
    for name in ("cat", "dog"):
        (tmp_path / "data" / "train" / name).mkdir(parents=True)
        for number in range(3):
            (tmp_path / "data" / "train" / name / f"{number}.jpg").write_bytes(b"1")
    files = {"base.yaml": "batch_size: 4\nepochs: 2\n"}
    found = gathered(tmp_path, files, "base.yaml", "data/train")
    assert facts_of(found)["base"]["dataset_examples"] == (6, "data/train")


def test_several_files_of_data_are_summed(tmp_path: Path) -> None:
    files = {
        "base.yaml": "batch_size: 4\nepochs: 2\n",
        "data/train-0.jsonl": '{"text": "abcd"}\n' * 2,
        "data/train-1.jsonl": '{"text": "abcd"}\n' * 3,
    }
    found = gathered(tmp_path, files, *files)
    assert facts_of(found)["base"]["dataset_examples"] == (5, "data/train-0.jsonl and 1 more")
