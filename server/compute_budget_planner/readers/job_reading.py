"""What a job gives, whichever scheduler starts it: what it is granted and what it runs."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

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
from compute_budget_planner.readers.device_words import accelerator_words
from compute_budget_planner.readers.job_commands import (
    JobCommands,
    environment_of,
    output_folder,
    read_job_commands,
)
from compute_budget_planner.readers.job_needs import job_needs
from compute_budget_planner.readers.shell_script import ShellScript
from compute_budget_planner.readers.sweep_agents import sweep_trials
from compute_budget_planner.workload.facts import FactValue

_LARGEST_COUNT = 10**6


@dataclass
class Granted:
    """What a scheduler grants a job, with the place each part is asked for at.

    `n_nodes` and `gpus_per_node` are None where the file leaves them open; `n_runs` counts the
    tasks of an array. With `starts_ranks` the operator tells each pod the number of nodes
    (`PET_NNODES`), so that a torchrun without `--nnodes` runs on all of them.
    """

    n_nodes: int | None = None
    nodes_at: str = ""
    gpus_per_node: int | None = None
    n_gpus: int | None = None
    gpus_at: str = ""
    gpu: str = ""
    gpu_at: str = ""
    time_limit_hours: float | None = None
    time_at: str = ""
    n_runs: int = 1
    job_name: str = ""
    cpus: str = ""
    mem: str = ""
    starts_ranks: bool = False
    facts: list[Fact] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def ask(self, place: str, text: str) -> None:
        """Note what is open, with the question."""
        self.problems.append(Problem(place, text))

    def name_device(self, text: str, place: str, reference: Reference) -> None:
        """Take the accelerator a name means, unless one is known or the name allows several."""
        kinds = [] if self.gpu else accelerator_words(text, reference)
        if len(kinds) == 1:
            self.gpu, self.gpu_at = kinds[0], place
        elif kinds:
            self.ask(place, f"`{text[:60]}` allows {' or '.join(kinds)}. Give `gpu`.")

    @property
    def whole(self) -> int | None:
        """The accelerators of the whole job."""
        if self.n_gpus is not None or self.n_nodes is None or self.gpus_per_node is None:
            return self.n_gpus
        return self.n_nodes * self.gpus_per_node

    def as_facts(self) -> list[Fact]:
        """Return the facts of what is granted."""
        values: list[tuple[str, FactValue | None, str]] = [
            ("n_nodes", self.n_nodes, self.nodes_at or self.gpus_at),
            ("gpus_per_node", self.gpus_per_node, self.gpus_at),
            ("n_gpus", self.whole, self.gpus_at),
            ("gpu", self.gpu or None, self.gpu_at),
            ("time_limit_hours", self.time_limit_hours, self.time_at),
        ]
        derived = self.n_gpus is None and self.n_nodes not in (None, 1)
        return [
            Fact(
                name,
                value,
                Basis.DERIVED if derived and name == "n_gpus" else Basis.CONFIGURED,
                place,
                Layer.CONFIG,
            )
            for name, value, place in values
            if value is not None
        ] + self.facts


def job_reading(
    file: SourceFile,
    format_name: str,
    granted: Granted,
    script: ShellScript,
    reference: Reference,
) -> Reading:
    """Return the reading of a job from what it is granted and the commands it runs."""
    commands = read_job_commands(file, script, reference)
    facts = settled_batch([*granted.as_facts(), *_of_commands(granted, commands)])
    trials = list(sweep_trials(commands.training, granted.n_runs))
    facts += [trial for trial in trials if isinstance(trial, Fact)]
    problems = [trial for trial in trials if isinstance(trial, Problem)]
    problems += [*granted.problems, *still_open(commands.problems, facts)]
    problems += [*split_problems(facts), *_fewer_used(facts, granted)]
    if not commands.commands:
        text = "no command of this file trains: name the script it starts, or give facts."
        problems.append(Problem(file.path, text))
    return Reading(
        path=file.path,
        format=format_name,
        kind="job",
        facts=tuple(facts),
        problems=tuple(problems),
        references=commands.references,
        commands=commands.commands,
        job_name="" if re.search(r"[{$]", granted.job_name) else granted.job_name,
        environment=environment_of(file),
        output_dir=output_folder(script, commands),
        n_runs=min(granted.n_runs * commands.n_runs, _LARGEST_COUNT),
        notes=job_needs(script, granted.cpus, granted.mem),
    )


def _of_commands(granted: Granted, commands: JobCommands) -> Iterable[Fact]:
    options = commands.training.launch.options if commands.training is not None else {}
    torchrun = options.get("torchrun")
    by_operator = granted.starts_ranks and torchrun is not None
    if not by_operator or torchrun is None or {"nnodes", "standalone"} & torchrun.keys():
        return commands.facts
    return [fact for fact in commands.facts if fact.name not in ("n_nodes", "n_gpus")]


def _fewer_used(facts: Iterable[Fact], granted: Granted) -> Iterable[Problem]:
    used = [f for f in facts if f.name == "n_gpus" and f.layer < Layer.CONFIG]
    whole = granted.whole
    if used and whole is not None and used[0].value != whole:
        text = (
            f"the command uses {used[0].value} GPUs, {whole} are allocated "
            f"({granted.gpus_at}): speed follows the former, cost the latter."
        )
        yield Problem(used[0].source, text)


def whole_number(text: object) -> int | None:
    """Return a count of at least 1 as schedulers write it, None for anything else."""
    word = str(text).strip()
    if isinstance(text, bool) or not re.fullmatch(r"0*[1-9]\d{0,5}", word):
        return None
    return int(word)
