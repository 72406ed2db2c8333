"""The training run: everything an estimate needs, resolved and frozen."""

from dataclasses import dataclass

from compute_budget_planner.guide.rows import Accelerator, FrameworkClass
from compute_budget_planner.workload.architecture import Architecture, SampleModel

Model = Architecture | SampleModel


@dataclass(frozen=True)
class Data:
    """What is trained on. `seq_len` tokens per sample (None for models without a sequence)."""

    dataset: str
    dataset_examples: int | None
    dataset_tokens: int | None
    seq_len: int | None
    packing: bool


@dataclass(frozen=True)
class Schedule:
    """How long is trained, and how often it is interrupted."""

    epochs: float | None
    max_steps: int | None
    train_tokens: int | None
    eval_every_steps: int | None
    eval_examples: int | None
    checkpoint_every_steps: int | None
    drop_last: bool
    framework: str
    num_generations: int | None


@dataclass(frozen=True)
class Batch:
    """`global_batch_size` = `micro_batch_size` × `grad_accum_steps` × data-parallel size."""

    micro_batch_size: int
    grad_accum_steps: int
    global_batch_size: int


@dataclass(frozen=True)
class Hardware:
    """The accelerators of the job and the links between them."""

    accelerator: Accelerator
    n_gpus: int
    gpus_per_node: int
    intra_node_link: str
    intra_node_gb_s: float
    inter_node_gbit_s: float
    usd_per_gpu_hour: float | None

    @property
    def n_nodes(self) -> int:
        """Machines, the last one perhaps partly used."""
        return -(-self.n_gpus // self.gpus_per_node)


@dataclass(frozen=True)
class Numerics:
    """Arithmetic, optimizer, kernels and what is recomputed."""

    precision: str
    optimizer: str
    method: str
    objective: str
    lora_rank: int
    quantization: str
    activation_checkpointing: str
    attention: str
    compile: bool
    fused_loss: bool
    gradient_dtype: str
    offload: str
    channels_last: bool
    framework_class: FrameworkClass

    @property
    def trains_adapters(self) -> bool:
        """Whether only low-rank adapters are trained and the weights are frozen."""
        return self.method in ("lora", "qlora")

    @property
    def adapter_rank(self) -> int:
        """Rank of the adapters that are trained; 0 where the weights themselves are."""
        return self.lora_rank if self.trains_adapters else 0


@dataclass(frozen=True)
class Parallelism:
    """Ranks: tensor × pipeline × context × data parallel = `n_gpus`."""

    sharding: str
    tp: int
    pp: int
    cp: int
    ep: int
    dp: int


@dataclass(frozen=True)
class Limits:
    """What the scheduler and the budget allow; None where nobody said."""

    time_limit_hours: float | None
    available_gpu_hours: float | None
    max_gpus: int | None
    deadline: str | None


@dataclass(frozen=True)
class TrainingRun:
    """One run: one model on one data set with one seed on given hardware."""

    name: str
    model: Model
    data: Data
    schedule: Schedule
    batch: Batch
    hardware: Hardware
    numerics: Numerics
    parallelism: Parallelism
    limits: Limits
