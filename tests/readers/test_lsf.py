import pytest
from compute_budget_planner.readers.lsf import READER
from file_facts import problem_texts, reading_of, values


def read(*options, body="python train.py --max_steps 10\n"):
    head = "".join(f"#BSUB {option}\n" for option in options)
    return reading_of(READER, "jobs/a.lsf", f"#!/bin/bash\n{head}{body}")


def hardware(*options):
    names = ("n_nodes", "gpus_per_node", "n_gpus", "gpu", "time_limit_hours")
    found = values(read(*options).facts)
    return {name: found[name] for name in names if name in found}


ONE_HOST = '-R "span[hosts=1]"'


@pytest.mark.parametrize(
    ("limit", "hours"),
    [("72:00", 72.0), ("30", 0.5), ("1:00", 1.0), ("0:45", 0.75), ("24:00/hostA", 24.0)],
)
def test_the_limit_is_minutes_or_hours_and_minutes(limit, hours):
    assert hardware('-gpu "num=1"', f"-W {limit}")["time_limit_hours"] == hours


def test_gpus_count_per_host_and_hosts_follow_from_the_slots_of_each():
    found = hardware("-n 12", '-R "span[ptile=4]"', '-gpu "num=2/host"', "-W 60")
    assert found == {"n_nodes": 3, "gpus_per_node": 2, "n_gpus": 6, "time_limit_hours": 1.0}


def test_gpus_per_task_count_per_slot():
    found = hardware("-n 8", '-R "span[ptile=4]"', '-gpu "num=1/task"', "-W 60")
    assert (found["n_nodes"], found["gpus_per_node"], found["n_gpus"]) == (2, 4, 8)


def test_slots_are_cpu_cores_and_no_gpus():
    assert hardware("-n 12", ONE_HOST, '-gpu "num=1"')["n_gpus"] == 1


def test_several_slots_without_a_span_leave_the_hosts_open():
    found = read("-n 8", '-gpu "num=2"', "-W 60")
    assert {"n_nodes", "n_gpus"}.isdisjoint(values(found.facts))
    assert problem_texts(found) == [
        "jobs/a.lsf:3: 8 slots without `span` may lie on several hosts. Give `n_nodes`."
    ]


def test_the_old_request_of_gpus_stands_in_the_resource_string():
    found = hardware('-R "rusage[ngpus_excl_p=2,mem=8GB] span[hosts=1]"', "-n 4")
    assert (found["n_gpus"], found["n_nodes"]) == (2, 1)


@pytest.mark.parametrize(
    ("options", "gpu"),
    [
        (['-gpu "num=1:gmodel=NVIDIAA10080GBPCIe"'], "A100-pcie-80gb"),
        (['-gpu "num=4:mode=shared:gmodel=TeslaV100_SXM2_32GB"'], "V100-sxm-32gb"),
        (['-gpu "num=1"', "-q gpua100"], "a100"),
        (['-gpu "num=1"', "-q 4a100-40     ##queue name"], "a100-40gb"),
        (['-gpu "num=1"', '-R "select[h100]"'], "h100"),
    ],
)
def test_the_type_stands_in_the_model_the_queue_or_the_selection(options, gpu):
    assert hardware(*options)["gpu"] == gpu


def test_a_queue_that_names_no_device_leaves_the_type_open():
    assert "gpu" not in hardware('-gpu "num=1"', "-q long", '-R "select[gpu32gb]"')


@pytest.mark.parametrize(
    ("name", "runs"), [("sim[1-10]%2", 10), ("a[1,3,5-7]", 5), ("b[1-9:2]", 5), ("plain", 1)]
)
def test_the_number_behind_the_per_cent_sign_limits_and_does_not_count(name, runs):
    found = read(f'-J "{name}"', '-gpu "num=1"', "-W 60")
    assert (found.n_runs, found.job_name) == (runs, name.partition("[")[0])


def test_memory_of_a_slot_is_host_memory_and_commented_options_count_nothing():
    found = read("-n 4", ONE_HOST, '-R "rusage[mem=8GB]"', '-gpu "num=1"', "-W 60")
    assert "peak_memory_gib" not in values(found.facts)
    text = '#!/bin/bash\n# #BSUB -W 10\n##BSUB -W 20\n#BSUB -gpu "num=1"\npython train.py\n'
    assert "time_limit_hours" not in values(reading_of(READER, "a.sh", text).facts)


def test_what_is_missing_is_asked_for():
    found = read("-J py")
    assert problem_texts(found) == [
        "jobs/a.lsf: no option of this job asks for GPUs. Give `n_gpus`.",
        "jobs/a.lsf: no `-W`: the queue's own limit applies. Give `time_limit_hours`.",
    ]


def test_broken_values_are_told_with_what_is_accepted():
    found = read('-gpu "num=x"', "-W soon", '-J "a[b]"', '-R "open')
    assert problem_texts(found) == [
        "jobs/a.lsf:5: the quotes of this `#BSUB` line do not match. Close them.",
        "jobs/a.lsf:2: `-gpu num=x` is no count of at least 1. Give `n_gpus`.",
        "jobs/a.lsf:3: `-W` is `soon`. It takes minutes or hours:minutes.",
        "jobs/a.lsf:4: `-J a[b]` is no array such as `name[1-10]%2`.",
    ]


def test_placeholders_of_a_template_are_no_facts_and_the_plans_are_the_model():
    body = (
        "CONFIG=TPLCONFIG\nPLANS=nnUNetPlans\n"
        'DST="$(uv run python -c "import nnunetv2; print(nnunetv2.__path__[0])")/x.py"\n'
        "uv run nnUNetv2_train 1 ${CONFIG} TPLFOLD --npz -p ${PLANS} -tr T\n"
    )
    found = read('-gpu "num=1"', "-W 72:00", body=body)
    assert values(found.facts) == {
        "n_nodes": 1,
        "gpus_per_node": 1,
        "n_gpus": 1,
        "time_limit_hours": 72.0,
        "model": "nnUNetPlans",
        "framework": "nnu-net",
    }


def test_on_one_gpu_a_bare_batch_size_is_that_of_device_and_job():
    found = read('-gpu "num=1"', "-W 9", body="python train.py --batch_size 128\n")
    assert values(found.facts)["micro_batch_size"] == 128
    assert values(found.facts)["global_batch_size"] == 128
    assert found.problems == ()


def test_fewer_gpus_used_than_allocated_is_told_with_what_each_decides():
    body = "torchrun --nproc_per_node 2 train.py\n"
    found = read('-gpu "num=4"', "-W 9", body=body)
    assert problem_texts(found) == [
        (
            "jobs/a.lsf:4: the command uses 2 GPUs, 4 are allocated (jobs/a.lsf:2): speed follows "
            "the former, cost the latter."
        )
    ]
