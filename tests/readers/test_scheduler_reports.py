import pytest
from compute_budget_planner.readers.scheduler_reports import LSF_READER, PBS_READER
from file_facts import problem_texts, reading_of, values

SUMMARY = """\
Sender: LSF System <lsf@c>
Job was executed on host(s) <4*n1>, in queue <gpuv100>, as user <u> in cluster <c>
# LSBATCH: User input
#BSUB -gpu "num=2"
#BSUB -n 4
#BSUB -R "span[hosts=1]"
#BSUB -W 12:00
python train.py
{ending}

Resource usage summary:

    Max Memory :                                 23195 MB
    Run time :                                   7200 sec.
    Turnaround time :                            90000 sec.
"""
DONE = "Successfully completed."
PBS = """\
     Exit Status: {code}
     Memory Requested: 80gb      Memory Used: 32209080kb
     Walltime requested: 24:00:00    Walltime Used: 09:38:37
     Execution Nodes Used: (v04:ncpus=10:mem=83886080kb:ngpus=1)
"""


def test_run_time_is_the_duration_and_turnaround_holds_the_queue():
    found = reading_of(LSF_READER, "a.out", SUMMARY.format(ending=DONE))
    assert values(found.measured) == {
        "wall_clock_hours": 2.0,
        "n_nodes": 1,
        "gpus_per_node": 2,
        "n_gpus": 2,
        "gpu": "v100",
        "time_limit_hours": 12.0,
    }
    assert (found.finished, found.problems) == (True, ())


def test_a_failed_job_has_no_duration():
    ending = (
        "TERM_RUNLIMIT: job killed after reaching LSF run time limit.\nExited with exit code 140."
    )
    found = reading_of(LSF_READER, "a.out", SUMMARY.format(ending=ending))
    assert "wall_clock_hours" not in values(found.measured)
    assert problem_texts(found) == [
        "a.out:10: the job ended with exit code 140 (RUNLIMIT)",
        "a.out:15: its run time is no duration of a whole training",
    ]


def test_an_exit_code_after_the_training_was_done_does_not_undo_it():
    log = (
        "nnU-Net\nThis is the configuration used by this training:\n{'batch_size': 3}\n"
        "2026-01-05 1:00: Epoch 0\n2026-01-05 1:00: Epoch time: 50.0 s\n"
        "2026-01-05 1:01: Training done.\n"
    )
    text = log + SUMMARY.format(ending="Exited with exit code 1.")
    found = reading_of(LSF_READER, "a.out", text)
    assert values(found.measured)["wall_clock_hours"] == 2.0
    assert found.finished is True
    assert problem_texts(found)[-1] == (
        "a.out:15: the job ended with exit code 1 after the training was done"
    )


def test_memory_of_the_report_is_the_hosts_and_never_a_gpus():
    for reader, text in (
        (LSF_READER, SUMMARY.format(ending=DONE)),
        (PBS_READER, PBS.format(code=0)),
    ):
        assert "peak_memory_gib" not in values(reading_of(reader, "a.out", text).measured)


def test_walltime_used_is_the_duration_and_gpus_stand_in_the_nodes():
    found = reading_of(PBS_READER, "a.o1", PBS.format(code=0))
    measured = values(found.measured)
    assert measured.pop("wall_clock_hours") == pytest.approx(9.64361, abs=1e-5)
    assert measured == {"time_limit_hours": 24.0, "n_gpus": 1, "n_nodes": 1}
    assert (found.finished, found.problems) == (True, ())


def test_exit_status_minus_29_is_the_time_limit():
    found = reading_of(PBS_READER, "a.o1", PBS.format(code=-29))
    assert "wall_clock_hours" not in values(found.measured)
    assert problem_texts(found) == [
        "a.o1:3: the job ended at its time limit with exit status -29: its walltime is no run time"
    ]


def test_qstat_writes_the_same_with_equals_signs():
    text = (
        "    Exit_status = 0\n    resources_used.walltime = 02:00:00\n"
        "    Resource_List.walltime = 04:00:00\n    exec_vnode = (a[0]:ncpus=4:ngpus=4)+"
        "(b[0]:ncpus=4:ngpus=4)\n"
    )
    assert values(reading_of(PBS_READER, "q.txt", text).measured) == {
        "wall_clock_hours": 2.0,
        "time_limit_hours": 4.0,
        "n_gpus": 8,
        "n_nodes": 2,
    }
