"""A job's training command as another job needs it: its device counts, its output folder."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from compute_budget_planner.project import private_paths
from compute_budget_planner.readers.contract import Reading
from compute_budget_planner.readers.launchers import peel
from compute_budget_planner.readers.option_values import fact_of_key, option_key
from compute_budget_planner.workload.run import Hardware

_PER_NODE = {"--nproc_per_node", "--nproc-per-node", "--num_gpus", "--gpus-per-node"}
_IN_ALL = {"--num_processes", "--num-processes", "--gpus", "-G", "-np"}
_NODES = {"--nnodes", "--num_nodes", "--num_machines", "--num-machines", "--nodes", "-N"}
_SCRIPT_PER_NODE = {"--devices", "--trainer.devices", "trainer.devices"}
_SCRIPT_NODES = {"--trainer.num_nodes", "trainer.num_nodes"}
_RUN_FOLDER_KEYS = {
    "output_dir",
    "out_dir",
    "save_dir",
    "work_dir",
    "default_root_dir",
    "trainer.default_root_dir",
    "hydra.run.dir",
}
_OUTPUT_KEYS = _RUN_FOLDER_KEYS | {"save", "logging_dir", "logdir", "log_dir", "checkpoint_dir"}
_TASK = ("${SLURM_ARRAY_TASK_ID}", "$SLURM_ARRAY_TASK_ID")


def training_words(job: Reading | None) -> tuple[str, ...]:
    """Return the words of the command by which a job trains; none when it is not known."""
    if job is None:
        return ()
    training = [c for c in job.commands if c.trains] or list(job.commands)
    return training[0].words if training else ()


def on_hardware(words: Sequence[str], hardware: Hardware, *, shrunk: bool) -> list[str]:
    """Return a command with the counts of GPUs and nodes its launchers take rewritten.

    torchrun, deepspeed and Lightning count per node, accelerate and mpirun in all; srun counts
    tasks, which are processes when it starts the program itself. A `shrunk` accelerate command
    gets the counts its configuration file would otherwise give.
    """
    launch = peel(words)
    arguments = len(launch.arguments) if launch is not None else len(words)
    head, tail = list(words[: len(words) - arguments]), words[len(words) - arguments :]
    per_node, in_all = set(_PER_NODE), set(_IN_ALL)
    launchers = set(launch.options) if launch is not None else set()
    if launchers == {"srun"}:
        per_node.add("--ntasks-per-node")
        in_all |= {"--ntasks", "-n"}
    counts = dict.fromkeys(per_node, min(hardware.n_gpus, hardware.gpus_per_node))
    counts |= dict.fromkeys(in_all, hardware.n_gpus) | dict.fromkeys(_NODES, hardware.n_nodes)
    of_script = dict.fromkeys(_SCRIPT_PER_NODE, min(hardware.n_gpus, hardware.gpus_per_node))
    of_script |= dict.fromkeys(_SCRIPT_NODES, hardware.n_nodes)
    if shrunk and "accelerate" in launchers and "launch" in head:
        given = {option_key(word.partition("=")[0]) for word in head}
        behind = head.index("launch") + 1
        missing = {"num_machines": hardware.n_nodes, "num_processes": hardware.n_gpus}
        for option, count in missing.items():
            if option not in given:
                head[behind:behind] = [f"--{option}={count}"]
    return [*_counted(head, counts), *_counted(tail, of_script)]


def _counted(words: Sequence[str], counts: Mapping[str, int]) -> list[str]:
    counted: list[str] = []
    for index, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in counts and equals and value.isdigit():
            counted.append(f"{option}={counts[option]}")
        elif index and words[index - 1] in counts and word.isdigit():
            counted.append(str(counts[words[index - 1]]))
        else:
            counted.append(word)
    return counted


def with_global_batch(words: Sequence[str], samples: int) -> list[str]:
    """Return a command whose option for the global batch, where it has one, says `samples`.

    Megatron and its kin take that size for granted whatever the number of devices: on fewer of
    them a step would take as many more accumulation steps.
    """
    changed: list[str] = []
    for index, word in enumerate(words):
        option, equals, value = word.partition("=")
        if equals and value.isdigit() and _means_global_batch(option):
            changed.append(f"{option}={samples}")
        elif index and word.isdigit() and _means_global_batch(words[index - 1]):
            changed.append(str(samples))
        else:
            changed.append(word)
    return changed


def _means_global_batch(option: str) -> bool:
    return fact_of_key(option_key(option), "") == "global_batch_size"


def with_trainer_devices(words: Sequence[str], hardware: Hardware) -> list[str]:
    """Return a LightningCLI command that says how many devices and nodes its Trainer takes.

    On the command line they overrule the configuration, which counts those of the whole run.
    """
    given = {word.partition("=")[0] for word in words}
    counts = {
        "--trainer.devices": min(hardware.n_gpus, hardware.gpus_per_node),
        "--trainer.num_nodes": hardware.n_nodes,
    }
    return [*words, *(f"{name}={count}" for name, count in counts.items() if name not in given)]


def run_folder(words: Sequence[str]) -> str:
    """Return the output folder a command names, or nothing."""
    for index, word in enumerate(words):
        option, equals, value = word.partition("=")
        following = "" if equals else next(iter(words[index + 1 : index + 2]), "")
        folder = value or following
        named = word.startswith("-") or equals
        if named and option_key(option) in _RUN_FOLDER_KEYS and not folder.startswith("-"):
            return folder.removeprefix("./").rstrip("/")
    return ""


def writing_to(words: Sequence[str], own: str, folder: str) -> list[str]:
    """Return a command that writes to `folder` instead of the job's `own` output folder.

    The values of options that name an output folder are replaced, and paths inside `own`; so are
    other options with the same value, or the job would go on from the run's own checkpoints.
    """
    left = _output_folders(words)
    moved: list[str] = []
    for index, word in enumerate(words):
        option, equals, value = word.partition("=")
        previous = words[index - 1] if index else ""
        if equals and option_key(option) in _OUTPUT_KEYS:
            moved.append(f"{option}={folder}")
        elif (
            previous.startswith("--")
            and not word.startswith("-")
            and option_key(previous) in _OUTPUT_KEYS
        ):
            moved.append(folder)
        elif equals and value in left:
            moved.append(f"{option}={folder}")
        elif word in left:
            moved.append(folder)
        elif equals:
            moved.append(f"{option}={_inside(value, own, folder)}")
        else:
            moved.append(_inside(word, own, folder))
    return moved


def _output_folders(words: Sequence[str]) -> set[str]:
    """Return the paths of folders that a command names as its output."""
    found = set()
    for index, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option_key(option) in _OUTPUT_KEYS and (equals or word.startswith("--")):
            folder = value if equals else next(iter(words[index + 1 : index + 2]), "")
            found.add(folder)
    return {folder for folder in found if "/" in folder}


def _inside(path: str, own: str, folder: str) -> str:
    plain = path.removeprefix("./")
    if own and (plain == own or plain.startswith(f"{own}/")):
        return folder + plain[len(own) :]
    return path


def first_task(words: Sequence[str]) -> list[str]:
    """Return a command of a job array as its first task runs it."""
    settled = list(words)
    for variable in _TASK:
        settled = [word.replace(variable, "0") for word in settled]
    return settled


def shell_line(words: Sequence[str], root: Path) -> str:
    """Return words as one line of shell, without absolute paths, users, hosts and secrets."""
    return private_paths(" ".join(map(_quoted, words)), root)


def _quoted(word: str) -> str:
    """Quote a word so that its variables are still expanded, and nothing is executed."""
    quoted = shlex.quote(word)
    if quoted == word or "$" not in word or "$(" in word or "`" in word:
        return quoted
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
