"""The coefficients that are fitted: where they stand in the guide, and what is known beforehand.

A prior is physics or a public kernel benchmark; its deviation (of the logarithm) says how sure it
is. A coefficient may stand in several cells.
"""

from dataclasses import dataclass

from coefficients import Cell


@dataclass(frozen=True)
class Coefficient:
    """A number to fit: its cells, its prior and the log deviation of the prior."""

    name: str
    cells: tuple[Cell, ...]
    prior: float
    deviation: float


_GENERATIONS = (
    "volta-turing",
    "ampere-workstation",
    "a100",
    "hopper",
    "blackwell",
)


def _generation(column: str, row: str, prior: float, deviation: float) -> Coefficient:
    cell = Cell("accelerator_generations", row, column)
    return Coefficient(f"{column} {row}", (cell,), prior, deviation)


def _shared(column: str, prior: float, deviation: float) -> Coefficient:
    rows = (*_GENERATIONS, "amd-instinct", "tpu", "other")
    places = tuple(Cell("accelerator_generations", row, column) for row in rows)
    return Coefficient(column, places, prior, deviation)


def _class(row: str, column: str, prior: float, deviation: float) -> Coefficient:
    cell = Cell("framework_classes", row, column)
    return Coefficient(f"{row} {column}", (cell,), prior, deviation)


def _step(name: str, prior: float, deviation: float) -> Coefficient:
    return Coefficient(name, (Cell("step_time", name, "expected"),), prior, deviation)


COEFFICIENTS = (
    *(_generation("matmul_level", row, 1.0, 0.1) for row in _GENERATIONS),
    *(_generation("attention_level", row, 0.35, 0.3) for row in _GENERATIONS),
    _shared("shape_tokens", 99, 0.5),
    _shared("shape_width", 278, 0.5),
    _step("shape_power", 0.77, 0.2),
    _class("megatron", "speed", 1.0, 0.05),
    _class("hf-trainer", "speed", 0.95, 0.05),
    _class("fused-finetuning", "speed", 1.0, 0.05),
    _class("eager-legacy", "speed", 0.95, 0.05),
    _class("megatron", "launch_us", 12, 0.4),
    _class("pytorch-native", "launch_us", 17, 0.3),
    _class("hf-trainer", "launch_us", 20, 0.4),
    _class("fused-finetuning", "launch_us", 14, 0.4),
    _class("eager-legacy", "launch_us", 40, 0.4),
    _class("megatron", "traffic", 1.0, 0.3),
    _class("pytorch-native", "traffic", 1.5, 0.3),
    _class("hf-trainer", "traffic", 2.0, 0.3),
    _class("fused-finetuning", "traffic", 1.2, 0.3),
    _class("eager-legacy", "traffic", 2.0, 0.3),
    _step("achievable_share_tf32", 0.65, 0.2),
    _step("achievable_share_fp32", 0.9, 0.1),
    _step("attention_recent_kernel", 1.6, 0.2),
    _step("compile_launch", 0.4, 0.3),
    _step("compile_traffic", 0.8, 0.2),
    _step("fp8_speed", 1.75, 0.1),
    _step("fp8_cast_elements", 4, 0.4),
    _step("selective_recompute", 0.05, 0.5),
    _step("selective_op_recompute", 0.35, 0.3),
    _step("moe_imbalance", 1.15, 0.1),
    _step("nf4_dequantise_bytes", 3, 0.4),
    _step("nvlink_share", 0.5, 0.3),
    _step("pcie_share", 0.45, 0.3),
    _step("pcie_host_share", 0.2, 0.3),
    _step("network_share", 0.7, 0.2),
    _step("communication_exposed", 0.6, 0.3),
    _step("tensor_exposed", 0.6, 0.3),
    _step("expert_exposed", 0.8, 0.3),
    _step("virtual_stages", 4, 0.5),
    _step("eager_score_bytes", 24, 0.3),
    _step("logit_bytes", 24, 0.3),
)
