"""Accelerate configurations: processes, machines, precision, FSDP and DeepSpeed settings.

`num_processes` counts all machines together. Source of the names: the Accelerate documentation
of `accelerate config`.
"""

from collections.abc import Iterator

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_options import references_of
from compute_budget_planner.readers.contract import Basis, Layer, Reading, SourceFile
from compute_budget_planner.readers.deepspeed import STAGES, decided
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.structured import load_mapping, mapping_of

_KINDS = {"num_processes", "compute_environment", "num_machines", "mixed_precision"}
_STRATEGY = {
    "FULL_SHARD": "fsdp",
    "HYBRID_SHARD": "fsdp",
    "SHARD_GRAD_OP": "zero2",
    "NO_SHARD": "ddp",
    "1": "fsdp",
    "2": "zero2",
    "3": "ddp",
    "4": "fsdp",
}


class AccelerateReader:
    """The YAML that `accelerate config` writes."""

    format = "accelerate"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a distributed type stands beside a key only Accelerate has."""
        document = mapping_of(file)
        if document is None:
            return False
        top = document.root.mapping.keys()
        return "distributed_type" in top and bool(_KINDS & top)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the hardware and sharding the launcher will use.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        facts, problems = direct_facts(
            _values(file, document.root), Basis.CONFIGURED, Layer.CONFIG, reference
        )
        return Reading(
            path=file.path,
            format=self.format,
            kind="config",
            facts=facts,
            problems=document.problems + problems,
            references=references_of(file, document),
        )


def _values(file: SourceFile, root: Node) -> Iterator[DirectValue]:
    on_cpu = root.get("use_cpu")
    if on_cpu is None or on_cpu.scalar is not True:
        yield decided(file, root.get("num_processes"), "n_gpus")
    yield decided(file, root.get("num_machines"), "n_nodes")
    precision = root.get("mixed_precision")
    if precision is not None and precision.scalar is not None:
        # YAML reads an unquoted `no` as false; both mean full precision.
        off = precision.scalar is False or precision.scalar == "no"
        yield "precision", "fp32" if off else precision.scalar, file.at(precision.line)
    kind = root.get("distributed_type")
    match str(kind.scalar if kind else "").upper():
        case "DEEPSPEED":
            yield from _deepspeed(file, root)
        case "FSDP":
            yield from _fsdp(file, root)
        case "MULTI_GPU":
            yield "sharding", "ddp", file.at(root.line_of("distributed_type"))
        case "NO":
            yield "sharding", "none", file.at(root.line_of("distributed_type"))


def _deepspeed(file: SourceFile, root: Node) -> Iterator[DirectValue]:
    section = root.get("deepspeed_config") or Node({}, None)
    stage = section.get("zero_stage")
    if stage is not None and isinstance(stage.scalar, int):
        yield "sharding", STAGES.get(stage.scalar, stage.scalar), file.at(stage.line)
    yield decided(file, section.get("gradient_accumulation_steps"), "grad_accum_steps")
    for key, offload in (
        ("offload_param_device", "parameters"),
        ("offload_optimizer_device", "optimizer"),
    ):
        device = section.get(key)
        if device is not None and device.scalar in ("cpu", "nvme"):
            yield "offload", offload, file.at(device.line)
            return


def _fsdp(file: SourceFile, root: Node) -> Iterator[DirectValue]:
    section = root.get("fsdp_config") or Node({}, None)
    strategy = section.get("fsdp_sharding_strategy")
    reshard = section.get("fsdp_reshard_after_forward")
    if strategy is not None:
        word = str(strategy.scalar).upper()
        yield "sharding", _STRATEGY.get(word, strategy.scalar), file.at(strategy.line)
    elif reshard is not None and isinstance(reshard.scalar, bool):
        yield "sharding", "fsdp" if reshard.scalar else "zero2", file.at(reshard.line)
    else:
        yield "sharding", "fsdp", file.at(root.line_of("distributed_type"))
    recomputed = section.get("fsdp_activation_checkpointing")
    if recomputed is not None and isinstance(recomputed.scalar, bool):
        value = "full" if recomputed.scalar else "none"
        yield "activation_checkpointing", value, file.at(recomputed.line)
    offload = section.get("fsdp_offload_params")
    if offload is not None and offload.scalar is True:
        yield "offload", "parameters", file.at(offload.line)


READER = AccelerateReader()
