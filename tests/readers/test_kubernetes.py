import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.kubernetes import READER
from file_facts import problem_texts, reading_of, values

POD = """\
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
      containers:
        - name: main
          command: [python, train.py, --max_steps, "50"]
          resources: {limits: {nvidia.com/gpu: "4", cpu: 32, memory: 64Gi}}
"""
JOB = (
    "apiVersion: batch/v1\nkind: Job\nmetadata: {name: lm}\nspec:\n  {more}template:\n"
    "    spec:\n" + POD
)


def read(text):
    return reading_of(READER, "k/job.yaml", text)


def job(more=""):
    return read(JOB.replace("{more}", more))


def counts(found):
    known = {fact.name: fact.value for fact in found.facts}
    return tuple(known.get(name) for name in ("n_nodes", "gpus_per_node", "n_gpus"))


def test_a_job_is_one_pod_with_its_limits_its_device_and_its_command():
    found = job()
    assert values(found.facts) == {
        "n_nodes": 1,
        "gpus_per_node": 4,
        "n_gpus": 4,
        "gpu": "NVIDIA-A100-SXM4-80GB",
        "max_steps": 50,
    }
    assert (found.job_name, dict(found.notes)) == ("lm", {"cpus_per_task": 32, "mem": "64Gi"})
    assert found.problems == ()


def test_the_deadline_is_in_seconds_and_none_is_unknown_not_zero():
    found = values(job("activeDeadlineSeconds: 5400\n  ").facts)
    assert found["time_limit_hours"] == 1.5
    assert "time_limit_hours" not in values(job().facts)


def test_pods_of_an_indexed_job_work_together_and_others_are_runs_of_their_own():
    together = job("completionMode: Indexed\n  completions: 2\n  parallelism: 2\n  ")
    assert (counts(together), together.n_runs) == ((2, 4, 8), 1)
    apart = job("completions: 6\n  parallelism: 2\n  ")
    assert (counts(apart), apart.n_runs) == ((1, 4, 4), 6)
    assert problem_texts(apart) == [
        "k/job.yaml:5: 6 pods without an index are taken as so many runs of one node each."
    ]


@pytest.mark.parametrize(
    ("key", "gpu"),
    [
        ("nvidia.com/a100", "a100"),
        ("amd.com/gpu", None),
        ("nvidia.com/gpu", None),
        ("aws.amazon.com/neuron", None),
    ],
)
def test_the_resource_key_may_name_the_model(key, gpu):
    text = JOB.replace("nvidia.com/gpu:", f"{key}:").replace("{more}", "")
    text = text.replace("      nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}\n", "")
    found = read(text)
    assert values(found.facts).get("gpu") == gpu
    assert counts(found) == (1, 4, 4)


def test_a_slice_of_a_gpu_is_told():
    found = read(JOB.replace("{more}", "").replace("gpu: ", "mig-1g.5gb: "))
    assert problem_texts(found) == [
        "k/job.yaml:11: `mig-1g.5gb` is a slice of a GPU: it is counted as one whole GPU."
    ]


def replicas(kind, specs, extra=""):
    pod = (
        "template: {spec: {containers: [{name: m, command: [sleep, inf], "
        "resources: {limits: {nvidia.com/gpu: 8}}}]}}"
    )
    bare = "template: {spec: {containers: [{name: l, command: [sleep, inf]}]}}"
    text = f"apiVersion: kubeflow.org/v1\nkind: {kind}\nspec:\n  {extra}{specs}:\n"
    return text, pod, bare


def test_a_launcher_without_a_device_is_no_node():
    text, pod, bare = replicas("MPIJob", "mpiReplicaSpecs", "slotsPerWorker: 8\n  ")
    text += f"    Launcher: {{replicas: 1, {bare}}}\n    Worker: {{replicas: 3, {pod}}}\n"
    found = read(text)
    assert counts(found) == (3, 8, 24)
    assert problem_texts(found) == [
        "k/job.yaml: no command of this file trains: name the script it starts, or give facts."
    ]


def test_a_master_is_a_node_beside_the_workers():
    text, pod, _ = replicas("PyTorchJob", "pytorchReplicaSpecs")
    text += f"    Master: {{replicas: 1, {pod}}}\n    Worker: {{replicas: 3, {pod}}}\n"
    assert counts(read(text)) == (4, 8, 32)


def test_placeholders_are_asked_about_and_never_counted_as_one():
    text, pod, _ = replicas("PyTorchJob", "pytorchReplicaSpecs")
    text += f"    Worker: {{replicas: $NUM_NODES, {pod.replace(': 8', ': $GPU_PER_NODE')}}}\n"
    found = read(text)
    assert counts(found) == (None, None, None)
    assert problem_texts(found)[:2] == [
        "k/job.yaml:5: the number of GPUs of a pod is `$GPU_PER_NODE`. Give `n_gpus`.",
        "k/job.yaml:5: `replicas` is `$NUM_NODES`: no count of pods. Give `n_nodes`.",
    ]


def test_other_kinds_multiply_what_they_replicate():
    jobset = (
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nspec:\n  replicatedJobs:\n"
        "    - name: w\n      replicas: 2\n      template: {spec: {parallelism: 3, template: "
        "{spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}}\n"
    )
    ray = (
        "apiVersion: ray.io/v1\nkind: RayJob\nspec:\n  entrypoint: python train.py --epochs 3\n"
        "  rayClusterSpec:\n    headGroupSpec: {template: {spec: {containers: [{name: h}]}}}\n"
        "    workerGroupSpecs: [{replicas: 5, template: {spec: {containers: "
        "[{resources: {limits: {nvidia.com/gpu: 2}}}]}}}]\n"
    )
    train = (
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec:\n  trainer:\n"
        "    numNodes: 2\n    command: [torchrun, train.py, --epochs, '4']\n"
        "    resourcesPerNode: {limits: {nvidia.com/gpu: 8}}\n"
    )
    assert [counts(read(text)) for text in (jobset, ray, train)] == [
        (6, 1, 6),
        (5, 2, 10),
        (2, 8, 16),
    ]
    assert [values(read(text).facts).get("epochs") for text in (ray, train)] == [3, 4]


def test_torchrun_without_nodes_takes_those_of_the_operator():
    command = "command: [torchrun, --nproc_per_node=8, train.py]"
    text, pod, _ = replicas("PyTorchJob", "pytorchReplicaSpecs")
    text += f"    Worker: {{replicas: 4, {pod.replace('command: [sleep, inf]', command)}}}\n"
    assert counts(read(text)) == (4, 8, 32)


def test_the_job_behind_another_document_is_read_at_its_lines():
    text = "apiVersion: v1\nkind: ConfigMap\n---\n" + JOB.replace("{more}", "")
    assert next(f.source for f in read(text).facts if f.name == "n_gpus") == "k/job.yaml:14"


def test_secrets_of_the_environment_are_not_put_into_commands():
    text = JOB.replace("{more}", "").replace(
        'command: [python, train.py, --max_steps, "50"]',
        "env: [{name: HF_TOKEN, value: hf_secret}, {name: STEPS, value: '70'}]\n"
        '          command: [bash, -c, "python train.py --max_steps $STEPS --key $HF_TOKEN"]',
    )
    found = read(text)
    assert values(found.facts)["max_steps"] == 70
    assert "hf_secret" not in repr(found)


def test_a_template_that_is_not_filled_in_is_refused_with_its_line():
    text = "apiVersion: batch/v1\nkind: Job\nspec:\n  x: {{ .Values.x }\n"
    with pytest.raises(FormatError, match=r"k\.yaml"):
        READER.read(SourceFile("k.yaml", text), None)


def test_a_service_is_no_job():
    assert not READER.matches(SourceFile("s.yaml", "apiVersion: v1\nkind: Service\n"))
