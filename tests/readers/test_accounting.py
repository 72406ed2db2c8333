import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.accounting import READER, gpus_of_tres
from compute_budget_planner.readers.contract import SourceFile
from file_facts import problem_texts, reading_of, values

PARSABLE = """\
JobID|JobName|State|Elapsed|ElapsedRaw|TimelimitRaw|NNodes|AllocTRES|MaxRSS
4711|train|COMPLETED|1-02:00:00|93600|2880|2|billing=64,cpu=64,gres/gpu:a100=8,gres/gpu=8,node=2|
4711.batch|batch|COMPLETED|1-02:00:00|93600||1|cpu=32,gres/gpu=4|120G
4711.extern|extern|COMPLETED|1-02:00:01|93601||2|billing=64,gres/gpu=8|1M
"""


def test_parsable_sacct_gives_one_job_and_not_its_steps():
    reading = reading_of(READER, "sacct.txt", PARSABLE)
    assert values(reading.measured) == {
        "wall_clock_hours": 26.0,
        "n_nodes": 2,
        "n_gpus": 8,
        "gpu": "a100",
        "time_limit_hours": 48.0,
    }
    assert reading.finished is True
    assert problem_texts(reading) == []


@pytest.mark.parametrize(
    ("tres", "expected"),
    [
        ("gres/gpu=2,gres/gpu:a100=2", (2, "a100")),
        ("billing=4,gres/gpu:h100=4,mem=10G", (4, "h100")),
        ("gres/gpu:a100=2,gres/gpu:v100=1", (3, None)),
        ("cpu=8,mem=32G", (None, None)),
        ("gres/gpumem=80G,gres/gpuutil=99", (None, None)),
    ],
)
def test_gpus_counted_by_number_and_by_type_are_the_same(
    tres: str, expected: tuple[int | None, str | None]
):
    assert gpus_of_tres(tres) == expected


def test_a_table_with_columns_under_rules_is_read():
    text = """\
$ sacct -j 17 --format=JobID,State,Elapsed,AllocGRES
JobID             State    Elapsed    AllocGRES
------------ ---------- ---------- ------------
17            COMPLETED   02:30:00        gpu:4
17.batch      COMPLETED   02:30:00        gpu:4
"""
    assert values(reading_of(READER, "job.txt", text).measured) == {
        "wall_clock_hours": 2.5,
        "n_gpus": 4,
    }


@pytest.mark.parametrize("state", ["RUNNING", "TIMEOUT", "FAILED", "CANCELLED by 1000", "PENDING"])
def test_a_job_that_did_not_complete_has_no_duration(state: str):
    text = PARSABLE.replace("COMPLETED", state)
    reading = reading_of(READER, "sacct.txt", text)
    assert reading.finished is False
    assert "wall_clock_hours" not in values(reading.measured)
    assert state.split(" ", maxsplit=1)[0] in problem_texts(reading)[0]


def test_of_several_jobs_the_longest_completed_is_read_and_told():
    text = """\
JobID|State|Elapsed
1|COMPLETED|01:00:00
2|COMPLETED|03:00:00
3|FAILED|09:00:00
"""
    reading = reading_of(READER, "sacct.txt", text)
    assert values(reading.measured) == {"wall_clock_hours": 3.0}
    assert problem_texts(reading) == [
        "sacct.txt:3: 3 jobs are listed; the one on this line was read"
    ]


def test_elapsed_times_that_disagree_are_told():
    text = "JobID|State|Elapsed|ElapsedRaw\n1|COMPLETED|01:49:22|3000\n"
    reading = reading_of(READER, "sacct.txt", text)
    assert values(reading.measured) == {"wall_clock_hours": pytest.approx(6562 / 3600)}
    assert "disagree" in problem_texts(reading)[0]


def test_seff_gives_the_duration_and_host_memory_stays_host_memory():
    text = """\
Job ID: 4711
Cluster: demo
State: COMPLETED (exit code 0)
Nodes: 1
Cores per node: 8
CPU Efficiency: 12.00% of 8-00:00:00 core-walltime
Job Wall-clock time: 1-00:30:00
Memory Utilized: 40.25 GB
Memory Efficiency: 62.89% of 64.00 GB
"""
    reading = reading_of(READER, "seff.txt", text)
    assert values(reading.measured) == {"wall_clock_hours": 24.5, "n_nodes": 1}
    assert reading.finished is True


def test_jobstats_gives_gpus_limit_and_gpu_memory():
    text = """\
         Job ID: 4711
          State: COMPLETED
          Nodes: 2
           GPUs: 4
       Run Time: 18:42:00
     Time Limit: 4-00:00:00

  GPU memory usage per node - maximum used/total
      node-1 (GPU#0): 24.0GB/40.0GB (60.0%)
      node-2 (GPU 0): 26.5GB/40.0GB (66.2%)
"""
    assert values(reading_of(READER, "stats.txt", text).measured) == {
        "wall_clock_hours": pytest.approx(18.7),
        "n_nodes": 2,
        "n_gpus": 4,
        "time_limit_hours": 96.0,
        "peak_memory_gib": 26.5,
    }


def test_a_header_without_a_job_is_refused():
    with pytest.raises(FormatError, match=r"sacct\.txt:1: the `sacct` table holds no job"):
        READER.read(SourceFile("sacct.txt", "JobID|State|Elapsed\n"), load_reference())


def test_a_mere_mention_of_sacct_is_no_report():
    for text in ("sacct -j 1 --format=JobID,State,Elapsed\n", "Job ID: 4711\n", ""):
        assert not READER.matches(SourceFile("notes.txt", text))
