"""Launchers peeled off a command: what program is left, and how many processes start it.

One process drives one accelerator in all of these launchers. Options and meanings are those of
the launchers' own manuals: torchrun counts processes per node, accelerate in all, deepspeed
devices per node.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_PYTHON = re.compile(r"python[0-9.]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_PLAIN_WRAPPERS = ("nohup", "time", "env", "numactl", "stdbuf", "nice", "taskset", "exec", "sudo")
_CONTAINERS = ("singularity", "apptainer", "docker", "podman", "shifter", "enroot")
_ENVIRONMENT_RUNNERS = ("uv", "poetry", "pipenv", "conda", "micromamba", "pixi", "hatch", "ray")
_SHELLS = ("bash", "sh", "zsh", "source", ".")
_TORCH_MODULES = ("torch.distributed.run", "torch.distributed.launch", "torch.distributed_launcher")
TOOLS = {
    "llamafactory-cli": "llama-factory",
    "axolotl": "axolotl",
    "tune": "torchtune",
    "litgpt": "litgpt",
    "yolo": "ultralytics",
    "trl": "trl",
    "wandb": "",
    "train_gpt2cu": "llm.c",
    "nnUNetv2_train": "nnu-net",
    "nnUNet_train": "nnu-net",
}
"""Programs that train by themselves, and their framework."""

_SWITCHES = {
    "srun": "exclusive unbuffered u label l overlap pty v exact overcommit O K kill-on-bad-exit "
    "no-kill k disable-status",
    "torchrun": "standalone no_python no-python use_env use-env",
    "accelerate": "multi_gpu use_deepspeed use_fsdp cpu tpu quiet debug same_network",
    "deepspeed": "no_ssh no_local_rank bind_cores_to_rank force_multi",
    "mpirun": "allow-run-as-root oversubscribe v",
    "composer": "",
}
_WORDS_OF = {"mpirun": {"x": 1, "mca": 2}}


@dataclass(frozen=True)
class Launch:
    """A command without its launchers.

    `options` are the launchers' own, by launcher; `program` is the script, module or tool,
    `arguments` what it is given; `shell_script` is set when the command only runs another one.
    """

    launcher: str
    program: str
    arguments: tuple[str, ...]
    framework: str = ""
    shell_script: str = ""
    options: dict[str, dict[str, str | bool]] = field(default_factory=dict)


def peel(words: Sequence[str]) -> Launch | None:
    """Return the program a command starts, or None when it starts nothing that could train."""
    rest = list(words)
    options: dict[str, dict[str, str | bool]] = {}
    launcher = ""
    for _ in range(12):
        while rest and (_ASSIGNMENT.fullmatch(rest[0]) or _open_word(rest)):
            rest = rest[1:]
        if not rest:
            return None
        name = rest[0].rsplit("/", maxsplit=1)[-1]
        name = "mpirun" if name in ("mpiexec", "horovodrun", "mpirun") else name
        if name in _PLAIN_WRAPPERS or name in _CONTAINERS or name in _ENVIRONMENT_RUNNERS:
            rest = _behind_wrapper(rest[1:])
        elif name in _SWITCHES or (_PYTHON.fullmatch(name) and _torch_module(rest)):
            if _PYTHON.fullmatch(name):
                name, rest = "torchrun", rest[rest.index("-m") + 1 :]
            skipped = 2 if name == "accelerate" and rest[1:2] == ["launch"] else 1
            options[name], rest = _take_options(name, rest[skipped:])
            launcher = launcher if name == "srun" and launcher else name
            if name in ("torchrun", "accelerate", "deepspeed", "composer"):
                return _program(launcher, rest, options)
        else:
            return _last(launcher, name, rest, options)
    return None


def _open_word(rest: list[str]) -> bool:
    """Tell whether a variable that may be empty or a wrapper stands in front of a launcher."""
    following = rest[1].rsplit("/", maxsplit=1)[-1] if len(rest) > 1 else ""
    known = following in _SWITCHES or _PYTHON.fullmatch(following) is not None
    return known and re.fullmatch(r"\$\w+|\$\{\w+\}", rest[0]) is not None


def _torch_module(rest: list[str]) -> bool:
    return any(flag == "-m" and module in _TORCH_MODULES for flag, module in pairwise(rest[:5]))


def _last(
    launcher: str, name: str, rest: list[str], options: dict[str, dict[str, str | bool]]
) -> Launch | None:
    if name in TOOLS:
        return Launch(launcher or name, name, tuple(rest[1:]), TOOLS[name], "", options)
    if name.endswith(".py") or _PYTHON.fullmatch(name):
        return _program(launcher or "python", rest, options)
    words = [word for word in rest[1:] if not word.startswith("-")] if name in _SHELLS else rest
    sourced = name in ("source", ".")
    if not words or not (words[0].endswith(".sh") or (name in _SHELLS and not sourced)):
        return None
    if sourced and words[0].startswith(("/", "~", "$")):
        return None  # the set-up of the machine or of conda, no part of the project
    return Launch(launcher or "bash", "", tuple(words[1:]), "", words[0], options)


def _program(
    launcher: str, rest: list[str], options: dict[str, dict[str, str | bool]]
) -> Launch | None:
    """Find `script.py` or `-m module` behind the interpreter's own flags."""
    while rest:
        if rest[0] in ("-m", "--module") and len(rest) > 1:
            return Launch(launcher, rest[1], tuple(rest[2:]), "", "", options)
        if rest[0] in ("-W", "-X") and len(rest) > 1:
            rest = rest[2:]
        elif rest[0] == "-c":
            return None
        elif rest[0].startswith("-") or _PYTHON.fullmatch(rest[0].rsplit("/", maxsplit=1)[-1]):
            rest = rest[1:]
        else:
            return Launch(launcher, rest[0], tuple(rest[1:]), "", "", options)
    return None


def _behind_wrapper(rest: list[str]) -> list[str]:
    """Skip a wrapper's own words up to the first that starts something known."""
    for index, word in enumerate(rest):
        name = word.rsplit("/", maxsplit=1)[-1]
        if word == "--":
            return rest[index + 1 :]
        known = name in _SWITCHES or name in TOOLS or name in _SHELLS or name == "mpiexec"
        if known or _PYTHON.fullmatch(name) or name.endswith((".py", ".sh")):
            return rest[index:]
    return []


def _take_options(launcher: str, rest: list[str]) -> tuple[dict[str, str | bool], list[str]]:
    """Read a launcher's options up to its program."""
    switches = set(_SWITCHES[launcher].split())
    lengths = _WORDS_OF.get(launcher, {})
    found: dict[str, str | bool] = {}
    while rest and rest[0].startswith("-") and rest[0] not in ("-", "-m", "--module"):
        word = rest[0]
        rest = rest[1:]
        if word == "--":
            break
        name, equals, value = word.lstrip("-").partition("=")
        key = name.replace("-", "_")
        attached = re.fullmatch(r"-([A-Za-z])(\d.*)", word)
        if equals:
            found[key] = value
        elif name in switches or not rest:
            found[key] = True
        elif attached and launcher in ("srun", "composer"):
            found[attached[1]] = attached[2]
        else:
            found[key] = rest[0]
            rest = rest[lengths.get(name, 1) :]
    return found, rest


def _number(options: dict[str, str | bool], *names: str) -> int | None:
    for name in names:
        value = options.get(name)
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,7}", value) and int(value) > 0:
            return int(value)
    return None


def process_counts(launch: Launch) -> dict[str, int]:
    """Return `n_gpus`, `n_nodes`, `gpus_per_node` as far as the launchers' options say."""
    for name, rule in _COUNTS.items():
        if name in launch.options:
            return rule(launch.options[name])
    return {}


def _torchrun(options: dict[str, str | bool]) -> dict[str, int]:
    per_node = _number(options, "nproc_per_node")
    nodes = 1 if options.get("standalone") else _number(options, "nnodes")
    if nodes is None and "nnodes" not in options:
        nodes = 1
    return _product(per_node, nodes)


def _accelerate(options: dict[str, str | bool]) -> dict[str, int]:
    total = _number(options, "num_processes")
    nodes = _number(options, "num_machines")
    if total is None:
        return {} if nodes is None else {"n_nodes": nodes}
    counts = {"n_gpus": total}
    if nodes is not None:
        counts["n_nodes"] = nodes
        if total % nodes == 0:
            counts["gpus_per_node"] = total // nodes
    return counts


def _deepspeed(options: dict[str, str | bool]) -> dict[str, int]:
    include = options.get("include") or options.get("i")
    if isinstance(include, str) and "$" not in include:
        hosts = [host.partition(":")[2] for host in include.split("@")]
        if all(hosts):
            return {"n_gpus": sum(len(h.split(",")) for h in hosts), "n_nodes": len(hosts)}
    nodes = _number(options, "num_nodes")
    if nodes is None and not {"num_nodes", "hostfile", "H"} & options.keys():
        nodes = 1
    per_node = _number(options, "num_gpus")
    return _product(per_node, nodes) if per_node else {}


def _mpirun(options: dict[str, str | bool]) -> dict[str, int]:
    total = _number(options, "np", "n")
    hosts = options.get("host", options.get("H"))
    if total is None:
        return {}
    if not isinstance(hosts, str) or "$" in hosts:
        return {"n_gpus": total}
    nodes = len({host.partition(":")[0] for host in hosts.split(",")})
    counts = {"n_gpus": total, "n_nodes": nodes}
    if total % nodes == 0:
        counts["gpus_per_node"] = total // nodes
    return counts


def _composer(options: dict[str, str | bool]) -> dict[str, int]:
    total = _number(options, "world_size")
    per_node = _number(options, "n", "nproc")
    if total is None:
        return _product(per_node, 1)
    return {"n_gpus": total} | ({"gpus_per_node": per_node} if per_node else {})


def _product(per_node: int | None, nodes: int | None) -> dict[str, int]:
    counts = {}
    if nodes is not None and per_node is not None:
        counts["n_gpus"] = nodes * per_node
        counts["n_nodes"] = nodes
    if per_node is not None:
        counts["gpus_per_node"] = per_node
    return counts


_COUNTS: dict[str, Callable[[dict[str, str | bool]], dict[str, int]]] = {
    "torchrun": _torchrun,
    "accelerate": _accelerate,
    "deepspeed": _deepspeed,
    "composer": _composer,
    "mpirun": _mpirun,
}
