"""The words of the product: every fact by name, its kind, and how a raw value becomes one.

The names are used alike for tool arguments, columns, JSON and prose. Enumerated values and
their other spellings are in the guide's table `fact_values`.
"""

import math
import re
from dataclasses import dataclass
from enum import Enum

from compute_budget_planner.errors import FactError, nearest
from compute_budget_planner.guide.reference import Reference, spelling
from compute_budget_planner.workload.facts import FactValue


class Kind(Enum):
    """What values a fact takes."""

    COUNT = "a whole number of at least 1"
    COUNT_OR_ZERO = "a whole number of at least 0"
    POSITIVE = "a number above 0"
    TEXT = "a text"
    FLAG = "true or false"
    CHOICE = "one of a list"

    @property
    def is_number(self) -> bool:
        """Whether values of this kind are numbers."""
        return self in (Kind.COUNT, Kind.COUNT_OR_ZERO, Kind.POSITIVE)


@dataclass(frozen=True)
class FactSpec:
    """One word: its name, group, kind and a line of help."""

    name: str
    group: str
    kind: Kind
    help: str


def _group(group: str, text: str) -> list[FactSpec]:
    specs = []
    for line in text.strip().splitlines():
        name, kind, meaning = (part.strip() for part in line.split("|"))
        specs.append(FactSpec(name, group, Kind[kind], meaning))
    return specs


_SPECS: list[FactSpec] = [
    *_group(
        "model",
        """
        model | TEXT | name of a known model, or the path of a config.json
        model_family | TEXT | architecture family: llama, gpt2, bert, vit, …
        params_total | COUNT | parameters in all
        params_active | COUNT | parameters used per token
        n_layers | COUNT | transformer layers
        d_model | COUNT | hidden width
        n_heads | COUNT | attention heads
        n_kv_heads | COUNT | key-value heads
        head_dim | COUNT | width of one head
        d_ff | COUNT | width of the feed-forward part
        glu | FLAG | gated feed-forward part (SwiGLU, GeGLU)
        vocab_size | COUNT | rows of the embedding
        tied_embeddings | FLAG | input and output embedding share weights
        n_experts | COUNT | routed experts per MoE layer
        experts_per_token | COUNT | routed experts a token visits
        flops_per_sample_forward | POSITIVE | forward FLOPs of one sample (2 × multiply-adds)
        activations_per_sample | POSITIVE | forward elements of one sample that are stored
        """,
    ),
    *_group(
        "model detail",
        """
        moe_d_ff | COUNT | width of one routed expert
        shared_expert_d_ff | COUNT | width of all shared experts together
        shared_expert_gate | FLAG | a gate scales the shared expert
        n_dense_layers | COUNT_OR_ZERO | first layers of an MoE that are dense
        moe_every | COUNT | every n-th layer is an MoE layer
        sliding_window | COUNT | keys a windowed layer sees
        full_attention_every | COUNT_OR_ZERO | one layer in n has full attention (0: none)
        q_lora_rank | COUNT | query rank of multi-head latent attention
        kv_lora_rank | COUNT | key-value rank of multi-head latent attention
        qk_nope_head_dim | COUNT | position-free head width of latent attention
        qk_rope_head_dim | COUNT | rotary head width of latent attention
        v_head_dim | COUNT | value head width of latent attention
        mtp_layers | COUNT_OR_ZERO | multi-token prediction layers
        max_positions | COUNT_OR_ZERO | rows of a learned position table
        token_types | COUNT_OR_ZERO | rows of a token-type embedding
        qkv_bias | FLAG | query, key and value projections have biases
        attention_out_bias | FLAG | the attention output projection has a bias
        mlp_bias | FLAG | feed-forward projections have biases
        head_bias | FLAG | the output head has a bias
        qk_norm | FLAG | queries and keys are normalised
        norm_bias | FLAG | norms have a bias as well (LayerNorm)
        norms_per_layer | COUNT | norms of one layer
        final_norm | FLAG | a norm stands before the head
        embedding_norm | FLAG | a norm stands behind the embedding
        pooler | FLAG | a dense pooler stands on the encoder
        causal | FLAG | attention sees the past only
        patch_size | COUNT | edge of an image patch in pixels
        n_channels | COUNT | image channels
        num_classes | COUNT_OR_ZERO | outputs of a classification head
        """,
    ),
    *_group(
        "data",
        """
        dataset | TEXT | name of the data set
        dataset_examples | COUNT | training examples in the data set
        dataset_tokens | COUNT | training tokens in the data set
        unique_tokens | COUNT | tokens that are not repeats
        seq_len | COUNT | tokens of one sequence
        image_size | COUNT | edge of an image in pixels
        packing | FLAG | short examples are packed into full sequences
        """,
    ),
    *_group(
        "schedule",
        """
        epochs | POSITIVE | passes over the data set
        max_steps | COUNT | optimizer steps
        train_tokens | COUNT | tokens trained on in all
        learning_rate | POSITIVE | peak learning rate
        seeds | COUNT | repetitions with another seed
        tuning_trials | COUNT_OR_ZERO | trial runs before the real one
        eval_every_steps | COUNT | optimizer steps between two evaluations
        eval_examples | COUNT_OR_ZERO | samples of one evaluation
        checkpoint_every_steps | COUNT | optimizer steps between two checkpoints
        num_generations | COUNT | completions per prompt in GRPO
        """,
    ),
    *_group(
        "batch",
        """
        micro_batch_size | COUNT | samples per device and forward pass
        grad_accum_steps | COUNT | forward passes per optimizer step
        global_batch_size | COUNT | samples per optimizer step over all devices
        """,
    ),
    *_group(
        "hardware",
        """
        gpu | TEXT | accelerator type
        n_gpus | COUNT | accelerators in all
        n_nodes | COUNT | machines
        gpus_per_node | COUNT | accelerators of one machine
        intra_node_link | CHOICE | link between accelerators of one machine
        inter_node_link | CHOICE | link between machines
        inter_node_gbit_s | POSITIVE | network of one machine, all cards together, in Gbit/s
        usd_per_gpu_hour | POSITIVE | price of one accelerator for one hour
        """,
    ),
    *_group(
        "numerics",
        """
        precision | CHOICE | arithmetic of the matmuls and form of the weights
        optimizer | CHOICE | optimizer
        method | CHOICE | which parameters are trained
        objective | CHOICE | what is optimised
        lora_rank | COUNT | rank of the adapters
        quantization | CHOICE | storage of frozen weights
        activation_checkpointing | CHOICE | which activations are recomputed
        attention | CHOICE | attention kernel
        compile | FLAG | the model is compiled
        fused_loss | FLAG | the loss never holds all logits
        gradient_dtype | CHOICE | type in which gradients are kept
        offload | CHOICE | what lives in host memory
        channels_last | FLAG | images are stored channels last (NHWC)
        framework | TEXT | training software
        framework_drop_last | FLAG | an incomplete last batch is dropped
        """,
    ),
    *_group(
        "parallelism",
        """
        sharding | CHOICE | data-parallel sharding
        tp | COUNT | tensor parallel size
        pp | COUNT | pipeline parallel size
        cp | COUNT | context parallel size
        ep | COUNT | expert parallel size
        """,
    ),
    *_group(
        "limits",
        """
        time_limit_hours | POSITIVE | longest job the scheduler allows
        available_gpu_hours | POSITIVE | GPU-hours at hand
        max_gpus | COUNT | most accelerators in use at once
        deadline | TEXT | date by which results are needed (YYYY-MM-DD)
        """,
    ),
    *_group(
        "measured",
        """
        steps_done | COUNT | optimizer steps an earlier run made
        step_seconds | POSITIVE | seconds per optimizer step
        steps_per_second | POSITIVE | optimizer steps per second
        tokens_per_second | POSITIVE | tokens per second of the whole job
        tokens_per_second_per_gpu | POSITIVE | tokens per second and accelerator
        samples_per_second | POSITIVE | samples per second of the whole job
        peak_memory_gib | POSITIVE | highest memory use of one accelerator
        wall_clock_hours | POSITIVE | duration from start to end
        """,
    ),
]

VOCABULARY: dict[str, FactSpec] = {spec.name: spec for spec in _SPECS}

_SUFFIX = {"k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12}
_NUMBER = re.compile(r"([0-9][0-9_,]*\.?[0-9]*(?:[eE][+-]?[0-9]+)?)\s*([kKmMbBgGtT]?)")
_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0"}


def fact_spec(name: str) -> FactSpec:
    """Return the word of that name.

    Raises:
        FactError: there is no such word; the nearest ones are named.
    """
    if name not in VOCABULARY:
        raise FactError(f"unknown fact `{name}`", remedy=nearest(name, VOCABULARY))
    return VOCABULARY[name]


def parse_fact(name: str, raw: object, reference: Reference, where: str = "") -> FactValue:
    """Return the canonical value of a raw one, such as `"8B"`, `"bfloat16"` or `True`.

    Raises:
        FactError: the name is unknown or the value is not of its kind.
    """
    spec = fact_spec(name)
    match spec.kind:
        case Kind.FLAG:
            return _flag(spec, raw, where)
        case Kind.TEXT:
            return _text(spec, raw, where)
        case Kind.CHOICE:
            return _choice(spec, raw, reference, where)
        case _:
            return _numeric(spec, raw, where)


def _wrong(spec: FactSpec, raw: object, where: str, accepted: str) -> FactError:
    shown = str(raw)[:60]
    return FactError(f"`{spec.name}` is {shown!r}", where=where, remedy=f"It takes {accepted}.")


def _numeric(spec: FactSpec, raw: object, where: str) -> FactValue:
    number = math.nan
    if isinstance(raw, bool):
        pass
    elif isinstance(raw, int | float):
        number = float(raw) if abs(raw) < 1e300 else math.nan
    elif isinstance(raw, str) and (match := _NUMBER.fullmatch(raw.strip())):
        digits, suffix = match.groups()
        number = float(digits.replace(",", "").replace("_", "")) * _SUFFIX.get(suffix.lower(), 1)
    if not math.isfinite(number):
        raise _wrong(spec, raw, where, spec.kind.value)
    if spec.kind is Kind.POSITIVE:
        if number <= 0:
            raise _wrong(spec, raw, where, spec.kind.value)
        return number
    least = 0 if spec.kind is Kind.COUNT_OR_ZERO else 1
    whole = round(number)
    if abs(number - whole) > 1e-6 * max(1.0, abs(number)) or whole < least or whole > 10**18:
        raise _wrong(spec, raw, where, spec.kind.value)
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else whole


def _flag(spec: FactSpec, raw: object, where: str) -> FactValue:
    if isinstance(raw, bool):
        return raw
    word = str(raw).strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise _wrong(spec, raw, where, spec.kind.value)


def _text(spec: FactSpec, raw: object, where: str) -> FactValue:
    text = " ".join(str(raw).split()) if isinstance(raw, str | int | float) else ""
    if not text or len(text) > 200 or isinstance(raw, bool):
        raise _wrong(spec, raw, where, "a text of 1 to 200 characters")
    return text


def _choice(spec: FactSpec, raw: object, reference: Reference, where: str) -> FactValue:
    known = reference.choices.get(spec.name, {})
    word = spelling(str(raw))
    if word in known:
        return known[word]
    values = sorted(set(known.values()))
    raise _wrong(spec, raw, where, "one of " + ", ".join(f"`{v}`" for v in values))
