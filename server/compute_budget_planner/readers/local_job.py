"""Plain shell scripts that start training on this machine (format `local_job`)."""

import re
from collections.abc import Iterable

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.batch_scope import settled_batch, split_problems, still_open
from compute_budget_planner.readers.contract import (
    Basis,
    Fact,
    Layer,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.job_commands import (
    JobCommands,
    environment_of,
    log_folder,
    output_folder,
    read_job_commands,
    settled_value,
)
from compute_budget_planner.readers.job_needs import job_needs
from compute_budget_planner.readers.shell import read_commands
from compute_budget_planner.readers.shell_script import ShellScript

_SHEBANG = re.compile(r"#!.*\b(ba|z|da|k)?sh\b")
_STARTS = re.compile(
    r"^[^#\n]*(\b(torchrun|deepspeed|accelerate\s+launch|mpirun|composer|llamafactory-cli|litgpt)\b"
    r"|\bpython[0-9.]*\s+[^#\n]*(\.py\b|-m\s)|\buv\s+run\b)",
    re.MULTILINE,
)
_SHELL_NAME = re.compile(r"\.(sh|bash|zsh|slurm|sbatch)$")


class LocalJobReader:
    """Reader of shell scripts without a scheduler."""

    format = "local_job"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the text is a shell script that starts a program or another script."""
        if _SHEBANG.match(file.text) is not None:
            return True
        if _SHELL_NAME.search(file.path) is None:
            return False
        text = re.sub(r"^\s*#.*$", "", file.text, flags=re.MULTILINE).replace("\\\n", " ")
        return _STARTS.search(text) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the training command and the devices it sees."""
        script = read_commands(file)
        commands = read_job_commands(file, script, reference)
        facts = settled_batch([*_device_facts(file, script, commands), *commands.facts])
        return Reading(
            path=file.path,
            format=self.format,
            kind="job",
            facts=tuple(facts),
            problems=(
                *still_open(commands.problems, facts),
                *split_problems(facts),
                *_missing(commands),
            ),
            references=(*commands.references, *log_folder(file, script)),
            commands=commands.commands,
            job_name=settled_value(script, "JOB_NAME"),
            environment=environment_of(file),
            output_dir=output_folder(script, commands),
            n_runs=commands.n_runs,
            notes=job_needs(script, None, None),
        )


def _device_facts(file: SourceFile, script: ShellScript, commands: JobCommands) -> Iterable[Fact]:
    """Yield the devices a script makes visible, as the number of GPUs it may use."""
    if commands.visible_devices is None or commands.training is None:
        return
    variable = script.assignments.get("CUDA_VISIBLE_DEVICES")
    place = file.at(variable.line) if variable else commands.training.command.source
    count = commands.visible_devices
    yield Fact("n_gpus", count, Basis.CONFIGURED, place, Layer.ENVIRONMENT)


def _missing(commands: JobCommands) -> Iterable[Problem]:
    """Yield a question where a launcher takes every GPU of whatever machine it runs on."""
    training = commands.training
    if training is None or commands.visible_devices is not None:
        return
    if not any(fact.name in ("n_gpus", "gpus_per_node") for fact in commands.facts):
        text = f"`{training.launch.launcher}` is not told how many GPUs to use. Give `n_gpus`."
        yield Problem(training.command.source, text)


READER = LocalJobReader()
