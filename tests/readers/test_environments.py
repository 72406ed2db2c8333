from compute_budget_planner.errors import FormatError
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import Environment, SourceFile
from compute_budget_planner.readers.environments import READER
from hypothesis import given
from hypothesis import strategies as st

TEXT = """\
local:
  type: local
  display_name: This machine
cluster:
  type: slurm
  display_name: Big cluster
  login_node: login.example.org
  partitions:
    gpu:
      name: gpu
      gpu_flag: "--gres=gpu:{count}"
      gpu_types: [v100, a100]
      max_gpus_per_job: 8
    debug:
      gpu_types: [a100, h100]
      max_gpus_per_job: 2
  defaults:
    gpus: 1
    walltime: "24:00:00"
    max_walltime: 3-00:00:00
cloud:
  type: runai
  display_name: FILL_IN
  default_image: FILL_IN
  partitions:
    p: {gpu_types: [FILL_IN], max_gpus_per_job: FILL_IN}
  defaults: {gpus: 1, walltime: FILL_IN}
"""


def read(text):
    file = SourceFile("environments.yaml", text)
    assert READER.matches(file)
    return READER.read(file, load_reference())


def test_limits_and_types_of_every_environment_are_read():
    found = read(TEXT)
    assert found.environments == (
        Environment("local", "local", None, None, None, (), "environments.yaml:2"),
        Environment(
            "cluster", "slurm", 24.0, 72.0, 8, ("v100", "a100", "h100"), "environments.yaml:5"
        ),
        Environment("cloud", "runai", None, None, None, (), "environments.yaml:22"),
    )
    assert found.problems == ()
    assert found.kind == "environments"


def test_bad_limits_are_problems_with_their_line():
    text = TEXT.replace("max_gpus_per_job: 8", "max_gpus_per_job: many").replace(
        "3-00:00:00", "three days"
    )
    assert [(p.source, p.text) for p in read(text).problems] == [
        (
            "environments.yaml:13",
            "`max_gpus_per_job` is `many`. It takes a whole number of at least 1.",
        ),
        (
            "environments.yaml:20",
            (
                "`max_walltime`: 'three days' is no Slurm time. Write MM, MM:SS, HH:MM:SS, D-HH, "
                "D-HH:MM, D-HH:MM:SS or UNLIMITED."
            ),
        ),
    ]


def test_other_mappings_are_not_environments():
    assert not READER.matches(SourceFile("a.yaml", "model:\n  type: local\n"))
    assert not READER.matches(SourceFile("a.yaml", "n_gpus: 4\n"))


@given(st.integers(0, len(TEXT)), st.text(max_size=8))
def test_no_mutated_file_raises_anything_but_a_format_error(position, inserted):
    file = SourceFile("environments.yaml", TEXT[:position] + inserted + TEXT[position:])
    READER.matches(file)
    try:
        READER.read(file, load_reference())
    except FormatError as error:
        assert error.where
