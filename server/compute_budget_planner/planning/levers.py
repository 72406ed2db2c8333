"""Cheaper ways to train the same run, or nearly: each a set of changed facts.

The levers, their signal and their risks are rows of the guide's table `alternatives`; here is
only what each of them changes in a given run, and when it applies at all.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.rows import Accelerator
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.facts import FactValue
from compute_budget_planner.workload.run import TrainingRun

Changes = Mapping[str, FactValue]


@dataclass(frozen=True)
class Lever:
    """An alternative of the guide and the facts it changes; `choice` tells several of it apart."""

    name: str
    changes: Changes
    choice: str = ""

    @property
    def label(self) -> str:
        """The name by which it is listed and decided on."""
        return f"{self.name}: {self.choice}" if self.choice else self.name


def levers(
    run: TrainingRun,
    reference: Reference,
    devices: tuple[str, ...],
    largest_micro_batch: int | None,
) -> Iterator[Lever]:
    """Yield the levers that apply to a run.

    `devices` are the accelerators a faster one may be chosen from; `largest_micro_batch` is what
    memory allows.
    """
    for name, changes in _FREE_AND_LEVERS.items():
        found = changes(run, reference)
        if found:
            yield Lever(name, found)
    if largest_micro_batch is not None:
        yield from _larger_micro_batch(run, largest_micro_batch)
    yield from _question(run, reference)
    yield from _hardware(run, reference, devices)


def _compile(run: TrainingRun, _: Reference) -> Changes:
    return {} if run.numerics.compile else {"compile": True}


def _checkpointing_off(run: TrainingRun, _: Reference) -> Changes:
    if run.numerics.activation_checkpointing == "none":
        return {}
    return {"activation_checkpointing": "none"}


def _fused_loss(run: TrainingRun, _: Reference) -> Changes:
    transformer = isinstance(run.model, Architecture)
    return {"fused_loss": True} if transformer and not run.numerics.fused_loss else {}


def _packing(run: TrainingRun, _: Reference) -> Changes:
    data = run.data
    if data.packing or not (data.dataset_tokens and data.dataset_examples and data.seq_len):
        return {}
    if run.schedule.max_steps or run.schedule.train_tokens:
        return {}
    padded = data.dataset_examples * data.seq_len
    return {"packing": True} if data.dataset_tokens < padded else {}


def _mixed_precision(run: TrainingRun, reference: Reference) -> Changes:
    if not reference.precisions[run.numerics.precision].is_32bit:
        return {}
    has_bf16 = run.hardware.accelerator.peak_bf16_tflops is not None
    return {"precision": "bf16" if has_bf16 else "fp16"}


def _fp8(run: TrainingRun, _: Reference) -> Changes:
    has_fp8 = run.hardware.accelerator.peak_fp8_tflops is not None
    wanted = run.numerics.precision in ("bf16", "fp16") and isinstance(run.model, Architecture)
    return {"precision": "fp8"} if has_fp8 and wanted else {}


def _attention(run: TrainingRun, _: Reference) -> Changes:
    if not isinstance(run.model, Architecture) or run.numerics.attention != "eager":
        return {}
    old = run.hardware.accelerator.generation == "volta-turing"
    return {"attention": "sdpa" if old else "flash"}


def _sharding(run: TrainingRun, _: Reference) -> Changes:
    if run.numerics.offload == "none" or run.parallelism.dp == 1:
        return {}
    return {"offload": "none", "sharding": "fsdp"}


def _optimizer(run: TrainingRun, _: Reference) -> Changes:
    return {"optimizer": "adamw-8bit"} if run.numerics.optimizer in ("adamw", "adam") else {}


def _tokenizer(run: TrainingRun, reference: Reference) -> Changes:
    model, data = run.model, run.data
    share = reference.value("tokenizer_tokens_share")
    if not isinstance(model, Architecture) or not model.causal or run.numerics.method != "pretrain":
        return {}
    if model.vocab_size > 64_000 or not data.seq_len:
        return {}
    tokens = run.schedule.train_tokens
    if run.schedule.max_steps:
        tokens = run.schedule.max_steps * run.batch.global_batch_size * data.seq_len
    if not tokens:
        return {}
    return {"vocab_size": 2 * model.vocab_size, "train_tokens": round(tokens * share)}


_FREE_AND_LEVERS: dict[str, Callable[[TrainingRun, Reference], Changes]] = {
    "compile the model": _compile,
    "pack short examples": _packing,
    "checkpointing off": _checkpointing_off,
    "fused loss": _fused_loss,
    "mixed precision": _mixed_precision,
    "faster attention kernel": _attention,
    "sharding instead of offload": _sharding,
    "8-bit optimizer": _optimizer,
    "FP8 matmuls": _fp8,
    "tokenizer with a larger vocabulary": _tokenizer,
}


def _larger_micro_batch(run: TrainingRun, largest: int) -> Iterator[Lever]:
    micro, accum = run.batch.micro_batch_size, run.batch.grad_accum_steps
    factor = 1
    while accum % (2 * factor) == 0 and micro * 2 * factor <= largest:
        factor *= 2
    if factor > 1:
        changes = {"micro_batch_size": micro * factor, "grad_accum_steps": accum // factor}
        yield Lever("larger micro-batch", changes)


def _question(run: TrainingRun, reference: Reference) -> Iterator[Lever]:
    """Yield the alternatives that change what is asked."""
    yield from _smaller(run, reference)
    steps = run.schedule.max_steps
    if steps:
        fewer = max(1, round(steps * reference.value("fewer_steps_share")))
        yield Lever("fewer steps", {"max_steps": fewer})
    elif run.schedule.train_tokens:
        tokens = round(run.schedule.train_tokens * reference.value("fewer_steps_share"))
        yield Lever("fewer steps", {"train_tokens": max(1, tokens)})
    elif run.schedule.epochs:
        epochs = run.schedule.epochs * reference.value("fewer_steps_share")
        yield Lever("fewer steps", {"epochs": epochs})
        share = reference.value("less_data_share")
        sizes = {
            "dataset_examples": run.data.dataset_examples,
            "dataset_tokens": run.data.dataset_tokens,
        }
        smaller = {k: max(1, round(v * share)) for k, v in sizes.items() if v}
        yield Lever("less data", smaller)
    if run.numerics.method == "full-ft":
        rank = round(reference.value("adapter_rank"))
        yield Lever("adapters instead of full training", {"method": "lora", "lora_rank": rank})


def _smaller(run: TrainingRun, reference: Reference) -> Iterator[Lever]:
    model = run.model
    if isinstance(model, Architecture):
        if run.numerics.method == "pretrain":
            share = reference.value("smaller_model_share")
            yield Lever("smaller model", smaller_shape(model, share))
            if model.experts is None and model.causal and model.d_ff >= 1024:
                width = max(64, model.d_ff // 4)
                experts = {"n_experts": 8, "experts_per_token": 2, "moe_d_ff": width}
                yield Lever("mixture of experts", experts)
        if run.data.seq_len and not model.patch_size and run.data.seq_len >= 256:
            yield from _shorter_sequence(run, reference)
    if run.data.seq_len is None and getattr(model, "image_size", None):
        edge = round((model.image_size or 0) * reference.value("smaller_image_share"))
        yield Lever("smaller image", {"image_size": edge})


def _shorter_sequence(run: TrainingRun, reference: Reference) -> Iterator[Lever]:
    """Yield half the context at the same number of tokens: more, shorter sequences per step."""
    share = reference.value("shorter_sequence_share")
    seq_len = max(1, round((run.data.seq_len or 1) * share))
    ratio = round(1 / share)
    yield Lever(
        "shorter sequence",
        {
            "seq_len": seq_len,
            "micro_batch_size": run.batch.micro_batch_size * ratio,
            "grad_accum_steps": run.batch.grad_accum_steps,
            "global_batch_size": run.batch.global_batch_size * ratio,
        },
    )


def smaller_shape(model: Architecture, share: float) -> dict[str, FactValue]:
    """Return a shape of the same family with about `share` of the parameters outside tables.

    Depth and width shrink by the cube root of the share; heads keep their width.
    """
    scale = share ** (1 / 3)
    heads = max(1, round(model.n_heads * scale))
    groups = max(1, model.n_heads // model.n_kv_heads)
    kv_heads = max(1, heads // groups)
    heads = kv_heads * groups
    d_model = heads * (model.d_model // model.n_heads)
    return {
        "n_layers": max(1, round(model.n_layers * scale)),
        "n_heads": heads,
        "n_kv_heads": kv_heads,
        "d_model": d_model,
        "d_ff": max(1, round(model.d_ff * d_model / model.d_model)),
    }


def _hardware(run: TrainingRun, reference: Reference, devices: tuple[str, ...]) -> Iterator[Lever]:
    own = run.hardware.accelerator
    for name in devices:
        found = reference.find_accelerators(name)
        if len(found) != 1 or found[0].name == own.name:
            continue
        if _speed(found[0]) > 1.1 * _speed(own):
            yield Lever("faster hardware", {"gpu": found[0].name}, found[0].name)


def _speed(device: Accelerator) -> float:
    """Return the 16-bit rate of a device in TFLOPS, measured where somebody has."""
    rates = (device.achievable_bf16_tflops, device.peak_bf16_tflops, device.peak_fp16_tflops)
    return next((rate for rate in rates if rate), 0.0)
