"""Run:AI submissions in shell scripts, old and new command line (format `runai`).

GPU counts follow the Run:AI CLI references: `-g` is per pod, `submit-dist --workers N` makes N
workers and a master.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from compute_budget_planner.guide.reference import Reference
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
    environment_of,
    log_folder,
    output_folder,
    read_job_commands,
    settled_value,
)
from compute_budget_planner.readers.job_needs import job_needs
from compute_budget_planner.readers.prose import is_prose
from compute_budget_planner.readers.shell import read_commands
from compute_budget_planner.readers.shell_script import ShellCommand

_SUBMITS = re.compile(r"^[^#\n]*\brunai\b[^#\n]*\bsubmit(-dist|-pytorch|-mpi|-tf)?\b", re.MULTILINE)
_FRAMEWORKS = ("pytorch", "mpi", "tf", "tensorflow", "xgboost", "jax")
_SWITCHES = frozenset(
    [
        "interactive",
        "attach",
        "preemptible",
        "large-shm",
        "stdin",
        "tty",
        "host-ipc",
        "host-network",
    ]
)
_GPUS = ("g", "gpu", "gpus", "gpu-devices-request", "gpu-request")
_FRACTIONS = ("gpu-portion-request", "gpu-memory", "gpu-memory-request")
_TYPES = ("node-pools", "node-pool", "node-type", "gpu-type")


@dataclass(frozen=True)
class _Submission:
    """One `runai submit`: its options and the words of the command behind `--`."""

    name: str
    distributed: bool
    options: Mapping[str, str]
    command: tuple[str, ...]
    origin: ShellCommand


class RunaiReader:
    """Reader of scripts that call `runai submit`."""

    format = "runai"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the script submits to Run:AI."""
        if "runai" not in file.text:
            return False
        text = file.text.replace("\\\n", " ")
        return not is_prose(file) and _SUBMITS.search(text) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return GPUs, pods and the command of the first submission."""
        script = read_commands(file)
        submissions = [s for command in script.commands if (s := _submission(command))]
        # `-- bash -c "cd x && python y"` is one submission of several commands.
        own = [s for s in submissions if s.options == submissions[0].options]
        own = [s for s in own if s.origin.line == own[0].origin.line]
        inner = [
            replace(s.origin, words=s.command, environment={}, loop_runs=1)
            for s in own
            if s.command
        ]
        commands = read_job_commands(file, replace(script, commands=tuple(inner)), reference)
        facts: list[Fact] = []
        problems: list[Problem] = []
        runs: int | None = 1
        if submissions:
            first = submissions[0]
            place = file.at(first.origin.line)
            facts, problems = _resources(first, place, reference)
            runs = first.origin.loop_runs
            if runs is None:
                text = "jobs are submitted in a loop of unknown length; one is described."
                problems.append(Problem(place, text))
            if len(submissions) > len(own):
                count = len(submissions) - len(own) + 1
                text = f"{count} jobs are submitted here; the first is described."
                problems.append(Problem(place, text))
        else:
            text = "no `runai submit` of this script can be read. Give `n_gpus` and the command."
            problems.append(Problem(file.path, text))
        return Reading(
            path=file.path,
            format=self.format,
            kind="job",
            facts=(*facts, *commands.facts),
            problems=(*problems, *commands.problems),
            references=(*commands.references, *log_folder(file, script)),
            commands=commands.commands,
            job_name=submissions[0].name if submissions and "$" not in submissions[0].name else "",
            environment=environment_of(file),
            output_dir=output_folder(script, commands),
            n_runs=(runs or 1) * commands.n_runs,
            notes=job_needs(script, settled_value(script, "CPU"), settled_value(script, "MEMORY")),
        )


def _submission(command: ShellCommand) -> _Submission | None:
    words = list(command.words)
    start = next((i for i, w in enumerate(words[:6]) if w.endswith("runai")), None)
    verb = next((i for i, w in enumerate(words) if re.fullmatch(r"submit(-\w+)?", w)), None)
    if start is None or verb is None or verb - start > 3:
        return None
    between = words[start + 1 : verb]
    rest = words[verb + 1 :]
    distributed = "-" in words[verb] or any(word in _FRAMEWORKS for word in between)
    if rest[:1] and rest[0] in _FRAMEWORKS and words[verb] == "submit-dist":
        rest = rest[1:]
    options, name, tail = _options(rest)
    return _Submission(options.get("name", name), distributed, options, tail, command)


def _options(words: Sequence[str]) -> tuple[dict[str, str], str, tuple[str, ...]]:
    """Return the options, the positional name and the command behind `--` or `--command`."""
    options: dict[str, str] = {}
    name = ""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return options, name, tuple(rest)
        key, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-"):
            name = name or word
        elif key == "command" and not equals:
            behind = rest[1:] if rest[:1] == ["--"] else rest
            return options, name, tuple(behind)
        elif equals:
            options[key] = value
        elif key not in _SWITCHES and rest and not rest[0].startswith("-"):
            options[key] = rest.pop(0)
    return options, name, ()


def _resources(
    submission: _Submission, place: str, reference: Reference
) -> tuple[list[Fact], list[Problem]]:
    options = submission.options
    facts: list[Fact] = []
    problems: list[Problem] = []

    def fact(name: str, value: int | str) -> None:
        facts.append(Fact(name, value, Basis.CONFIGURED, place, Layer.CONFIG))

    asked = next((options[key] for key in _GPUS if key in options), None)
    portion = next((f"--{key} {options[key]}" for key in _FRACTIONS if key in options), None)
    pods = _pods(submission)
    if asked is not None and re.fullmatch(r"[1-9]\d{0,5}(\.0+)?", asked):
        per_pod = int(float(asked))
        fact("gpus_per_node", per_pod)
        if pods is not None:
            fact("n_nodes", pods)
            fact("n_gpus", per_pod * pods)
    elif portion is not None or (asked and re.fullmatch(r"0?\.\d+", asked)):
        text = (
            f"the job shares a GPU (`{portion or '-g ' + str(asked)}`): it is counted as one "
            "whole GPU; its GPU-hours are that fraction."
        )
        problems.append(Problem(place, text))
        fact("n_gpus", 1)
    else:
        said = f"`-g` is `{asked[:60]}`" if asked else "no `-g` is given"
        problems.append(Problem(place, f"{said}: the number of GPUs is open. Give `n_gpus`."))
    if pods is None:
        problems.append(Problem(place, "the number of workers is open. Give `n_nodes`."))
    for key in _TYPES:
        kinds = accelerator_words(options.get(key, ""), reference)
        if len(kinds) == 1:
            fact("gpu", kinds[0])
            break
    return facts, problems


def _pods(submission: _Submission) -> int | None:
    workers = submission.options.get("workers")
    if workers is None:
        return 1
    if not re.fullmatch(r"\d{1,5}", workers):
        return None
    # The master is a pod with GPUs of its own.
    return int(workers) + 1 if submission.distributed else max(1, int(workers))


READER = RunaiReader()
