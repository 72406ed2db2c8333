"""All commands of a job together: which one trains, and what it says."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.command_line import CommandReading, read_command, script_options
from compute_budget_planner.readers.contract import (
    Basis,
    Command,
    Fact,
    FileReference,
    Layer,
    Problem,
    SourceFile,
)
from compute_budget_planner.readers.option_values import option_key
from compute_budget_planner.readers.script_purpose import purpose_facts
from compute_budget_planner.readers.shell_script import ShellCommand, ShellScript

_OUTPUT_OPTIONS = ("output_dir", "out_dir", "save_dir", "save", "work_dir", "logdir", "log_dir")


@dataclass(frozen=True)
class JobCommands:
    """What the commands of a job give; facts are those of the training command."""

    commands: tuple[Command, ...]
    facts: tuple[Fact, ...]
    problems: tuple[Problem, ...]
    references: tuple[FileReference, ...]
    training: CommandReading | None
    environment: Mapping[str, str]
    visible_devices: int | None
    n_runs: int


def read_job_commands(file: SourceFile, script: ShellScript, reference: Reference) -> JobCommands:
    """Read the commands of a script and choose the one that trains.

    When no name tells, every program in doubt counts as training. Of several training commands
    the first gives the facts, and a problem says that there are more.
    """
    readings: list[tuple[CommandReading, ShellCommand]] = []
    for command in script.commands:
        reading = read_command(command.words, file.at(command.line), reference)
        if reading is not None:
            readings.append((reading, command))
    if not any(reading.command.trains for reading, _ in readings):
        readings = [
            (replace(r, command=replace(r.command, trains=r.doubtful)), c) for r, c in readings
        ]
    training = [(r, c) for r, c in readings if r.command.trains]
    problems = list(script.problems)
    devices = None
    if training:
        first, command = training[0]
        problems += first.problems
        problems += _several(training)
        devices = visible_devices(
            command.environment.get("CUDA_VISIBLE_DEVICES")
            or _value(script, "CUDA_VISIBLE_DEVICES")
        )
    elif readings and not any(reading.launch.shell_script for reading, _ in readings):
        place = readings[0][0].command.source
        problems.append(Problem(place, "no command of this job looks like training."))
    return JobCommands(
        commands=tuple(reading.command for reading, _ in readings),
        facts=_facts(training, file, script) if training else (),
        problems=tuple(problems),
        references=tuple(_references(readings)),
        training=training[0][0] if training else None,
        environment=training[0][1].environment if training else {},
        visible_devices=devices,
        n_runs=training[0][0].n_runs if training else 1,
    )


def _facts(
    training: list[tuple[CommandReading, ShellCommand]], file: SourceFile, script: ShellScript
) -> tuple[Fact, ...]:
    """Return the facts of the first training command, where its alternatives agree with it."""
    reading, command = training[0]
    others = [_values(r) for r, c in training[1:] if command.excludes(c)]
    agreed = [f for f in reading.facts if all(o.get(f.name) == f.value for o in others)]
    purpose = purpose_facts(reading.command.script, reading.command.source)
    return (*agreed, *purpose, *_vocabulary(agreed, file, script))


def _vocabulary(facts: Iterable[Fact], file: SourceFile, script: ShellScript) -> Iterable[Fact]:
    """Take the `VOCAB_SIZE` a Megatron script computes with; the tokenizer sets the option."""
    known = {fact.name: fact.value for fact in facts}
    size = script.assignments.get("VOCAB_SIZE")
    if known.get("framework") != "megatron-lm" or "vocab_size" in known or size is None:
        return
    if re.fullmatch(r"[1-9]\d{1,6}", size.value):
        place, layer = file.at(size.line), Layer.ENVIRONMENT
        yield Fact("vocab_size", int(size.value), Basis.DERIVED, place, layer)


def _several(training: list[tuple[CommandReading, ShellCommand]]) -> Iterable[Problem]:
    first, command = training[0]
    if command.loop_runs != 1:
        times = command.loop_runs or "an unknown number of"
        text = f"the training command stands in a loop of {times} runs; one run is described."
        yield Problem(first.command.source, text)
    others = [
        reading.command.source.rsplit(":", maxsplit=1)[-1]
        for reading, _ in training[1:]
        if _values(reading) != _values(first) or reading.command.script != first.command.script
    ]
    if others:
        branches = any(command.excludes(other) for _, other in training[1:])
        which = "those on which its branches agree" if branches else "those of this one"
        text = (
            f"{len(others) + 1} commands train (also lines {', '.join(others[:5])}); "
            f"the facts are {which}."
        )
        yield Problem(first.command.source, text)


def _values(reading: CommandReading) -> dict[str, object]:
    return {fact.name: fact.value for fact in reading.facts}


def _references(readings: list[tuple[CommandReading, ShellCommand]]) -> Iterable[FileReference]:
    seen = set()
    for reading, _ in readings:
        wanted = reading.command.trains or reading.launch.shell_script
        for item in reading.references if wanted else ():
            if (item.path, item.role) not in seen:
                seen.add((item.path, item.role))
                yield item


def _value(script: ShellScript, name: str) -> str | None:
    assignment = script.assignments.get(name)
    return None if assignment is None else assignment.value


def visible_devices(text: str | None) -> int | None:
    """Return how many devices a `CUDA_VISIBLE_DEVICES` lists, None when it does not say."""
    if text is None or "$" in text:
        return None
    devices = [part for part in text.split(",") if part.strip()]
    return len(devices) or None


def environment_of(file: SourceFile) -> str:
    """Return the environment key of a header comment `# Env: <key> (<display name>)`."""
    match = re.search(r"^#\s*Env:\s*([A-Za-z0-9_.-]+)", file.text, re.MULTILINE)
    return match[1] if match else ""


def output_folder(script: ShellScript, commands: JobCommands) -> str:
    """Return where the training command writes, or the script's `OUTPUT_DIR`; else nothing."""
    training = commands.training
    options = script_options(training.launch.arguments, "")[0] if training else []
    named = {option_key(name): str(raw) for name, raw, _ in options}
    for key in _OUTPUT_OPTIONS:
        folder = named.get(key, "True").removeprefix("./").rstrip("/")
        if folder and folder != "True" and not re.search(r"^[/~.]|\$", folder):
            return folder
    folders = (settled_value(script, name) for name in ("OUTPUT_DIR", "OUT_DIR", "SAVE_DIR"))
    return next((f for f in folders if f and not f.startswith(("/", "~"))), "")


def settled_value(script: ShellScript, name: str) -> str:
    """Return the value a script gives a variable; nothing when it is open or a placeholder."""
    value = _value(script, name) or ""
    return "" if re.search(r"[${]", value) else value


def log_folder(file: SourceFile, script: ShellScript) -> tuple[FileReference, ...]:
    """Return the folder of the job's logs, as a reference."""
    folder = settled_value(script, "LOG_DIR")
    if not folder or folder.startswith(("/", "~")):
        return ()
    return (FileReference(folder, "log_dir", file.at(script.assignments["LOG_DIR"].line)),)
