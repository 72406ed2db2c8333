"""No text makes a reader of jobs or reports raise anything but a format error, or hang."""

import time

import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.registry import read_file
from compute_budget_planner.readers.shell import read_commands
from hypothesis import given
from hypothesis import strategies as st
from job_examples import JOB_EXAMPLES

_VALUES = st.sampled_from(
    [
        "1",
        "0",
        "-1",
        "$N",
        "{{ x }}",
        "[]",
        "{}",
        "[1, 2]",
        "null",
        "'8'",
        "1e999",
        "&a x",
        "*a",
        "9" * 40,
    ]
)
_KEYS = st.sampled_from(
    [
        "spec",
        "template",
        "containers",
        "resources",
        "limits",
        "nvidia.com/gpu",
        "replicas",
        "env",
        "command",
        "args",
        "gpu",
        "value",
        "accelerators",
        "num_nodes",
        "envs",
        "run",
        "commands",
        "nodes",
        "max_duration",
        "compute",
        "gpus",
        "parameters",
        "searcher",
        "max_length",
        "max_trials",
        "hyperparameters",
        "resourceRequirements",
        "nodeProperties",
        "numNodes",
        "entrypoint",
        "pytorchReplicaSpecs",
        "replicatedJobs",
        "workerGroupSpecs",
        "trainer",
        "affinity",
        "nodeSelector",
        "workers",
    ]
)
_TREES = st.recursive(
    _VALUES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
        st.dictionaries(_KEYS, inner, max_size=4).map(
            lambda found: "{" + ", ".join(f"{k}: {v}" for k, v in found.items()) + "}"
        ),
    ),
    max_leaves=12,
)


def survives(path, text):
    try:
        read_file(SourceFile(path, text), load_reference())
    except FormatError as error:
        assert error.where


@given(st.sampled_from(sorted(JOB_EXAMPLES)), st.data())
def test_a_file_with_a_part_replaced_is_read_or_refused(path, data):
    text = JOB_EXAMPLES[path][0]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    filler = data.draw(
        st.text(max_size=20) | _VALUES | st.sampled_from(["\n", "ngpus=", "num=", "["])
    )
    survives(path, text[:start] + filler + text[end:])


@given(
    st.sampled_from(
        [
            "apiVersion: a\nkind: Job\nspec: ",
            "apiVersion: a\nkind: RayJob\nspec: ",
            "kind: DistributedWorkload\nspec: ",
            "run: python a.py\nresources: ",
            "type: task\nresources: ",
            "image: i\ncommand: c\ncompute: {gpus: 8}\nparameters: ",
            "entrypoint: a:B\nsearcher: {name: x}\nresources: ",
            "jobDefinitionName: a\nnodeProperties: ",
        ]
    ),
    _TREES,
)
def test_any_tree_in_place_of_a_specification_is_read_or_refused(head, tree):
    survives("a.yaml", f"{head}{tree}\n")


@given(st.lists(st.sampled_from(["-l ", "select=", "2", ":ngpus=", "+", "nodes=", "-J ", "-R ", '"',
                                 "span[ptile=", "]", "-gpu ", "num=", "/task", "-W ", ":", "-n ",
                                 "\n#PBS ", "\n#BSUB ", " ", "x"]), max_size=25))  # fmt: skip
def test_any_directives_are_read_or_refused(pieces):
    for mark in ("#PBS ", "#BSUB "):
        survives("a.sh", mark + "".join(pieces) + "\npython train.py\n")


@pytest.mark.parametrize(
    "piece",
    ["A=(", "<<E\n", "if x; then\n", "case ", "$(", '"$(', "[[ ", "f() { f; f; f; f; }; f\n", "\0",
     "))", "${A:-", "bash -c 'A=1'\n", "[ -z $A ] && {\n", "A+=xxxxxxxxxx\nrun $A\n"],
)  # fmt: skip
def test_a_hostile_script_costs_no_more_than_its_length(piece):
    text = piece * (60_000 // len(piece))
    start = time.perf_counter()
    read_commands(SourceFile("job.sh", text))
    assert time.perf_counter() - start < 5
