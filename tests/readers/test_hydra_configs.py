"""Hydra trees: composed from their files, interpolated without running anything, sweeps counted."""

from collections.abc import Mapping

import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers import hydra_config, hydra_run
from compute_budget_planner.readers.contract import Reading
from compute_budget_planner.readers.hydra_commands import HydraMain, hydra_main, overrides_of
from compute_budget_planner.readers.hydra_compose import composed
from compute_budget_planner.readers.interpolation import interpolated
from compute_budget_planner.readers.nodes import Document, Node
from compute_budget_planner.readers.registry import read_file
from compute_budget_planner.readers.structured import load_mapping
from file_facts import problem_texts, reading_of, values
from file_trees import tree
from hypothesis import given
from hypothesis import strategies as st

TEMPLATE = {
    "configs/train.yaml": (
        "defaults:\n  - _self_\n  - data: mnist\n  - model: net\n  - trainer: default\n"
        "  - experiment: null\n  - optional local: default\n"
        "task_name: train\ntags: []\nckpt_path: null\nextras: {}\npaths: {}\n"
    ),
    "configs/data/mnist.yaml": (
        "_target_: src.data.MNIST\nbatch_size: 128\ntrain_val_test_split: [55_000, 5_000, 10_000]\n"
    ),
    "configs/model/net.yaml": "optimizer: {_target_: torch.optim.Adam, lr: 0.001}\n",
    "configs/trainer/default.yaml": (
        "_target_: lightning.pytorch.trainer.Trainer\nmax_epochs: 10\naccelerator: gpu\n"
        "devices: 2\n"
    ),
    "configs/trainer/ddp.yaml": "defaults:\n  - default\nstrategy: ddp\ndevices: 4\n",
    "configs/experiment/wide.yaml": (
        "# @package _global_\ndefaults:\n  - override /trainer: ddp\ndata: {batch_size: 64}\n"
    ),
}


def leaves(files: Mapping[str, str], head: str, *overrides: str) -> dict[str, object]:
    found = composed(tree(files, head), [(o, "run.sh:3") for o in overrides]).document
    return {leaf.dotted: leaf.value for leaf in found.leaves()}


def read(files: Mapping[str, str], head: str) -> Reading:
    file = tree(files, head)
    assert hydra_config.READER.matches(file)
    return hydra_config.READER.read(file, load_reference())


def test_groups_go_under_their_names_and_an_absent_optional_one_is_no_problem() -> None:
    found = composed(tree(TEMPLATE, "configs/train.yaml"))
    assert found.document.root.get("trainer", "devices").value == 2
    assert found.document.problems == ()
    assert found.choices == {"data": "mnist", "model": "net", "trainer": "default"}


def test_an_override_in_an_experiment_changes_a_group_chosen_before_it() -> None:
    found = leaves(TEMPLATE, "configs/train.yaml", "experiment=wide")
    assert (found["trainer.devices"], found["trainer.strategy"]) == (4, "ddp")
    assert (found["trainer.max_epochs"], found["data.batch_size"]) == (10, 64)


def test_the_command_line_wins_over_an_experiment() -> None:
    options = ("experiment=wide", "trainer=default", "data.batch_size=32", "+data.workers=2")
    found = leaves(TEMPLATE, "configs/train.yaml", *options)
    assert (found["trainer.devices"], found["data.batch_size"]) == (2, 32)
    assert found["data.workers"] == 2
    assert "model.optimizer.lr" not in leaves(TEMPLATE, "configs/train.yaml", "~model")


def test_what_an_override_sets_stands_on_the_line_of_the_command() -> None:
    document = composed(
        tree(TEMPLATE, "configs/train.yaml"), [("trainer.devices=8", "run.sh:3")]
    ).document
    node = document.root.get("trainer", "devices")
    assert (node.value, node.origin, node.line) == (8, "run.sh", 3)


def test_a_config_that_is_not_there_is_named() -> None:
    files = {"c/a.yaml": "defaults:\n  - model: large\nlr: 0.1\n"}
    assert problem_texts(read(files, "c/a.yaml")) == [
        "c/a.yaml:2: the defaults list names `model/large`, and there is no such configuration"
    ]


def test_configs_that_include_one_another_are_refused() -> None:
    files = {"a.yaml": "defaults:\n  - b\n", "b.yaml": "defaults:\n  - a\n"}
    with pytest.raises(FormatError, match="include one another without end"):
        read(files, "a.yaml")


def test_a_list_of_options_and_a_package_of_its_own_are_laid_over_in_order() -> None:
    files = {
        "a.yaml": "defaults:\n  - parts@model.opt: [one, two]\n",
        "parts/one.yaml": "x: 1\ny: 1\n",
        "parts/two.yaml": "y: 2\n",
    }
    assert leaves(files, "a.yaml") == {"model.opt.x": 1, "model.opt.y": 2}


def test_the_batch_of_lightning_hydra_template_is_the_total_over_devices() -> None:
    reading = read(TEMPLATE, "configs/train.yaml")
    assert values(reading.facts) == {
        "dataset": "mnist",
        "dataset_examples": 55_000,
        "optimizer": "adam",
        "framework": "lightning-hydra-template",
        "epochs": 10.0,
        "gpus_per_node": 2,
        "learning_rate": 0.001,
        "global_batch_size": 128,
        "n_nodes": 1,
    }
    sources = {fact.name: fact.source for fact in reading.facts}
    assert sources["epochs"] == "configs/trainer/default.yaml:2"
    assert {r.path for r in reading.references if r.role == "included"} == {
        "configs/data/mnist.yaml",
        "configs/model/net.yaml",
        "configs/trainer/default.yaml",
    }


def test_a_tree_set_to_the_cpu_gives_no_gpus_and_asks() -> None:
    files = TEMPLATE | {
        "configs/trainer/default.yaml": (
            "_target_: lightning.pytorch.trainer.Trainer\naccelerator: cpu\ndevices: 1\n"
        )
    }
    reading = read(files, "configs/train.yaml")
    assert not {"n_gpus", "gpus_per_node"} & values(reading.facts).keys()
    assert any("on how many GPUs is the real run?" in text for text in problem_texts(reading))


def test_the_sweepers_comma_list_is_a_grid_and_the_swept_fact_is_left_open() -> None:
    files = {
        "sweep.yaml": (
            "defaults:\n  - base\n  - _self_\nhydra:\n  mode: MULTIRUN\n  sweeper:\n    params:\n"
            "      d_model: 64,128,256\n      seed: range(0, 4)\n"
        ),
        "base.yaml": "d_model: 64\nn_layers: 2\nepochs: 3\n",
    }
    reading = read(files, "sweep.yaml")
    assert reading.n_runs == 12
    assert values(reading.facts) == {"n_layers": 2, "epochs": 3.0}
    assert any("cost differently" in text for text in problem_texts(reading))


def test_optunas_trials_are_tuning_trials_whatever_its_jobs_and_intervals_have_no_count() -> None:
    files = {
        "a.yaml": (
            "defaults:\n  - _self_\nepochs: 2\nlr: 0.1\nhydra:\n  mode: MULTIRUN\n  sweeper:\n"
            "    n_trials: 20\n    n_jobs: 4\n"
            "    params: {lr: 'interval(0.1, 1)', model.width: 'choice(1, 2)'}\n"
        )
    }
    reading = read(files, "a.yaml")
    assert (reading.n_runs, values(reading.facts)) == (1, {"tuning_trials": 20, "epochs": 2.0})


def test_the_configuration_of_a_past_run_is_read_as_it_was_resolved() -> None:
    files = {
        "out/.hydra/config.yaml": (
            "model: {n_embd: 384, n_layer: 6, n_head: 6}\ndata: {batch_size: 64}\n"
            "trainer: {max_steps: 500, accelerator: auto, devices: 2, strategy: ddp}\n"
        ),
        "out/.hydra/overrides.yaml": "[]\n",
        "out/.hydra/hydra.yaml": "hydra: {mode: RUN}\n",
    }
    reading = hydra_run.READER.read(tree(files, "out/.hydra/config.yaml"), load_reference())
    assert values(reading.facts) == {
        "d_model": 384,
        "n_layers": 6,
        "n_heads": 6,
        "max_steps": 500,
        "gpus_per_node": 2,
        "n_nodes": 1,
        "sharding": "ddp",
        "micro_batch_size": 64,
        "framework": "lightning",
    }
    assert reading.output_dir == "out"


def test_a_list_at_the_top_of_the_overrides_stops_no_call() -> None:
    reading = reading_of(hydra_run.READER, "out/.hydra/overrides.yaml", "- trainer=ddp\n- lr=1\n")
    assert (reading.format, reading.facts, reading.problems) == ("hydra_run", (), ())


# --- interpolation --------------------------------------------------------------------------


def worked_out(text: str) -> dict[str, object]:
    document = interpolated(load_mapping(tree({"a.yaml": text}, "a.yaml")))
    return {leaf.dotted: leaf.value for leaf in document.leaves()}


def test_values_siblings_and_sums_are_worked_out() -> None:
    text = (
        "a: {b: 8, c: '${.b}', d: '${eval:2*${.b}}'}\ne: ${div_up:256, ${eval:${a.b} * 15}}\n"
        "f: ${multiply:${a.b}, 3}\ng: run-${a.b}\n"
    )
    assert worked_out(text) == {
        "a.b": 8,
        "a.c": 8,
        "a.d": 16,
        "e": 3,
        "f": 24,
        "g": "run-8",
    }


def test_an_eval_that_is_more_than_arithmetic_stays_text() -> None:
    text = "a: ${eval:\"__import__('os').system('true')\"}\nb: ${eval:open('x')}\n"
    assert all(str(value).startswith("${eval:") for value in worked_out(text).values())


def test_the_environment_of_the_server_is_never_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA_PATH", "/secret")
    assert worked_out("a: ${oc.env:DATA_PATH}\nb: ${oc.env:DATA_PATH,./data}\n") == {
        "a": "${oc.env:DATA_PATH}",
        "b": "./data",
    }


def test_values_that_name_one_another_in_a_circle_stay_text() -> None:
    assert worked_out("a: ${b}\nb: ${a}\n") == {"a": "${b}", "b": "${a}"}


def test_texts_that_double_do_not_grow_without_end() -> None:
    rows = "".join(f"v{i}: ${{v{i + 1}}}${{v{i + 1}}}\n" for i in range(60)) + "v60: aaaaaaaa\n"
    assert max(len(str(value)) for value in worked_out(rows).values()) <= 2_000


@given(st.text(alphabet="${}:.,abeval0123+*/-() \n'\"", max_size=60))
def test_no_interpolation_breaks_the_reader(text: str) -> None:
    document = Document(Node({"a": Node(text, 1)}, 1), ())
    assert len(list(interpolated(document).leaves())) == 1


# --- commands -------------------------------------------------------------------------------


def test_the_decorator_of_a_script_names_its_configuration() -> None:
    text = "import hydra\n@hydra.main(version_base='1.3', config_path='conf', config_name='a')\n"
    assert hydra_main(text + "def main(cfg):\n    pass\n") == HydraMain("conf", "a")
    assert hydra_main("def main():\n    pass\n") is None


def test_lists_of_a_multirun_are_no_overrides() -> None:
    words = ["train.py", "-m", "lr=0.1,0.2", "model=small", "betas=[0.9,0.99]", "~wandb"]
    assert overrides_of(words) == ["model=small", "betas=[0.9,0.99]", "~wandb"]


PIECES = st.sampled_from(
    [
        "defaults:\n",
        "  - _self_\n",
        "  - experiment: a\n",
        "  - override /experiment: a\n",
        "  - optional x: ???\n",
        "  - experiment/a\n",
        "  - /config\n",
        "  - experiment@b.c: [a, a]\n",
        "x: ${x}\n",
        "y: [${y}]\n",
        "hydra: {mode: MULTIRUN, sweeper: {n_trials: x, params: {lr: 'range(1,0)', b: '1,2'}}}\n",
        "hydra: {mode: MULTIRUN, sweeper: {params: {lr: 'range(0,9999999,0)', b: [1]}}}\n",
        "lr: {a: 1}\n",
        "- a\n",
    ]
)


@given(st.lists(PIECES, max_size=6).map("".join), st.lists(PIECES, max_size=4).map("".join))
def test_no_tree_makes_the_reader_raise_anything_but_a_format_error(top: str, inner: str) -> None:
    files = {
        "configs/config.yaml": top,
        "configs/experiment/a.yaml": f"# @package _global_\n{inner}",
    }
    for path in files:
        try:
            reading = read_file(tree(files, path), load_reference())
        except FormatError as error:
            assert error.where.startswith("configs/")
        else:
            assert reading.path == path
