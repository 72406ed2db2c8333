"""The job blocks of a budget: what `run-experiment` asks for, per job."""

import re
from dataclasses import dataclass
from pathlib import Path

from compute_budget_planner.numbers import rounded
from compute_budget_planner.planner.assessing import Assessed
from compute_budget_planner.planner.budget.job_command import (
    first_task,
    on_hardware,
    run_folder,
    shell_line,
    training_words,
    with_global_batch,
    with_trainer_devices,
    writing_to,
)
from compute_budget_planner.planner.workspace import Workspace
from compute_budget_planner.planning.limits import clock
from compute_budget_planner.project import private_paths
from compute_budget_planner.readers.contract import Reading
from compute_budget_planner.results import JobBlock
from compute_budget_planner.workload.facts import Basis
from compute_budget_planner.workload.run import TrainingRun

OPEN = "to be named"
"""Stands where the project does not say what `run-experiment` will ask."""


@dataclass(frozen=True)
class JobSpec:
    """What a job is for: its place in the order, its length, and what a person must know.

    `gpu_hours` is of one seed, which takes `tasks` runs: points of a sweep, or tuning trials.
    `segments` jobs in a row, each resuming from the last, make up one run. A job that is not the
    main run itself (`own_outputs` false) must write elsewhere.
    """

    name: str
    priority: str
    seeds: int
    walltime_hours: float
    expected_hours: float
    gpu_hours: float
    tasks: int = 1
    segments: int = 1
    options: str = ""
    notes: tuple[str, ...] = ()
    own_outputs: bool = False
    exp_id: str | None = None


def variant_job_name(variant: str) -> str:
    """Return a name that schedulers, shells and folders take: `ablation-no-attention`."""
    plain = re.sub(r"[^\w.]+", "-", variant).strip("-.")
    return f"ablation-{plain}" if plain else "ablation"


def job_block(
    workspace: Workspace, assessed: Assessed, run: TrainingRun, spec: JobSpec
) -> JobBlock:
    """Return one job, ready for `/run-experiment`."""
    job = _job(assessed)
    environment = _environment(assessed)
    n_gpus = run.hardware.n_gpus
    smoke = spec.priority == "smoke"
    folder = f"outputs/{spec.name}"
    if spec.own_outputs:
        folder = _own_folder(workspace, job, spec.name)
    command, notes = _command(
        workspace, assessed, run, None if spec.own_outputs else folder, first=smoke
    )
    notes += spec.notes
    if command and smoke and not spec.options:
        notes.append("no option known here shortens this command: stop it after the smoke's steps")
    tasks = spec.seeds * spec.tasks
    if tasks > 1:
        notes.append(_per_task(command, spec))
    if spec.segments > 1:
        notes.append(
            f"chain of {spec.segments} jobs: submit each with --dependency=afterany on the one "
            "before and resume from the last checkpoint"
        )
    command = " ".join(part for part in (command, spec.options) if part)
    return JobBlock(
        environment=environment,
        command=command or OPEN,
        job_name=spec.name,
        gpus=n_gpus,
        gpu_type=run.hardware.accelerator.name,
        walltime=clock(spec.walltime_hours),
        walltime_margin_percent=_margin_percent(spec),
        cpus_per_task=_whole(job, "cpus_per_task"),
        mem=_text(job, "mem", workspace.project.root),
        conda_env=_text(job, "conda_env", workspace.project.root),
        output_dir=f"{folder}/",
        array=f"0-{tasks - 1}%{tasks}" if tasks > 1 else None,
        special="; ".join(notes),
        task_class="smoke" if smoke else "formal",
        workload_shape=_shape(n_gpus, tasks),
        priority=spec.priority,
        expected_gpu_hours=rounded(spec.gpu_hours) * spec.seeds,
        exp_id=spec.exp_id,
        invocation=_invocation(environment, job, spec.name, n_gpus),
    )


def _command(
    workspace: Workspace,
    assessed: Assessed,
    run: TrainingRun,
    other_folder: str | None,
    *,
    first: bool,
) -> tuple[str, list[str]]:
    """Return the training command on the run's devices, and what it leaves to a person.

    With `other_folder` it must not write into the run's own outputs; `first` takes one task of
    an array.
    """
    job = _job(assessed)
    words = training_words(job)
    if not words or job is None:
        return "", []
    planned = assessed.assessment.run
    shrunk = planned is not None and run.hardware.n_gpus < planned.hardware.n_gpus
    words = tuple(on_hardware(words, run.hardware, shrunk=shrunk))
    notes: list[str] = []
    if planned is not None and shrunk:
        if any(r.format == "lightning_cli" for r in assessed.readings):
            words = tuple(with_trainer_devices(words, run.hardware))
        words, notes = _with_own_batch(assessed, planned, run, words)
    if any("$(" in word or "`" in word for word in words):
        notes.append("a command substitution stands quoted, so that nothing runs: write it out")
    if other_folder is not None:
        moved = writing_to(words, job.output_dir, other_folder)
        if moved == list(words):
            notes.append(f"the command names no output folder: let it write to {other_folder}/")
        words = tuple(first_task(moved) if first else moved)
    return shell_line(words, workspace.project.root), notes


def _with_own_batch(
    assessed: Assessed, planned: TrainingRun, small: TrainingRun, words: tuple[str, ...]
) -> tuple[tuple[str, ...], list[str]]:
    """Return a smaller job's command with its global batch, or what a person must set."""
    whole, samples = planned.batch.global_batch_size, small.batch.global_batch_size
    fact = assessed.assessment.resolution.facts.get("global_batch_size")
    if samples == whole or fact is None or fact.basis not in (Basis.CONFIGURED, Basis.STATED):
        return words, []
    changed = tuple(with_global_batch(words, samples))
    if changed != words:
        return changed, []
    return words, [
        f"set the global batch to {samples:,}: the run's {whole:,} are for all its devices"
    ]


def _own_folder(workspace: Workspace, job: Reading | None, job_name: str) -> str:
    """Return where a job writes: its command's folder, its own, or that of `run-experiment`."""
    own = run_folder(training_words(job)) or (job.output_dir if job is not None else "")
    return private_paths(own, workspace.project.root) or f"outputs/{job_name}"


def _per_task(command: str, spec: JobSpec) -> str:
    each = "seed" if spec.tasks == 1 else ("value" if spec.seeds == 1 else "seed and value")
    if spec.tasks == 1 and "SLURM_ARRAY_TASK_ID" in command:
        return "one array task per seed"
    return f"one array task per {each}: $SLURM_ARRAY_TASK_ID must choose {each} and output folder"


def _invocation(environment: str, job: Reading | None, job_name: str, n_gpus: int) -> str:
    """Return the /run-experiment line; what is not known is left out, and it asks."""
    known = {
        "--env": "" if environment == OPEN else environment,
        "--script": job.path if job is not None else "",
        "--name": job_name,
        "--gpus": str(n_gpus),
    }
    return " ".join(["/run-experiment", *(f"{k} {v}" for k, v in known.items() if v)])


def _margin_percent(spec: JobSpec) -> float | None:
    """Return how far the walltime lies above the expected time; a chain's jobs end at the limit."""
    return 100 * (spec.walltime_hours / spec.expected_hours - 1) if spec.segments == 1 else None


def _shape(n_gpus: int, tasks: int) -> str:
    if tasks > 1:
        return "independent-targets"
    return "multi-gpu-native" if n_gpus > 1 else "single-device"


def _job(assessed: Assessed) -> Reading | None:
    return next((r for r in assessed.readings if r.kind == "job"), None)


def _environment(assessed: Assessed) -> str:
    if assessed.environment is not None:
        return assessed.environment.key
    named = next((r.environment for r in assessed.readings if r.environment), "")
    local = any(r.format == "local_job" for r in assessed.readings)
    return named or ("local" if local else OPEN)


def _text(job: Reading | None, note: str, root: Path) -> str | None:
    value = job.notes.get(note) if job is not None else None
    return None if value is None else private_paths(str(value), root)


def _whole(job: Reading | None, note: str) -> int | None:
    value = job.notes.get(note) if job is not None else None
    return int(value) if isinstance(value, int | float) else None
