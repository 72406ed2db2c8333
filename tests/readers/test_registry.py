import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.registry import READERS, read_file
from config_examples import CONFIG_EXAMPLES
from file_facts import values
from hypothesis import given
from hypothesis import strategies as st
from job_examples import JOB_EXAMPLES
from log_examples import LOG_EXAMPLES

SLURM = "#!/bin/bash\n#SBATCH --gres=gpu:4\n#SBATCH --time=24:00:00\npython train.py\n"
RUNAI = "#!/bin/bash\nrunai submit demo -i image -g 1 -- python train.py\n"
LOCAL = "#!/bin/bash\nCUDA_VISIBLE_DEVICES=0 python train.py --batch-size 8\n"
ENVIRONMENTS = (
    "ibex:\n  type: slurm\n  defaults: {walltime: '24:00:00', max_walltime: '72:00:00'}\n"
)
MODEL = '{"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257}'

EXAMPLES = {
    "environments.yaml": (ENVIRONMENTS, "environments", "environments"),
    "jobs/train.sh": (SLURM, "slurm", "job"),
    "jobs/train-runai.sh": (RUNAI, "runai", "job"),
    "run.sh": (LOCAL, "local_job", "job"),
    "model/config.json": (MODEL, "hf_model_config", "model_config"),
    "acc.yaml": ("distributed_type: FSDP\nnum_processes: 8\n", "accelerate", "config"),
    "ds.json": ('{"zero_optimization": {"stage": 2}}', "deepspeed", "config"),
    "trainer_state.json": ('{"log_history": [], "global_step": 3}', "hf_trainer_state", "log"),
    "all_results.json": (
        '{"train_runtime": 9.0, "train_steps_per_second": 2.0}',
        "hf_results",
        "log",
    ),
    "sft.yaml": ("per_device_train_batch_size: 8\nmax_steps: 5\n", "hf_args", "config"),
    "plan.md": ("# Experiment Design Plan\n", "design_plan", "plan"),
    "audit.md": ("# Baseline Selection Audit: X\n", "baseline_audit", "plan"),
    "memory/risk-board.md": ("# Risk Board\n", "memory_board", "board"),
    "data-pipeline-plan.md": ("## Split Protocol\n", "data_plan", "data"),
    "slurm-1.out": ("Job ID: 1\nStart: Mon Dec  1 10:00:00 UTC 2025\n", "log_text", "log"),
    "sacct.txt": ("JobID|State|Elapsed\n1|COMPLETED|01:00:00\n", "slurm_report", "log"),
    "base.yaml": ("batch_size: 32\nmax_epochs: 100\n", "research_config", "config"),
    **JOB_EXAMPLES,
    **LOG_EXAMPLES,
    **CONFIG_EXAMPLES,
}


@pytest.mark.parametrize("path", EXAMPLES)
def test_a_file_is_read_by_its_own_family(path: str):
    text, format_name, kind = EXAMPLES[path]
    reading = read_file(SourceFile(path, text), load_reference())
    assert (reading.path, reading.format, reading.kind) == (path, format_name, kind)


def test_every_family_has_an_example_and_a_name_of_its_own():
    names = [reader.format for reader in READERS]
    assert len(set(names)) == len(names)
    assert {format_name for _, format_name, _ in EXAMPLES.values()} == set(names)


def test_the_content_decides_and_not_the_name():
    text, _, _ = EXAMPLES["trainer_state.json"]
    assert read_file(SourceFile("config.json", text), load_reference()).format == (
        "hf_trainer_state"
    )


def test_a_file_nobody_knows_gives_an_unknown_reading():
    assert read_file(SourceFile("README.md", "# Demo\n"), load_reference()) == Reading(
        path="README.md", format="unknown", kind="unknown"
    )


def test_a_broken_config_is_refused_and_not_passed_over():
    with pytest.raises(FormatError, match=r"base\.yaml:2"):
        read_file(SourceFile("base.yaml", "a: [1,\n"), load_reference())


def test_line_ends_of_windows_change_nothing():
    text = "batch_size: 32\r\nmax_epochs: 100\r\n"
    reading = read_file(SourceFile("base.yaml", text), load_reference())
    assert values(reading.facts) == {"micro_batch_size": 32, "epochs": 100}
    assert [fact.source for fact in reading.facts] == ["base.yaml:2", "base.yaml:1"]


NAMES = [
    "a.yaml",
    "a.json",
    "a.toml",
    "a.py",
    "a.sh",
    "a.md",
    "a.out",
    "sacct.txt",
    "environments.yaml",
]
PIECES = st.sampled_from(
    [text for text, _, _ in EXAMPLES.values()]
    + ["per_device_train_batch_size: ", "train_batch_size: 9" + "9" * 400 + "\n", "- &a [*a]\n"]
    + ["epochs: [[1]]\n", "seeds: {a: 1}\n", "lr: -1e-4\n", "\x00", "\\\n", "$((1/0))", "`x`\n"]
)


@given(
    st.sampled_from(NAMES),
    st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=8).map("".join),
)
def test_no_text_makes_a_reader_raise_anything_but_a_format_error(path: str, text: str):
    try:
        reading = read_file(SourceFile(path, text), load_reference())
    except FormatError as error:
        assert error.where.startswith(path)
    else:
        assert reading.path == path


def test_the_page_of_file_formats_lists_every_reader_and_no_other() -> None:
    rows = load_reference().rows("file_formats")
    assert sorted(rows) == sorted(reader.format for reader in READERS)
    assert all(row.required("read") and row.required("not_read") for row in rows.values())
