"""Configurations and scripts in Python: parsed as text, never run."""

import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers import (
    ml_collections_config,
    mmengine_config,
    nanogpt_config,
    ray_tune,
    script_defaults,
)
from compute_budget_planner.readers.arithmetic import worked_out
from compute_budget_planner.readers.contract import Basis, Layer, SourceFile
from compute_budget_planner.readers.python_values import assigned, module_of
from compute_budget_planner.readers.registry import read_file
from file_facts import of_basis, problem_texts, reading_of, values
from file_trees import tree
from hypothesis import example, given
from hypothesis import strategies as st


def leaves(text: str) -> dict[str, object]:
    module = module_of(SourceFile("a.py", text))
    assert module is not None
    return {leaf.dotted: leaf.value for leaf in assigned(module.body).leaves()}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5 * 8", 40),
        ("2 * (3 + 1)", 8),
        ("10**6", 10**6),
        ("-7 // 2", -4),
        ("1e-3 * 2", 0.002),
        ("10**10**10", None),
        ("1 / 0", None),
        ("True + 1", None),
        ("f(2)", None),
        ("x", None),
        ("", None),
    ],
)
def test_only_sums_and_products_of_numbers_are_worked_out(text: str, number: object) -> None:
    assert worked_out(text) == number


def test_names_mappings_and_joined_texts_are_followed() -> None:
    text = (
        "root = 'data/'\nwidth = 64\nmodel = dict(d_ff=4 * width, path=root + 'x', **{'a': 1})\n"
        "model['b'] = [1, 2]\nmodel.c = -2\n"
    )
    assert leaves(text) == {
        "root": "data/",
        "width": 64,
        "model.d_ff": 256,
        "model.path": "data/x",
        "model.a": 1,
        "model.b": (1, 2),
        "model.c": -2,
    }


def test_what_a_condition_or_a_call_decides_is_unsettled_and_its_text_is_not_shown() -> None:
    text = "if big:\n    n = 3\nm = load(token='S3CRET')\nk = n * 2\n"
    assert leaves(text) == {
        "n": "$(worked out in line 2)",
        "m": "$(worked out in line 3)",
        "k": "$(worked out in line 4)",
    }


NANOGPT = (
    "import time\nwandb_run_name = 'ft-' + str(time.time())\ninit_from = 'gpt2-xl'\n"
    "batch_size = 1\ngradient_accumulation_steps = 5 * 8\nmax_iters = 20\n"
)


def test_nanogpts_accumulation_is_a_product_and_its_global_batch_knows_no_devices() -> None:
    reading = reading_of(nanogpt_config.READER, "config/a.py", NANOGPT)
    facts = {n: v for n, v in values(reading.facts).items() if n not in ("learning_rate",)}
    assert facts == {
        "model": "gpt2-xl",
        "method": "full-ft",
        "grad_accum_steps": 40,
        "global_batch_size": 40,
        "model_family": "gpt2",
        "framework": "nanogpt",
        "micro_batch_size": 1,
        "max_steps": 20,
        "dataset": "openwebtext",
    }
    assert reading.references[-1].path == "data/openwebtext/train.bin"


def test_a_context_length_comes_with_pretrained_weights_and_else_from_the_script() -> None:
    scratch = NANOGPT.replace("init_from = 'gpt2-xl'", "eval_iters = 3")
    facts = reading_of(nanogpt_config.READER, "a.py", scratch).facts
    assert of_basis(facts, Basis.FRAMEWORK_DEFAULT)["seq_len"] == 1024
    pretrained = reading_of(nanogpt_config.READER, "a.py", NANOGPT).facts
    assert "seq_len" not in values(pretrained)


def test_a_script_with_functions_is_no_nanogpt_config() -> None:
    file = SourceFile("train.py", NANOGPT + "def main():\n    pass\n")
    assert not nanogpt_config.READER.matches(file)


MMENGINE = {
    "c/det.py": (
        "_base_ = ['../base/schedule.py', '../base/data.py']\n"
        "model = dict(backbone=dict(_delete_=True, embed_dims=192, num_layers=12, num_heads=3))\n"
        "optimizer = dict(_delete_=True, type='AdamW', lr=1e-4)\n"
        "auto_scale_lr = dict(base_batch_size=16)\n"
    ),
    "base/schedule.py": (
        "optimizer = dict(type='SGD', lr=0.02, momentum=0.9)\nrunner = dict(max_epochs=36)\n"
        "model = dict(backbone=dict(depth=50))\n"
    ),
    "base/data.py": "dataset_type = 'CocoDataset'\ndata = dict(samples_per_gpu=2)\n",
}


def test_base_files_are_laid_under_and_delete_drops_what_they_say() -> None:
    reading = mmengine_config.READER.read(tree(MMENGINE, "c/det.py"), load_reference())
    assert {fact.name: (fact.value, fact.source) for fact in reading.facts} == {
        "micro_batch_size": (2, "base/data.py:2"),
        "epochs": (36.0, "base/schedule.py:2"),
        "optimizer": ("adamw", "c/det.py:3"),
        "learning_rate": (1e-4, "c/det.py:3"),
        "d_model": (192, "c/det.py:2"),
        "n_layers": (12, "c/det.py:2"),
        "n_heads": (3, "c/det.py:2"),
        "dataset": ("coco", "base/data.py:1"),
        "framework": ("mmengine", "c/det.py"),
        "precision": ("fp32", "c/det.py"),
    }
    assert [r.path for r in reading.references] == ["base/schedule.py", "base/data.py"]


def test_the_batch_a_learning_rate_is_scaled_for_is_not_the_batch() -> None:
    files = {"a.py": "_base_ = []\nauto_scale_lr = dict(base_batch_size=16)\nmodel = dict()\n"}
    facts = mmengine_config.READER.read(tree(files, "a.py"), load_reference()).facts
    assert not {"global_batch_size", "micro_batch_size", "n_gpus"} & values(facts).keys()


def test_a_base_file_that_builds_on_itself_is_refused() -> None:
    with pytest.raises(FormatError, match="without end"):
        mmengine_config.READER.read(tree({"a.py": "_base_ = ['a.py']\n"}, "a.py"), load_reference())


def test_the_epochs_of_a_docstring_do_not_count_and_the_batch_is_global() -> None:
    text = (
        '"""For 300ep add --config.total_epochs 300; 6-7h on a TPU."""\n'
        "def get_config(arg=None):\n  config = mlc.ConfigDict()\n  config.total_epochs = 90\n"
        "  config.input = {}\n"
        "  config.input.data = dict(name='imagenet2012', split='train[:99%]')\n"
        "  config.input.batch_size = 1024\n  config.input.pp = 'crop(224)|flip'\n"
        "  config.model_name = 'vit'\n  config.model = dict(variant='S/16')\n"
        "  config.lr = arg.lr\n  return config\n"
    )
    reading = reading_of(ml_collections_config.READER, "vit.py", text)
    assert values(reading.facts) == {
        "global_batch_size": 1024,
        "epochs": 90.0,
        "dataset": "imagenet2012",
        "model": "ViT-S/16",
        "image_size": 224,
        "framework": "big_vision",
    }


def test_halving_of_trials_is_an_upper_bound_and_devices_are_one_trials() -> None:
    text = (
        "from ray import tune\ns = ASHAScheduler(max_t=50, grace_period=1)\n"
        "tune.run(f, resources_per_trial={'cpu': 4, 'gpu': 2}, num_samples=10, scheduler=s)\n"
    )
    reading = reading_of(ray_tune.READER, "tune.py", text)
    assert values(reading.facts) == {"tuning_trials": 10, "n_gpus": 2}
    assert problem_texts(reading) == [
        (
            "tune.py:2: the scheduler ends weak trials early: between 1 and 50 rounds a trial;"
            " trials times the longest is an upper bound."
        )
    ]


SCRIPT = (
    "import argparse\nWIDTH = 64\np = argparse.ArgumentParser()\n"
    "p.add_argument('--lr', type=float, default=3e-4)\n"
    "p.add_argument('-e', '--epochs', default=2)\n"
    "p.add_argument('--bf16', action='store_true')\n"
    "p.add_argument('--d-model', default=4 * WIDTH)\n"
    "p.add_argument('--seq-len', default=find())\n"
    "@dataclass\nclass Args:\n    n_layers: int = field(default=6)\n    n_heads: int = 8\n"
)


def test_the_defaults_of_a_script_are_framework_defaults_with_their_lines() -> None:
    reading = reading_of(script_defaults.READER, "train.py", SCRIPT)
    assert {fact.name: (fact.value, fact.source) for fact in reading.facts} == {
        "learning_rate": (3e-4, "train.py:4"),
        "epochs": (2.0, "train.py:5"),
        "d_model": (256, "train.py:7"),
        "n_layers": (6, "train.py:11"),
        "n_heads": (8, "train.py:12"),
    }
    assert {fact.basis for fact in reading.facts} == {Basis.FRAMEWORK_DEFAULT}
    assert {fact.layer for fact in reading.facts} == {Layer.FRAMEWORK_DEFAULT}


def test_a_batch_of_unknown_scope_stays_a_question_in_a_script_too() -> None:
    text = (
        "a('--x')\np.add_argument('--batch-size', default=8)\np.add_argument('--lr', default=1)\n"
    )
    reading = read_file(
        SourceFile("train.py", text + "p.add_argument('--epochs', default=1)\n"), load_reference()
    )
    assert of_basis(reading.facts, Basis.ASSUMED) == {"micro_batch_size": 8}
    assert "per device or global?" in problem_texts(reading)[0]


@example("c=0")
@given(st.text(alphabet="abdict_=(){}[]'*+-.,:0123456789 \n", max_size=80))
def test_no_python_makes_a_reader_raise_anything_but_a_format_error(text: str) -> None:
    for start in ("_base_ = 'a.py'\n", "block_size = 1\n", "def get_config():\n  ConfigDict\n  "):
        file = tree({"a.py": start + text}, "a.py")
        try:
            read_file(file, load_reference())
        except FormatError as error:
            assert error.where.startswith("a.py")
