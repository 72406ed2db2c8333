"""The `files/` folder of a Weights & Biases run: metadata and summary (config.yaml is apart).

`gpu_count` is what the host has, not what the run used, unless it has one. `_step` counts calls of
`log`, not optimizer steps, and `train/global_step` may be a left-over 0. `_runtime` is in seconds;
the Trainer's own `train_runtime` goes before it. Only named keys are taken: the files may hold
tokens, addresses and users. Source: the documentation of wandb; `rewrite_logs` in transformers.
"""

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.hf_results import run_values
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.rounded_rates import number_of
from compute_budget_planner.readers.run_log import RunLog
from compute_budget_planner.readers.structured import load_mapping, mapping_of

_RESULTS = (
    *("train_runtime", "train_samples_per_second", "train_steps_per_second"),
    *("train_samples", "num_input_tokens_seen"),
)
_STEPS = ("train/global_step", "global_step", "trainer/global_step")


class WandbMetadataReader:
    """`wandb-metadata.json`: where the run took place."""

    format = "wandb_metadata"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping says when a program of which Python started."""
        document = mapping_of(file)
        return document is not None and {"startedAt", "os", "python"} <= set(document.root.mapping)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the device type, and the devices where they are the run's own.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        root = document.root
        log = RunLog(file)
        log.problems += document.problems
        names = {name.scalar: name.line for name in _device_names(root)}
        if len(names) == 1:
            (name, line) = next(iter(names.items()))
            log.say("gpu", name, line)
        _tell_devices(log, root)
        return log.reading(self.format, reference)


def _device_names(root: Node) -> list[Node]:
    listed = root.get("gpu_nvidia") or root.get("gpu_amd")
    found = [item.get("name") for item in listed.items] if listed is not None else []
    found += [root.get("gpu"), root.get("apple", "name")] if not any(found) else []
    return [node for node in found if node is not None and isinstance(node.scalar, str)]


def _tell_devices(log: RunLog, root: Node) -> None:
    """Take the scheduler's count, or the host's when it is one; else ask."""
    per_node, nodes = (
        number_of(_as_number(root.get("slurm", key))) for key in ("gpus_on_node", "nnodes")
    )
    host = root.get("gpu_count")
    count = number_of(host)
    if per_node is not None and nodes is not None:
        log.say("n_gpus", per_node * nodes, root.line_of("slurm", "gpus_on_node"))
    elif host is not None and count == 1:
        log.say("n_gpus", 1, host.line)
    elif host is not None and count is not None:
        log.notes["host_gpus"] = int(count)
        text = f"`gpu_count` {count:.0f} is what the host has; state `n_gpus` of the run"
        log.ask(host.line, text)


def _as_number(node: Node | None) -> Node | None:
    """Return a text of digits as the number it is."""
    if node is not None and isinstance(node.scalar, str) and node.scalar.isascii():
        return Node(int(node.scalar), node.line) if node.scalar.isdecimal() else node
    return node


class WandbSummaryReader:
    """`wandb-summary.json`: the last value of everything the run logged."""

    format = "wandb_summary"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping has the run time W&B adds and its step or its own block."""
        document = mapping_of(file)
        if document is None:
            return False
        top = document.root.mapping.keys()
        return "_runtime" in top and bool({"_wandb", "_step", "_timestamp"} & top)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return duration and speed.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        root = document.root
        log = RunLog(file)
        log.problems += document.problems
        _tell_results(log, root)
        runtime = root.get("_runtime")
        logged = [key for key in root.mapping if not key.startswith("_")]
        if not logged:
            text = "the run logged nothing: it ended before it was under way"
            log.ask(runtime.line if runtime is not None else 1, text)
            log.finished = False
        elif log.told("wall_clock_hours") is None and runtime is not None:
            seconds = number_of(runtime)
            log.say("wall_clock_hours", seconds / 3600 if seconds else None, runtime.line)
        step = root.get("_step")
        if step is not None and log.told("steps_done") is None:
            text = f"`_step` {str(step.scalar)[:20]} counts calls of `log`; state `steps_done`"
            log.ask(step.line, text)
        return log.reading(self.format, reference)


def _tell_results(log: RunLog, root: Node) -> None:
    """Take the Trainer's results, and the optimizer steps when the summary counts them."""
    members = {key: root.get(key) or root.get(f"train/{key}") for key in _RESULTS}
    known = {key: node for key, node in members.items() if node is not None}
    steps = next((n for key in _STEPS if (n := root.get(key)) and number_of(n)), None)
    if steps is not None:
        known["global_step"] = steps
        log.say("steps_done", steps.scalar, steps.line)
    if "train_runtime" in known:
        line = known["train_runtime"].line
        for name, value, _ in run_values(Node(known, line), ""):
            log.say(name, value, line)
        log.finished = True


METADATA_READER = WandbMetadataReader()
SUMMARY_READER = WandbSummaryReader()
