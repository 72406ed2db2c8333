"""From facts to a model: the shape when it is known, or what one sample costs."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from compute_budget_planner.errors import FactError
from compute_budget_planner.workload.architecture import (
    Architecture,
    Experts,
    LatentAttention,
    SampleModel,
)
from compute_budget_planner.workload.facts import FactValue
from compute_budget_planner.workload.model_families import Family, family_named

Values = Mapping[str, FactValue]

MOST_LAYERS = 10_000
"""More layers than any model has; a larger number is a slip of the pen."""

_SHAPE = ("n_layers", "d_model", "n_heads")
_LATENT = ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
_OPTIONAL = {f.name for f in fields(Architecture)} - {"experts", "latent", "num_classes"}
_TOKEN_OBJECTIVES = {"lm", "mlm", "dpo", "ppo", "grpo", "distillation"}


def missing_shape(values: Values) -> tuple[str, ...]:
    """Return the facts without which no model can be built; empty when there are enough.

    A model is either what one sample costs (`params_total` and `flops_per_sample_forward`) or
    a shape. The words are those of the vocabulary.

    Raises:
        FactError: `model_family` is unknown.
    """
    if "flops_per_sample_forward" in values:
        return () if "params_total" in values else ("params_total",)
    family = _family(values)
    wanted = [*_SHAPE, *(("patch_size", "image_size") if family.patches else ("vocab_size",))]
    if family.experts or "n_experts" in values:
        wanted += ["n_experts", "experts_per_token"]
        has_dense = values.get("n_dense_layers", 0) != 0 or values.get("moe_every", 1) != 1
        if has_dense or "moe_d_ff" not in values:
            wanted.append("d_ff")
    if family.latent or "kv_lora_rank" in values:
        wanted += _LATENT
    return tuple(name for name in wanted if name not in values)


def model_from(values: Values) -> Architecture | SampleModel:
    """Return the model that facts describe; what they leave open follows from the family.

    `head_dim` defaults to d_model / n_heads and `n_kv_heads` to `n_heads` (multi-query families:
    1). `d_ff` defaults to 4·d_model; for gated families to 8/3·d_model rounded up to a multiple
    of 256 (LLaMA, arXiv:2302.13971 §2.2, and its released code). A plain `decoder` counts as
    gated when `d_ff` is not 4·d_model or key-value heads are shared. An encoder whose objective
    predicts no tokens has a classification head (two classes when nobody says) behind a pooler.

    Raises:
        FactError: essential facts are missing (all are named), or two contradict each other.
    """
    missing = missing_shape(values)
    if missing:
        raise FactError(
            "the model's shape is incomplete: " + ", ".join(f"`{name}`" for name in missing),
            remedy="Give these facts, the path of a config.json or the name of a known model.",
        )
    if "flops_per_sample_forward" in values:
        return _sample_model(values)
    family = _family(values)
    known: dict[str, Any] = dict(values)
    d_model, n_heads = known["d_model"], known["n_heads"]
    n_kv_heads = known.get("n_kv_heads", 1 if family.one_kv_head else n_heads)
    glu = _gated(family, known, n_kv_heads)
    experts = _experts(family, known)
    num_classes = _num_classes(family, known)
    d_ff = known.get("d_ff", _default_d_ff(d_model, glu))
    if "d_ff" not in known and experts is not None:
        d_ff = experts.moe_d_ff
    traits = {name: value for name, value in family.traits.items() if name in _OPTIONAL}
    given = {name: value for name, value in known.items() if name in _OPTIONAL}
    shape = {
        "tied_embeddings": family.tied_embeddings,
        "causal": family.causal,
        "vocab_size": 0,
        **traits,
        **({"pooler": True} if num_classes and not family.causal and not family.patches else {}),
        **given,
        "family": family.name,
        "n_kv_heads": n_kv_heads,
        "head_dim": _head_dim(known),
        "d_ff": d_ff,
        "glu": glu,
        "num_classes": num_classes,
        "experts": experts,
        "latent": _latent(known),
    }
    architecture = Architecture(**shape)
    _check(architecture)
    return architecture


def _family(values: Values) -> Family:
    return family_named(str(values.get("model_family", "decoder")))


def _sample_model(values: Values) -> SampleModel:
    known: dict[str, Any] = dict(values)
    return SampleModel(
        family=str(known.get("model_family") or known.get("model") or "sample"),
        params_total=known["params_total"],
        flops_per_sample_forward=float(known["flops_per_sample_forward"]),
        activations_per_sample=known.get("activations_per_sample"),
        image_size=known.get("image_size"),
        num_classes=known.get("num_classes", 0),
    )


def _gated(family: Family, known: Mapping[str, Any], n_kv_heads: int) -> bool:
    if "glu" in known:
        return bool(known["glu"])
    if family.glu is not None:
        return family.glu
    width = known.get("d_ff", known.get("moe_d_ff"))
    if width is None:
        return False
    return bool(width != 4 * known["d_model"]) or n_kv_heads != known["n_heads"]


def _default_d_ff(d_model: int, glu: bool) -> int:
    return -(-8 * d_model // (3 * 256)) * 256 if glu else 4 * d_model


def _head_dim(known: Mapping[str, Any]) -> int:
    if "head_dim" in known:
        return int(known["head_dim"])
    if "kv_lora_rank" in known:
        return int(known["qk_nope_head_dim"] + known["qk_rope_head_dim"])
    d_model, n_heads = known["d_model"], known["n_heads"]
    if d_model % n_heads:
        what = f"`d_model` {d_model} is not a multiple of `n_heads` {n_heads}"
        raise FactError(what, remedy="Correct one of them, or give `head_dim`.")
    return int(d_model // n_heads)


def _num_classes(family: Family, known: Mapping[str, Any]) -> int:
    if "num_classes" in known:
        return int(known["num_classes"])
    objective = known.get("objective")
    predicts_tokens = objective is None or objective in _TOKEN_OBJECTIVES
    return 0 if family.causal or family.patches or predicts_tokens else 2


def _experts(family: Family, known: Mapping[str, Any]) -> Experts | None:
    if "n_experts" not in known:
        return None
    shared = known.get("shared_expert_d_ff", 0)
    gate = known.get("shared_expert_gate", family.traits.get("shared_expert_gate", False))
    return Experts(
        n_experts=known["n_experts"],
        experts_per_token=known["experts_per_token"],
        moe_d_ff=known.get("moe_d_ff", known.get("d_ff")),
        shared_expert_d_ff=shared,
        shared_expert_gate=bool(gate) and shared > 0,
        n_dense_layers=known.get("n_dense_layers", 0),
        moe_every=known.get("moe_every", 1),
        router_bias=bool(family.traits.get("router_bias", False)),
    )


def _latent(known: Mapping[str, Any]) -> LatentAttention | None:
    if "kv_lora_rank" not in known:
        return None
    return LatentAttention(known.get("q_lora_rank"), *(known[name] for name in _LATENT))


def _check(model: Architecture) -> None:
    experts = model.experts
    faults = {
        f"`n_layers` is {model.n_layers}; at most {MOST_LAYERS} are accepted": (
            model.n_layers > MOST_LAYERS
        ),
        f"`n_heads` {model.n_heads} is not a multiple of `n_kv_heads` {model.n_kv_heads}": (
            model.n_heads % model.n_kv_heads != 0
        ),
        f"`patch_size` {model.patch_size} exceeds `image_size` {model.image_size}": (
            model.patch_size is not None and model.patch_size > (model.image_size or 0)
        ),
        "`experts_per_token` exceeds `n_experts`": (
            experts is not None and experts.experts_per_token > experts.n_experts
        ),
        "`n_dense_layers` exceeds `n_layers`": (
            experts is not None and experts.n_dense_layers > model.n_layers
        ),
    }
    for fault, holds in faults.items():
        if holds:
            raise FactError(fault, remedy="Correct one of the two.")
