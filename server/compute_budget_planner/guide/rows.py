"""The typed rows of the reference tables."""

from dataclasses import dataclass

from compute_budget_planner.errors import GuideError
from compute_budget_planner.guide.tables import Row


@dataclass(frozen=True)
class Quantity:
    """A number of the guide with its 10th, 50th and 90th percentile and its unit."""

    name: str
    low: float
    expected: float
    high: float
    unit: str

    @classmethod
    def from_row(cls, row: Row) -> "Quantity":
        """Read `name | low | expected | high | unit`; empty low and high repeat expected."""
        expected = row.required_number("expected")
        low = row.number("low")
        high = row.number("high")
        quantity = cls(
            row.required("name"),
            expected if low is None else low,
            expected,
            expected if high is None else high,
            row.text("unit"),
        )
        if not quantity.low <= quantity.expected <= quantity.high:
            raise GuideError(
                "low ≤ expected ≤ high does not hold",
                where=row.place("expected"),
                remedy="Order the three numbers.",
            )
        return quantity


@dataclass(frozen=True)
class Accelerator:
    """One accelerator: dense peaks in TFLOPS, memory in GiB, bandwidth in GB/s.

    Empty cells of the guide are None: unknown or not built in, never zero.
    """

    name: str
    aliases: tuple[str, ...]
    vendor: str
    architecture: str
    generation: str
    peak_fp32_tflops: float | None
    peak_tf32_tflops: float | None
    peak_fp16_tflops: float | None
    peak_bf16_tflops: float | None
    peak_fp8_tflops: float | None
    achievable_bf16_tflops: float | None
    achievable_fp16_tflops: float | None
    memory_gib: float | None
    memory_bandwidth_gb_s: float | None
    intra_node_link: str
    intra_node_gb_s: float | None
    typical_gpus_per_node: int | None
    typical_inter_node_gbit_s: float | None
    tdp_watts: float | None
    usd_per_gpu_hour: float | None
    price_date: str

    @classmethod
    def from_rows(cls, names: Row, compute: Row, memory: Row, price: Row) -> "Accelerator":
        """Join the four rows that describe one device."""
        gpus_per_node = memory.number("typical_gpus_per_node")
        return cls(
            name=names.required("name"),
            aliases=names.words("aliases"),
            vendor=names.required("vendor"),
            architecture=names.required("architecture"),
            generation=names.required("generation"),
            peak_fp32_tflops=compute.number("peak_fp32_tflops"),
            peak_tf32_tflops=compute.number("peak_tf32_tflops"),
            peak_fp16_tflops=compute.number("peak_fp16_tflops"),
            peak_bf16_tflops=compute.number("peak_bf16_tflops"),
            peak_fp8_tflops=compute.number("peak_fp8_tflops"),
            achievable_bf16_tflops=compute.number("achievable_bf16_tflops"),
            achievable_fp16_tflops=compute.number("achievable_fp16_tflops"),
            memory_gib=memory.number("memory_gib"),
            memory_bandwidth_gb_s=memory.number("memory_bandwidth_gb_s"),
            intra_node_link=memory.text("intra_node_link"),
            intra_node_gb_s=memory.number("intra_node_gb_s"),
            typical_gpus_per_node=None if gpus_per_node is None else int(gpus_per_node),
            typical_inter_node_gbit_s=memory.number("typical_inter_node_gbit_s"),
            tdp_watts=price.number("tdp_watts"),
            usd_per_gpu_hour=price.number("usd_per_gpu_hour"),
            price_date=price.text("price_date"),
        )


@dataclass(frozen=True)
class Optimizer:
    """Bytes of optimizer state a parameter needs, with fp32 and with 16-bit moments."""

    name: str
    moment_bytes_fp32: float
    moment_bytes_16bit: float

    @classmethod
    def from_row(cls, row: Row) -> "Optimizer":
        """Read one row of `optimizer_bytes`."""
        return cls(
            row.required("optimizer"),
            row.required_number("moment_bytes_fp32"),
            row.required_number("moment_bytes_16bit"),
        )


@dataclass(frozen=True)
class Precision:
    """Bytes per parameter of a precision: weights, gradients and master copy; of an activation."""

    name: str
    weight_bytes: float
    gradient_bytes: float
    master_bytes: float
    activation_bytes: float

    @property
    def is_32bit(self) -> bool:
        """Whether activations are as wide as without mixed precision."""
        return self.activation_bytes >= 4

    @classmethod
    def from_row(cls, row: Row) -> "Precision":
        """Read one row of `precision_bytes`."""
        return cls(
            row.required("precision"),
            row.required_number("weight_bytes"),
            row.required_number("gradient_bytes"),
            row.required_number("master_bytes"),
            row.required_number("activation_bytes"),
        )


@dataclass(frozen=True)
class Generation:
    """How close an accelerator generation comes to its achievable matmul rate in training."""

    name: str
    matmul_level: float
    attention_level: float
    shape_tokens: float
    shape_width: float

    @classmethod
    def from_row(cls, row: Row) -> "Generation":
        """Read one row of `accelerator_generations`."""
        return cls(
            row.required("generation"),
            row.required_number("matmul_level"),
            row.required_number("attention_level"),
            row.required_number("shape_tokens"),
            row.required_number("shape_width"),
        )


@dataclass(frozen=True)
class FrameworkClass:
    """What a class of training software costs beside its matmuls."""

    name: str
    frameworks: tuple[str, ...]
    speed: float
    launch_us: float
    traffic: float
    fused_loss: bool

    @classmethod
    def from_row(cls, row: Row) -> "FrameworkClass":
        """Read one row of `framework_classes`."""
        return cls(
            row.required("framework_class"),
            row.words("frameworks"),
            row.required_number("speed"),
            row.required_number("launch_us"),
            row.required_number("traffic"),
            row.required("fused_loss") == "yes",
        )


@dataclass(frozen=True)
class CatalogueModel:
    """A known model: its names and its facts as text, column name to cell."""

    name: str
    aliases: tuple[str, ...]
    facts: dict[str, str]
    place: str

    @classmethod
    def from_row(cls, row: Row) -> "CatalogueModel":
        """Read a row of a catalogue table; `details` holds more `fact=value` pairs."""
        facts = {
            column: text
            for column, text in row.cells.items()
            if text and column not in ("name", "aliases", "details", "source")
        }
        for pair in row.words("details"):
            fact, separator, value = pair.partition("=")
            if not separator:
                raise GuideError(
                    f"`{pair}` is not a pair",
                    where=row.place("details"),
                    remedy="Write `fact=value; fact=value`.",
                )
            facts[fact.strip()] = value.strip()
        return cls(row.required("name"), row.words("aliases"), facts, row.place("name"))


@dataclass(frozen=True)
class KnownDataset:
    """A public data set: its names and the size of its training part; None is not given."""

    name: str
    aliases: tuple[str, ...]
    dataset_examples: int | None
    dataset_tokens: int | None
    place: str

    @classmethod
    def from_row(cls, row: Row) -> "KnownDataset":
        """Read one row of a table of data sets."""
        return cls(
            row.required("name"),
            row.words("aliases"),
            _whole(row, "dataset_examples"),
            _whole(row, "dataset_tokens"),
            row.place("name"),
        )


def _whole(row: Row, column: str) -> int | None:
    number = row.number(column)
    if number is not None and (number < 1 or number != int(number)):
        raise GuideError(
            f"`{row.text(column)}` is no whole number of at least 1",
            where=row.place(column),
            remedy="Write a whole number, or leave the cell empty.",
        )
    return None if number is None else int(number)
