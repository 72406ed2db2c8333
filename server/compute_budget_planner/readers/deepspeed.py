"""DeepSpeed configurations: batch, accumulation, ZeRO stage, offload, precision.

`"auto"` leaves a value to the training arguments and decides nothing here. Source of the names:
the DeepSpeed configuration documentation.
"""

from collections.abc import Iterator

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Basis, Layer, Reading, SourceFile
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.structured import load_mapping, mapping_of

_BATCH = {
    "train_batch_size": "global_batch_size",
    "train_micro_batch_size_per_gpu": "micro_batch_size",
    "gradient_accumulation_steps": "grad_accum_steps",
}
_OFFLOADS = {"offload_optimizer": "optimizer", "offload_param": "parameters"}
# GPT-NeoX writes the same keys beside a model of its own.
_NEOX = {"num-layers", "num_layers", "train-iters", "train_iters"}
STAGES = {0: "ddp", 1: "zero1", 2: "zero2", 3: "zero3"}
"""ZeRO stage → `sharding`."""


class DeepSpeedReader:
    """A DeepSpeed JSON (or the same in YAML)."""

    format = "deepspeed"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether ZeRO or a DeepSpeed batch size stands at the top."""
        document = mapping_of(file)
        if document is None:
            return False
        top = document.root.mapping
        if _NEOX & top.keys():
            return False
        if "zero_optimization" in top or "train_micro_batch_size_per_gpu" in top:
            return True
        sections = any(top[k].mapping for k in ("fp16", "bf16") if k in top)
        return "train_batch_size" in top and sections

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return what the file decides by itself.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        facts, problems = direct_facts(
            deepspeed_values(file, document.root), Basis.CONFIGURED, Layer.CONFIG, reference
        )
        return Reading(
            path=file.path,
            format=self.format,
            kind="config",
            facts=facts,
            problems=document.problems + problems,
        )


def deepspeed_values(file: SourceFile, root: Node) -> Iterator[DirectValue]:
    """Return the facts of a DeepSpeed mapping wherever it stands."""
    for key, fact in _BATCH.items():
        yield decided(file, root.get(key), fact)
    stage = root.get("zero_optimization", "stage")
    if stage is not None and stage.scalar != "auto":
        value = STAGES.get(stage.scalar) if isinstance(stage.scalar, int) else None
        yield "sharding", value or stage.scalar, file.at(stage.line)
    for section, offload in reversed(_OFFLOADS.items()):
        device = root.get("zero_optimization", section, "device")
        if device is not None and str(device.scalar) in ("cpu", "nvme"):
            yield "offload", offload, file.at(device.line)
            break
    for precision in ("bf16", "bfloat16", "fp16"):
        enabled = root.get(precision, "enabled")
        if enabled is not None and enabled.value is True:
            yield "precision", precision, file.at(enabled.line)
    optimizer = root.get("optimizer", "type")
    yield decided(file, optimizer, "optimizer")
    yield decided(file, root.get("optimizer", "params", "lr"), "learning_rate")


def decided(file: SourceFile, node: Node | None, fact: str) -> DirectValue:
    """Return a fact with its value and place; without a value where it is left to others."""
    if node is None or node.scalar == "auto":
        return fact, None, file.path
    return fact, node.scalar, file.at(node.line)


READER = DeepSpeedReader()
