"""Slurm batch scripts: what is allocated, for how long, and what is run (format `slurm`)."""

import re
from collections.abc import Iterable

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.batch_directives import Directive, task_count
from compute_budget_planner.readers.batch_scope import settled_batch, split_problems, still_open
from compute_budget_planner.readers.contract import (
    Basis,
    Fact,
    FileReference,
    Layer,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.durations import SLURM_FORMS, slurm_hours
from compute_budget_planner.readers.job_commands import (
    JobCommands,
    environment_of,
    output_folder,
    read_job_commands,
)
from compute_budget_planner.readers.job_needs import job_needs
from compute_budget_planner.readers.prose import is_prose
from compute_budget_planner.readers.shell import read_commands
from compute_budget_planner.readers.shell_script import ShellScript
from compute_budget_planner.readers.slurm_allocation import Allocation, read_allocation
from compute_budget_planner.readers.slurm_directives import (
    directive_options,
    read_directives,
)
from compute_budget_planner.readers.sweep_agents import sweep_trials

_OWN_WORLD = ("torchrun", "accelerate", "deepspeed", "composer")


class SlurmReader:
    """Reader of scripts with `#SBATCH` lines."""

    format = "slurm"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether Slurm would find a directive."""
        if "#SBATCH" not in file.text:
            return False
        return not is_prose(file) and re.search(r"^#SBATCH\s", file.text, re.M) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return allocation, time limit, command and its options."""
        directives, problems = read_directives(file)
        allocation = read_allocation(file, directives, reference)
        script = read_commands(file, _slurm_variables(directives, allocation))
        commands = read_job_commands(file, script, reference)
        if allocation.n_gpus is None and commands.training is not None:
            allocation = _from_srun(file, commands, directives, allocation, reference)
        last = {directive.name: directive for directive in directives}
        limit, limit_problems = _time_limit(file, last.get("time"))
        n_runs, array_problems = _runs(file, last.get("array"))
        output = last.get("output")
        facts = settled_batch(
            [
                *_allocation_facts(file, allocation),
                *limit,
                *_environment_facts(file, allocation, script, commands),
                *commands.facts,
            ]
        )
        trials = list(sweep_trials(commands.training, n_runs))
        facts += [trial for trial in trials if isinstance(trial, Fact)]
        references = list(commands.references)
        folder = output.value.rpartition("/")[0] if output is not None else ""
        if output is not None and folder and not re.search(r"^[/~]|[%{$]", folder):
            references.append(FileReference(folder, "log_dir", file.at(output.line)))
        return Reading(
            path=file.path,
            format=self.format,
            kind="job",
            facts=tuple(facts),
            problems=(
                *problems,
                *allocation.problems,
                *limit_problems,
                *array_problems,
                *_missing(file, allocation),
                *_used_and_allocated(file, allocation, commands),
                *still_open(commands.problems, facts),
                *split_problems(facts),
                *(trial for trial in trials if isinstance(trial, Problem)),
            ),
            references=tuple(references),
            commands=commands.commands,
            job_name=_job_name(last.get("job-name")),
            environment=environment_of(file),
            output_dir=output_folder(script, commands),
            n_runs=min(n_runs * commands.n_runs, 10**6),
            notes=job_needs(
                script,
                last["cpus-per-task"].value if "cpus-per-task" in last else None,
                last["mem"].value if "mem" in last else None,
            ),
        )


def _job_name(directive: Directive | None) -> str:
    unfilled = directive is None or re.search(r"[{$]", directive.value)
    return "" if unfilled or directive is None else directive.value


def _slurm_variables(directives: Iterable[Directive], found: Allocation) -> dict[str, str]:
    """Return the variables Slurm sets from the options (`man sbatch`, output environment)."""
    last = {directive.name: directive.value for directive in directives}
    known = {
        "SLURM_NTASKS": None if found.ntasks is None else str(found.ntasks),
        "SLURM_NTASKS_PER_NODE": last.get("ntasks-per-node"),
        "SLURM_GPUS_ON_NODE": None if found.gpus_per_node is None else str(found.gpus_per_node),
        "SLURM_GPUS_PER_NODE": last.get("gpus-per-node"),
        "SLURM_GPUS": last.get("gpus"),
        "SLURM_CPUS_PER_TASK": last.get("cpus-per-task"),
        "SLURM_JOB_NAME": last.get("job-name"),
    }
    if found.nodes_line is not None:
        known |= {"SLURM_NNODES": str(found.n_nodes), "SLURM_JOB_NUM_NODES": str(found.n_nodes)}
    return {name: value for name, value in known.items() if value}


def _from_srun(
    file: SourceFile,
    commands: JobCommands,
    directives: list[Directive],
    allocation: Allocation,
    reference: Reference,
) -> Allocation:
    """Read GPUs from the options of `srun` when the head of the script names none."""
    training = commands.training
    if training is None or "srun" not in training.launch.options:
        return allocation
    line = int(training.command.source.rsplit(":", maxsplit=1)[-1])
    words = [
        f"--{name.replace('_', '-')}={value}" if len(name) > 1 else f"-{name}{value}"
        for name, value in training.launch.options["srun"].items()
        if isinstance(value, str) and "$" not in value
    ]
    own = [Directive(name, value, line) for name, value in directive_options(words)]
    return read_allocation(file, [*directives, *own], reference)


def _allocation_facts(file: SourceFile, found: Allocation) -> Iterable[Fact]:
    stated, derived = Basis.CONFIGURED, Basis.DERIVED
    if found.nodes_line is not None:
        place = file.at(found.nodes_line)
        yield Fact("n_nodes", found.n_nodes, stated, place, Layer.CONFIG)
    elif found.n_gpus is not None and not _nodes_from_outside(file):
        yield Fact("n_nodes", 1, Basis.FRAMEWORK_DEFAULT, file.path, Layer.FRAMEWORK_DEFAULT)
    if found.n_gpus is None:
        return
    place = file.at(found.gpus_line)
    if found.gpus_per_node is not None and not found.contradiction:
        yield Fact("gpus_per_node", found.gpus_per_node, stated, place, Layer.CONFIG)
    settled = not found.contradiction
    if settled and (found.nodes_line is not None or not _nodes_from_outside(file)):
        basis = stated if found.n_nodes == 1 else derived
        yield Fact("n_gpus", found.n_gpus, basis, place, Layer.CONFIG)
    if found.gpu:
        yield Fact("gpu", found.gpu, stated, file.at(found.gpu_line), Layer.CONFIG)


def _nodes_from_outside(file: SourceFile) -> bool:
    """Tell whether the script counts nodes it does not ask for: `sbatch --nodes=N` gives them."""
    return re.search(r"SLURM_(NNODES|JOB_NUM_NODES)", file.text) is not None


def _environment_facts(
    file: SourceFile, found: Allocation, script: ShellScript, commands: JobCommands
) -> Iterable[Fact]:
    """Yield the world size a script sets, where the options leave it open.

    Launchers that start a process per GPU set their own; there the variable may count tasks.
    """
    training = commands.training
    if training is None or not (found.n_gpus is None or found.contradiction):
        return
    variable = script.assignments.get("WORLD_SIZE")
    world = commands.environment.get("WORLD_SIZE", variable.value if variable else "")
    place = training.command.source
    if "WORLD_SIZE" not in commands.environment and variable is not None:
        place = file.at(variable.line)
    count = commands.visible_devices
    if training.launch.launcher not in _OWN_WORLD and re.fullmatch(r"[1-9]\d{0,5}", world):
        count = int(world)
    if count is not None:
        yield Fact("n_gpus", count, Basis.CONFIGURED, place, Layer.ENVIRONMENT)


def _time_limit(file: SourceFile, directive: Directive | None) -> tuple[list[Fact], list[Problem]]:
    if directive is None:
        text = "no `--time`: the partition's own limit applies. Give `time_limit_hours`."
        return [], [Problem(file.path, text)]
    place = file.at(directive.line)
    try:
        hours = slurm_hours(directive.value)
    except ValueError as error:
        return [], [Problem(place, f"`--time`: {error}. {SLURM_FORMS}")]
    if hours is None:
        return [], []
    return [Fact("time_limit_hours", hours, Basis.CONFIGURED, place, Layer.CONFIG)], []


def _runs(file: SourceFile, directive: Directive | None) -> tuple[int, list[Problem]]:
    if directive is None:
        return 1, []
    count = task_count(directive.value)
    if count is not None:
        return min(count, 10**6), []
    forms = "no array such as `0-9`, `1-9:2`, `1,3,5` or `0-15%4`"
    return 1, [Problem(file.at(directive.line), f"`--array`: {directive.value[:60]!r} is {forms}.")]


def _missing(file: SourceFile, found: Allocation) -> Iterable[Problem]:
    if found.nodes_line is None and _nodes_from_outside(file):
        text = "the script counts its nodes but asks for none: `sbatch --nodes=N`? Give `n_nodes`."
        yield Problem(file.path, text)
    if found.n_gpus is None:
        yield Problem(file.path, "no option of this job asks for GPUs. Give `n_gpus`.")


def _used_and_allocated(
    file: SourceFile, found: Allocation, commands: JobCommands
) -> Iterable[Problem]:
    used = next((fact for fact in commands.facts if fact.name == "n_gpus"), None)
    settled = found.n_gpus is not None and not found.contradiction
    if used is not None and settled and used.value != found.n_gpus:
        text = (
            f"the command uses {used.value} GPUs, {found.n_gpus} are allocated "
            f"({file.at(found.gpus_line)}): speed follows the former, cost the latter."
        )
        yield Problem(used.source, text)


READER = SlurmReader()
