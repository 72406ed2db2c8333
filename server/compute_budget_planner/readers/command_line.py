"""A command of a job becomes facts, references to other files, and whether it trains."""

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import (
    Basis,
    Command,
    Fact,
    FileReference,
    Layer,
    Problem,
)
from compute_budget_planner.readers.launchers import TOOLS, Launch, peel, process_counts
from compute_budget_planner.readers.option_names import Option, facts_from_options
from compute_budget_planner.readers.option_values import fact_of_key, option_key

_HYDRA = re.compile(r"[+~]{0,2}[A-Za-z_][\w./@-]*=.*", re.DOTALL)
_CONFIG_NAME = re.compile(r"[^\s=]+\.(ya?ml|json|toml)")
_DATA_FILE = re.compile(r"(?!/)[^\s$]+\.(json|jsonl|csv|tsv|parquet|txt|bin|arrow|yaml|tar)")
_CONFIG_KEY = re.compile(r"conf|cfg|^c$|^f$|deepspeed|^ds_|zero|recipe|args")
_PLAIN_TAIL = re.compile(r"(?<=/)(?:[\w.@-]+/)*[\w.@-]+$")
_ROLES = {
    "deepspeed": "deepspeed",
    "deepspeed_config": "deepspeed",
    "deepspeed_config_file": "deepspeed",
    "ds_config": "deepspeed",
    "config_file": "accelerate",
    "model_config": "model_config",
    "config_overrides": "model_config",
    "config_name": "model_config",
    "model_config_path": "model_config",
}
_TRAINS = re.compile(
    r"(pre|re)?train(er|ing)?|finetun(e|ing)|tun(e|ing)|ft|fit|sft|dpo|ppo|grpo|rlhf|distill|"
    r"clm|mlm|speedrun|pretraining"
)
_TRAINS_NOT = re.compile(
    r"eval(uate|uation|s)?|test(s|ing)?|infer(ence)?|generat(e|ion)|gen|sample|sampling|predict|"
    r"prepar(e|ation)|preprocess(ing)?|download|convert|tokeni[sz]e|export|benchmark|plot|visuali[sz]e|"
    r"filter|merge|data|dataset|collect|score|demo|serve|setup|check|stats|analy[sz]e|cache|extract"
)
_OTHER_VERBS = (
    *("vllm-serve", "chat", "env", "export", "api", "webchat", "webui", "eval", "download", "cp"),
    *("ls", "preprocess", "inference", "merge-lora", "generate", "evaluate", "convert_to_litgpt"),
    *("val", "predict", "benchmark", "login", "sync", "sweep", "offline", "online", "merge"),
)
_SWITCHED_OFF = ("eval_only", "test_only", "evaluate", "test", "eval", "inference", "predict_only")
_SIGNATURES = (
    ("open_clip", {"train_num_samples"}),
    ("kohya", {"network_module"}),
    ("transformers", {"per_device_train_batch_size"}),
    ("megatron-lm", {"micro_batch_size", "num_layers"}),
    ("diffusers", {"pretrained_model_name_or_path", "train_batch_size"}),
    ("nanogpt", {"block_size", "n_layer"}),
    ("detectron2", {"solver.ims_per_batch"}),
    ("mae", {"mask_ratio", "batch_size"}),
    ("optimum-neuron", {"tp_size", "pp_size", "train_batch_size"}),
    ("aws-fsdp", {"max_context_width", "train_batch_size"}),
)


@dataclass(frozen=True)
class CommandReading:
    """What one command gives; `doubtful` when only its surroundings tell whether it trains."""

    command: Command
    facts: tuple[Fact, ...]
    problems: tuple[Problem, ...]
    references: tuple[FileReference, ...]
    launch: Launch
    doubtful: bool
    n_runs: int


def read_command(words: Sequence[str], source: str, reference: Reference) -> CommandReading | None:
    """Read a command line; None when it starts nothing that could train."""
    launch = peel(words)
    if launch is None:
        return None
    options, loose = script_options(launch.arguments, source)
    framework = launch.framework or _framework(options, launch.program)
    multirun = any(word in ("-m", "--multirun") for word in launch.arguments)
    swept = [o for o in options if multirun and "," in str(o[1])]
    facts, problems = facts_from_options(
        [o for o in options if o not in swept], framework, Layer.COMMAND_LINE, reference
    )
    launcher_facts, launcher_problems = _launcher_facts(launch, framework, source, reference)
    named = {fact.name for fact in facts}
    found = [*facts, *(fact for fact in launcher_facts if fact.name not in named)]
    if framework and "framework" not in named:
        found.append(Fact("framework", framework, Basis.DERIVED, source, Layer.COMMAND_LINE))
    trains, doubtful = _trains(launch, options)
    n_runs = 1
    for _, raw, _ in swept:
        n_runs = min(n_runs * len(str(raw).split(",")), 10**6)
    return CommandReading(
        command=Command(tuple(words), launch.launcher, plain_path(launch.program), trains, source),
        facts=tuple(found),
        problems=(*problems, *launcher_problems, *_unsettled(loose, source)),
        references=tuple(_references(launch, options, loose, source)),
        launch=launch,
        doubtful=doubtful,
        n_runs=n_runs,
    )


def script_options(arguments: Sequence[str], source: str) -> tuple[list[Option], list[str]]:
    """Split arguments into options and loose words.

    Read are `--key value`, `--key=value`, `-k value`, `key=value`, `+key=value`, `--flag` (true)
    and `--no-flag` (false).
    """
    options: list[Option] = []
    loose: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if re.match(r"-{1,2}[A-Za-z]", word):
            name, equals, value = word.partition("=")
            raw: object = value
            if not equals:
                raw = True
                if rest and not re.match(r"-{1,2}[A-Za-z]", rest[0]) and not _HYDRA.match(rest[0]):
                    raw = rest.pop(0)
                elif (match := re.match(r"--no[-_](.+)", name)) is not None:
                    name, raw = match[1], False
            options.append((name, raw, source))
        elif _HYDRA.fullmatch(word):
            name, _, value = word.partition("=")
            if not name.startswith("~"):
                options.append((name, value, source))
        else:
            loose.append(word)
    return options, loose


def _framework(options: Iterable[Option], program: str) -> str:
    names = {option_key(name) for name, _, _ in options}
    for framework, signature in _SIGNATURES:
        if signature <= names:
            return framework
    words = re.split(r"[._/-]", program.lower())
    for word, framework in (("verl", "verl"), ("torchtitan", "torchtitan"), ("clip", "open_clip")):
        if word in words:
            return framework
    return "axolotl" if "axolotl" in words else ""


def _launcher_facts(
    launch: Launch, framework: str, source: str, reference: Reference
) -> tuple[list[Fact], tuple[Problem, ...]]:
    counts = process_counts(launch)
    problems: list[Problem] = []
    if framework in _OF_CORES and counts:
        text = (
            "the processes are NeuronCores, two to a Trainium1 chip, not GPUs. Give `gpu` and "
            "`n_gpus` in chips."
        )
        counts, problems = {}, [Problem(source, text)]
    found = [
        Fact(name, value, Basis.CONFIGURED, source, Layer.COMMAND_LINE)
        for name, value in counts.items()
    ]
    accelerate = launch.options.get("accelerate", {})
    own = [(name, accelerate[name], source) for name in _ACCELERATE if name in accelerate]
    if accelerate.get("use_fsdp"):
        own.append(("sharding", "fsdp", source))
    facts, more = facts_from_options(own, "accelerate", Layer.COMMAND_LINE, reference)
    return [*found, *facts], (*problems, *more)


_OF_CORES = ("optimum-neuron",)


_ACCELERATE = ("mixed_precision", "zero_stage", "gradient_accumulation_steps")


def _trains(launch: Launch, options: Iterable[Option]) -> tuple[bool, bool]:
    """Return whether a command trains, and whether that is in doubt."""
    states = {option_key(name): str(raw).lower() for name, raw, _ in options}
    evaluates = any(states.get(name) in ("true", "1") for name in _SWITCHED_OFF)
    if launch.shell_script or evaluates or ("do_eval" in states and "do_train" not in states):
        return False, False
    if launch.program in TOOLS:
        verb = launch.arguments[0] if launch.arguments else ""
        return verb not in _OTHER_VERBS and launch.program + verb != "wandb", False
    tail = launch.program.rsplit("/", maxsplit=1)[-1].removesuffix(".py")
    tail = tail if "/" in launch.program else ".".join(tail.split(".")[-2:])
    words = [word.lower() for word in re.split(r"[._-]|(?<=[a-z])(?=[A-Z])", tail)]
    other = any(_TRAINS_NOT.fullmatch(word) for word in words)
    trains = not other and any(_TRAINS.fullmatch(word) for word in words)
    return trains, not trains and not other


def _references(
    launch: Launch, options: Iterable[Option], loose: Iterable[str], source: str
) -> Iterable[FileReference]:
    program = launch.shell_script or launch.program
    if launch.shell_script or program.endswith(".py"):
        yield FileReference(plain_path(program), "script", source)
    for launcher in ("accelerate", "deepspeed"):
        for name in ("config_file", "deepspeed_config_file"):
            path = launch.options.get(launcher, {}).get(name)
            if isinstance(path, str):
                yield FileReference(plain_path(path), _ROLES[name], source)
    values = {option_key(name): plain_path(str(raw)) for name, raw, _ in options}
    for key, value in values.items():
        role = _role(key, value)
        if role:
            yield FileReference(value, role, source)
    if values.get("config_path") and values.get("config_name"):
        parts = (posixpath.dirname(program), values["config_path"], values["config_name"])
        yield FileReference(posixpath.join(*parts) + ".yaml", "config", source)
    for word in map(plain_path, loose):
        if _CONFIG_NAME.fullmatch(word) or (word.endswith(".py") and "config" in word):
            yield FileReference(word, "config", source)


def _role(key: str, value: str) -> str:
    """Return what kind of file an option names, nothing when it names none."""
    if fact_of_key(key, "") == "dataset":
        return "data" if _DATA_FILE.fullmatch(value) else ""
    if _CONFIG_NAME.fullmatch(value):
        # Only the launcher itself reads accelerate's own `--config_file`.
        role = _ROLES.get(key, "config").replace("accelerate", "config")
        return role if role != "config" or _CONFIG_KEY.search(key) or value[-5:] != ".json" else ""
    return "config" if key in ("config", "cfg") and value.endswith(".py") else ""


def plain_path(path: str) -> str:
    """Return a path without a leading `$ROOT/` or `$(pwd)/`: whichever folder above it is."""
    tail = _PLAIN_TAIL.search(path) if path.startswith("$") else None
    return tail.group() if tail else path


def _unsettled(loose: Iterable[str], source: str) -> Iterable[Problem]:
    for word in loose:
        if word in ("$@", "$*", "${@}") or re.fullmatch(r"\$\{?\d+\}?", word):
            text = (
                f"`{word}`: arguments given at the call are not in this file; give them as facts."
            )
            yield Problem(source, text)
        elif plain_path(word).startswith("$"):
            text = f"`{word[:60]}` may hold options that this file does not show."
            yield Problem(source, text)
