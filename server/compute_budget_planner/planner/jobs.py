"""The job blocks of a budget: what `run-experiment` asks for, per job."""

import shlex
from collections.abc import Sequence

from compute_budget_planner.numbers import rounded
from compute_budget_planner.planner.assessing import Assessed
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.limits import clock
from compute_budget_planner.project import private_paths
from compute_budget_planner.readers.contract import Reading
from compute_budget_planner.results import JobBlock
from compute_budget_planner.workload.run import TrainingRun

_DEVICE_OPTIONS = {
    "--nproc_per_node",
    "--nproc-per-node",
    "--num_processes",
    "--num-processes",
    "--num_gpus",
    "--devices",
    "--trainer.devices",
}

OPEN = "to be named"
"""Stands where the project does not say what `run-experiment` will ask."""


def job_block(
    workspace: Workspace,
    assessed: Assessed,
    run: TrainingRun,
    *,
    task_class: str,
    job_name: str,
    extra_options: str,
    walltime: float,
    gpu_hours: float,
    segments: int = 1,
) -> JobBlock:
    """Return one job, ready for `/run-experiment`; walltime in hours, margin included.

    `segments` jobs in a row, each resuming from the last, make up the run.
    """
    job = _job(assessed)
    script = job.path if job is not None else OPEN
    environment = _environment(assessed)
    n_gpus = run.hardware.n_gpus
    words = _resized(_training_words(job), n_gpus, assessed.name, job_name)
    command = private_paths(shlex.join(words), workspace.project.root) if words else ""
    command = " ".join(part for part in (command, extra_options) if part)
    margin = workspace.reference.value("walltime_margin_percent")
    seeds = assessed.seeds if task_class == "formal" else 1
    return JobBlock(
        environment=environment,
        command=command or OPEN,
        job_name=job_name,
        gpus=n_gpus,
        gpu_type=run.hardware.accelerator.name,
        walltime=clock(walltime),
        walltime_margin_percent=margin,
        cpus_per_task=_whole(job, "cpus_per_task"),
        mem=_text(job, "mem"),
        conda_env=_text(job, "conda_env"),
        output_dir=f"outputs/{job_name}/",
        array=f"0-{seeds - 1}%{seeds}" if seeds > 1 else None,
        special=_special(seeds, segments),
        task_class=task_class,
        workload_shape=_shape(n_gpus, seeds),
        expected_gpu_hours=rounded(gpu_hours) * seeds,
        exp_id=None,
        invocation=(
            f"/run-experiment --env {environment} --script {script} --name {job_name} "
            f"--gpus {n_gpus}"
        ),
    )


def _special(seeds: int, segments: int) -> str:
    notes = ["one array task per seed"] if seeds > 1 else []
    if segments > 1:
        notes.append(
            f"chain of {segments} jobs: submit each with --dependency=afterany on the one before "
            "and resume from the last checkpoint"
        )
    return "; ".join(notes)


def _shape(n_gpus: int, seeds: int) -> str:
    if seeds > 1:
        return "independent-targets"
    return "multi-gpu-native" if n_gpus > 1 else "single-device"


def _job(assessed: Assessed) -> Reading | None:
    return next((r for r in assessed.readings if r.kind == "job"), None)


def _environment(assessed: Assessed) -> str:
    if assessed.environment is not None:
        return assessed.environment.key
    named = next((r.environment for r in assessed.readings if r.environment), "")
    return named or OPEN


def _training_words(job: Reading | None) -> tuple[str, ...]:
    if job is None:
        return ()
    training = [c for c in job.commands if c.trains] or list(job.commands)
    return training[0].words if training else ()


def _resized(words: Sequence[str], n_gpus: int, name: str, job_name: str) -> list[str]:
    """Return a command for another number of devices and another job's output folder.

    Launcher options that count devices are rewritten; folders named after the run become the
    job's own, so that a smoke test never writes into the run's outputs.
    """
    resized: list[str] = []
    for index, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in _DEVICE_OPTIONS and equals and value.isdigit():
            resized.append(f"{option}={n_gpus}")
        elif index and words[index - 1] in _DEVICE_OPTIONS and word.isdigit():
            resized.append(str(n_gpus))
        else:
            parts = word.split("/")
            own = [job_name if part == name else part for part in parts[1:]]
            resized.append("/".join([parts[0], *own]))
    return resized


def _text(job: Reading | None, note: str) -> str | None:
    value = job.notes.get(note) if job is not None else None
    return None if value is None else str(value)


def _whole(job: Reading | None, note: str) -> int | None:
    value = job.notes.get(note) if job is not None else None
    return int(value) if isinstance(value, int | float) else None
