"""What follows only from several options together, or from the framework's way of counting."""

import math
import re

from compute_budget_planner.readers.contract import Basis, Problem
from compute_budget_planner.readers.option_table import BARE_BATCH, DEVICE_BATCH, WHOLE_BATCH
from compute_budget_planner.readers.option_values import OptionFacts, switch_state

_DURATION = re.compile(r"([0-9][0-9_]*(?:\.[0-9]+)?(?:e[0-9]+)?)(ba|ep|tok|T)")
_DURATION_FACT = {"ba": "max_steps", "ep": "epochs", "tok": "train_tokens", "T": "train_tokens"}
_CHECKPOINT_KEYS = (
    "model_name_or_path",
    "pretrained_model_name_or_path",
    "base_model_name_or_path",
    "base_model",
    "pretrained",
)
"""Options by which frameworks are told to start from weights."""

_DEVICE_KEYS = ("gpu", "gpu_type", "gpu_name", "gpu_model", "accelerator", "device_type")
"""Keys that name the accelerator, unless they number or count it (`gpu: 0`)."""

_OFFLOAD = (
    ("zero_optimization.offload_optimizer.device", "offload_optimizer.device", "optimizer"),
    ("zero_optimization.offload_param.device", "offload_param.device", "parameters"),
)


def combine(found: OptionFacts) -> None:
    """Add and correct facts in place."""
    _precision(found)
    _adapters(found)
    _starting_point(found)
    _batch(found)
    _length(found)
    _intervals(found)
    _sharding(found)
    _width(found)
    _device(found)


def _precision(found: OptionFacts) -> None:
    """Join the switches bf16, fp16 and tf32; both 16-bit ones off is fp32."""
    off = []
    for word in ("bf16", "fp16", "tf32"):
        raw, source = found.raw.get(word, found.raw.get(f"{word}.enabled", (None, "")))
        automatic = found.framework == "axolotl" and raw == "auto"
        if switch_state(raw) or automatic:
            found.put("precision", word, source, word)
            return
        if switch_state(raw) is False:
            off.append((word, source))
    if "fp8_format" in found.raw:
        found.put("precision", "fp8", found.raw["fp8_format"][1], "fp8_format")
    elif "precision" not in found.facts and [word for word, _ in off][:2] == ["bf16", "fp16"]:
        found.put("precision", "fp32", off[1][1], "fp16")
    for word in ("amp", "use_amp", "amp.enabled"):
        raw, source = found.raw.get(word, (None, ""))
        if "precision" not in found.facts and switch_state(raw):
            text = f"`{word}` turns mixed precision on: is it fp16 or bf16? Give `precision`."
            found.problems.append(Problem(source, text))
            return


def _adapters(found: OptionFacts) -> None:
    """Take a rank for adapters unless the file says that everything is trained."""
    bits, source = found.raw.get("quantization_bit", (None, ""))
    if str(bits) in ("4", "8"):
        found.put("quantization", "nf4" if str(bits) == "4" else "int8", source, "quantization_bit")
    method = found.facts.get("method")
    if switch_state(found.raw.get("use_peft", (None, ""))[0]) is False or (
        method and method.value not in ("lora", "qlora")
    ):
        found.facts.pop("lora_rank", None)
        return
    origin = found.facts.get("lora_rank") or method
    if origin is None:
        return
    quantization = found.facts.get("quantization")
    four_bit = quantization is not None and quantization.value in ("nf4", "fp4")
    if method is None or four_bit:
        found.keys.pop("method", None)
        found.facts.pop("method", None)
        found.put("method", "qlora" if four_bit else "lora", origin.source, "lora")


def _starting_point(found: OptionFacts) -> None:
    """Take training that loads published weights for fine-tuning of all of them."""
    if "method" in found.facts:
        return
    for key in _CHECKPOINT_KEYS:
        raw, source = found.raw.get(key, (None, ""))
        if raw not in (None, "", "none") and switch_state(raw) is not False:
            found.derive("method", "full-ft", source, key, Basis.DERIVED)
            return


def _batch(found: OptionFacts) -> None:
    """Give a bare batch size its scope: per device or whole job, by the framework's rule."""
    key = next((k for k in BARE_BATCH if k in found.raw), None)
    if key is not None and found.framework != "verl":
        raw, source = found.raw[key]
        explicit = {"micro_batch_size", "global_batch_size"} & found.facts.keys()
        if found.framework in WHOLE_BATCH:
            if "global_batch_size" not in found.facts:
                found.put("global_batch_size", raw, source, key)
        elif found.framework in DEVICE_BATCH:
            if "micro_batch_size" not in found.facts:
                found.put("micro_batch_size", raw, source, key)
        elif not explicit:
            found.put("micro_batch_size", raw, source, key)
            if "micro_batch_size" in found.facts:
                found.derive("micro_batch_size", raw, source, key, Basis.ASSUMED)
                text = (
                    f"is `{key}` {raw} per device or global? It is taken as per device; give "
                    "`micro_batch_size` or `global_batch_size`."
                )
                found.problems.append(Problem(source, text))
    if found.framework == "nanogpt":
        _nanogpt_batch(found)
    if found.framework == "llmc":
        _llmc_batch(found)


def _nanogpt_batch(found: OptionFacts) -> None:
    """Keep the global batch of nanoGPT, which divides its accumulation by the world size."""
    accumulation = found.number("gradient_accumulation_steps")
    batch = found.facts.get("micro_batch_size")
    if accumulation and batch:
        whole = int(batch.value) * int(accumulation[0])
        key = "gradient_accumulation_steps"
        found.derive("global_batch_size", whole, accumulation[1], key, Basis.DERIVED)


def _llmc_batch(found: OptionFacts) -> None:
    """Turn the tokens per step of llm.c's `-d` into sequences; `-r` recomputes GELU or norms."""
    recompute, source = found.raw.get("r", (None, ""))
    if str(recompute) in ("0", "1", "2"):
        kept = "none" if str(recompute) == "0" else "selective"
        found.put("activation_checkpointing", kept, source, "r")
    tokens = found.number("d")
    length = found.facts.get("seq_len")
    if tokens and length and tokens[0] % float(length.value) == 0:
        sequences = int(tokens[0] / float(length.value))
        found.derive("global_batch_size", sequences, tokens[1], "d", Basis.DERIVED)


def _length(found: OptionFacts) -> None:
    """Read durations with a unit, prompt plus completion, samples times length."""
    raw, source = found.raw.get("max_duration", (None, ""))
    if (match := _DURATION.fullmatch(str(raw))) and math.isfinite(float(match[1])):
        found.put(_DURATION_FACT[match[2]], match[1], source, "max_duration")
    prompt = found.number("max_prompt_length")
    answer = found.number("max_completion_length", "max_response_length")
    if prompt and answer and "seq_len" not in found.facts:
        whole = int(prompt[0] + answer[0])
        found.derive("seq_len", whole, prompt[1], "max_prompt_length", Basis.DERIVED)
    samples = found.number("train_samples")
    length = found.facts.get("seq_len")
    if samples and length and "train_tokens" not in found.facts:
        tokens = int(samples[0]) * int(length.value)
        found.derive("train_tokens", tokens, samples[1], "train_samples", Basis.DERIVED)
    if {"epochs", "max_steps"} <= found.facts.keys():
        if found.framework == "kohya":
            del found.facts["max_steps"]
        elif found.keys["epochs"].endswith(("num_train_epochs", "num_epochs")):
            # Transformers, diffusers and axolotl ignore the epochs when steps are given.
            del found.facts["epochs"]


def _intervals(found: OptionFacts) -> None:
    """Drop intervals in steps where evaluation or saving goes by epochs."""
    for fact, strategies in (
        ("eval_every_steps", ("eval_strategy", "evaluation_strategy")),
        ("checkpoint_every_steps", ("save_strategy",)),
    ):
        chosen = next((str(found.raw[s][0]).lower() for s in strategies if s in found.raw), "steps")
        if chosen != "steps":
            found.facts.pop(fact, None)


def _sharding(found: OptionFacts) -> None:
    """Read the FSDP switch, and what is kept in host memory."""
    if found.framework == "verl" and "sharding" not in found.facts:
        own = [key for key in found.raw if key.startswith("actor_rollout_ref.actor.fsdp_config.")]
        if own:
            found.put("sharding", "fsdp", found.raw[own[0]][1], own[0])
    raw, source = found.raw.get("fsdp", (None, ""))
    word = str(raw).split()[0].strip("\"'[],").lower() if str(raw).split() else ""
    if raw is True or word in ("full_shard", "hybrid_shard", "true"):
        found.put("sharding", "fsdp", source, "fsdp")
    elif word in ("shard_grad_op", "no_shard"):
        found.put("sharding", "zero2" if word == "shard_grad_op" else "ddp", source, "fsdp")
    for long, short, value in _OFFLOAD:
        raw, source = found.raw.get(long, found.raw.get(short, (None, "")))
        if raw is not None and str(raw).lower() in ("cpu", "nvme"):
            found.keys.pop("offload", None)
            found.facts.pop("offload", None)
            found.put("offload", value, source, short)


def _width(found: OptionFacts) -> None:
    """Take `embed_dim` for the width of a plain stack of layers; Swin's first stage has one too."""
    width = found.number("embed_dim")
    if width and "d_model" not in found.facts and {"n_layers", "n_heads"} <= found.facts.keys():
        found.put("d_model", int(width[0]), width[1], "embed_dim")


def _device(found: OptionFacts) -> None:
    """Take an accelerator the guide knows from a key that may as well hold an index or a switch."""
    for key in _DEVICE_KEYS:
        raw, source = found.raw.get(key, (None, ""))
        if isinstance(raw, str) and found.reference.find_accelerators(raw):
            found.put("gpu", raw, source, key)
            return
