"""MLPerf training logs: lines `:::MLLOG {json}` with events, beside whatever else was printed.

Times are milliseconds since the epoch; from `run_start` to `run_stop` evaluation is included.
`throughput` counts samples per second of the whole job. The system is described by `:::SYSJSON`,
NeMo's configuration by the YAML printed behind its heading. Source: the logging rules of
mlcommons/training_policies and `mlperf_logging`.
"""

import json
import re
from statistics import median

from compute_budget_planner.errors import FormatError
from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.log_lines import log_lines
from compute_budget_planner.readers.nodes import Leaf
from compute_budget_planner.readers.run_log import RunLog
from compute_budget_planner.readers.stdout_reader import StdoutReader
from compute_budget_planner.readers.yaml_nodes import load_yaml

_EVENT = re.compile(r":::MLLOG (?=\{)")
_SYSTEM = re.compile(r":::SYSJSON (?=\{)")
_HEADING = "Experiment configuration *"
_MOST_CONFIG_LINES = 600
_ADAPTED = "_lora"
_FACTS = {
    "global_batch_size": "global_batch_size",
    "train_samples": "dataset_examples",
    "gradient_accumulation_steps": "grad_accum_steps",
    "opt_learning_rate_training_steps": "max_steps",
    "opt_base_learning_rate": "learning_rate",
    "lora_rank": "lora_rank",
    "max_sequence_length": "seq_len",
    "max_steps": "max_steps",
}
_CONFIGURED = {
    "trainer.max_steps": "max_steps",
    "trainer.num_nodes": "n_nodes",
    "model.tensor_model_parallel_size": "tp",
    "model.pipeline_model_parallel_size": "pp",
    "model.context_parallel_size": "cp",
    "model.micro_batch_size": "micro_batch_size",
    "model.global_batch_size": "global_batch_size",
    "model.encoder_seq_length": "seq_len",
    "model.optim.lr": "learning_rate",
    "model.peft.lora_tuning.adapter_dim": "lora_rank",
}


def _fill(log: RunLog) -> None:
    rates: list[float] = []
    started = 0
    for number, line in log_lines(log.file, ":::MLLOG", ":::SYSJSON"):
        if match := _EVENT.search(line):
            event = _object(line[match.end() :])
            key, value = str(event.get("key", "")), event.get("value")
            moment = event.get("time_ms")
            if key == "run_start" and isinstance(moment, int):
                started = moment
            elif key == "run_stop" and isinstance(moment, int):
                _read_end(log, event, started, moment, number)
            else:
                rates += _read_event(log, key, value, event, number)
        elif match := _SYSTEM.search(line):
            _read_system(log, _object(line[match.end() :]), number)
    settled = [rate for rate in rates if 0 < rate < 1e15]
    if settled:
        log.say("samples_per_second", median(settled), log.speed_line)
        log.notes["speed_scope"] = "whole job"
    _read_config(log)


def _object(text: str) -> dict[str, object]:
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


def _read_event(
    log: RunLog, key: str, value: object, event: dict[str, object], number: int
) -> list[float]:
    """Take one event; return the throughput it tells, if any."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if key == "submission_benchmark" and isinstance(value, str):
        log.say("model", value.removesuffix(_ADAPTED).replace("_", "-"), number)
        log.say("method", "lora" if value.endswith(_ADAPTED) else None, number)
    elif key in _FACTS and plain and value:
        log.say(_FACTS[key], value, number)
    elif key == "train_loss" and plain:
        log.train.append((_samples(event) or len(log.train) + 1, float(str(value))))
        log.loss_unit = "samples" if _samples(event) else "entries"
    elif key in ("tracked_stats", "throughput"):
        rate = value.get("throughput") if isinstance(value, dict) else value
        if isinstance(rate, int | float) and not isinstance(rate, bool):
            log.speed_line = number
            return [float(rate)]
    return []


def _samples(event: dict[str, object]) -> int:
    """Return the samples trained so far, 0 when an event does not tell."""
    about = event.get("metadata")
    known = about if isinstance(about, dict) else {}
    count = known.get("samples_count", known.get("step"))
    return count if isinstance(count, int) and not isinstance(count, bool) else 0


def _read_end(
    log: RunLog, event: dict[str, object], started: int, stopped: int, number: int
) -> None:
    about = event.get("metadata")
    status = about.get("status") if isinstance(about, dict) else None
    log.finished = status == "success"
    batch, samples = log.told("global_batch_size"), _samples(event)
    if isinstance(batch, int) and batch > 0 and samples and samples % batch == 0:
        log.say("steps_done", samples // batch, number)
    if started and stopped > started:
        log.say("wall_clock_hours", (stopped - started) / 3_600_000, number)


def _read_system(log: RunLog, system: dict[str, object], number: int) -> None:
    nodes, devices = str(system.get("number_of_nodes")), str(system.get("accelerators_per_node"))
    name = re.sub(r"^Dell\s+", "", str(system.get("accelerator_model_name") or ""))
    log.say("gpu", name or None, number)
    if re.fullmatch(r"[1-9]\d{0,4}", nodes):
        log.say("n_nodes", int(nodes), number)
        if re.fullmatch(r"[1-9]\d{0,4}", devices):
            log.say("n_gpus", int(nodes) * int(devices), number)


def _read_config(log: RunLog) -> None:
    """Take NeMo's configuration from the YAML between its heading and the next empty line."""
    body: list[str] = []
    first = 0
    for number, line in log_lines(log.file):
        if body and (not line.strip() or len(body) >= _MOST_CONFIG_LINES):
            break
        if first and (body or line.strip()):
            body.append(line)
            first = first if len(body) > 1 else number
        elif _HEADING in line:
            first = number
    try:
        document = load_yaml(SourceFile(log.file.path, "\n".join(body))) if body else None
    except FormatError:
        return
    leaves: dict[str, Leaf] = (
        {leaf.dotted: leaf for leaf in document.leaves()} if document is not None else {}
    )
    for dotted, fact in _CONFIGURED.items():
        leaf = leaves.get(dotted)
        if leaf is not None and log.told(fact) is None and not isinstance(leaf.value, tuple):
            log.say(fact, leaf.value, first - 1 + (leaf.line or 1))


READER = StdoutReader("mlperf_log", "", ":::MLLOG", _EVENT, _fill)
