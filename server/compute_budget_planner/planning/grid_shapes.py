"""A real architecture of the same family for a wanted number of parameters.

Depth and width grow together, so that the ratio of width to depth stays that of the model the
grid is made from; head width, gating, sharing of key-value heads, vocabulary and tying stay as
they are. What is rounded is rounded to multiples that hardware and parallelism like.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from compute_budget_planner.errors import RequestError
from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.numbers import brief
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.facts import FactValue

_FEWEST_HEADS = 4
_NARROWEST_HEAD = 16
_WIDTH_MULTIPLE = 64
_LARGEST_PARAMS = 1e14
_MOST_WIDTHS = 200
_OF_ASPECT = 0.1
"""What a deviation in width over depth weighs against one in parameters (both logarithms)."""


def shape_near(
    arch: Architecture, params: float, heads_multiple: int = 1, layers_multiple: int = 1
) -> Architecture:
    """Return the shape of `arch`'s family whose parameters come nearest to `params`.

    Heads are a multiple of `heads_multiple` (tensor parallel), layers of `layers_multiple`
    (pipeline). The model itself comes back when its own size is wanted.

    Raises:
        RequestError: the family has no such model (its embeddings alone are larger), or nobody has.
    """
    if params > _LARGEST_PARAMS:
        raise RequestError(
            f"a cell would have {brief(params)} parameters",
            where="cells",
            remedy=f"At most {brief(_LARGEST_PARAMS)} are planned for: ask for less.",
        )
    own = count_parameters(arch).total
    if abs(params / own - 1) < 1e-3:
        return arch
    aspect = arch.d_model / arch.n_layers
    candidates = _candidates(arch, params, heads_multiple, layers_multiple)

    def distance(shape: Architecture) -> float:
        size = abs(math.log(count_parameters(shape).total / params))
        return size + _OF_ASPECT * abs(math.log(shape.d_model / shape.n_layers / aspect))

    best = min(candidates, key=distance)
    if count_parameters(best).total > 2 * params:
        raise RequestError(
            f"no model of the family `{arch.family}` is as small as {brief(params)} parameters",
            where="cells",
            remedy=f"A vocabulary of {arch.vocab_size:,} needs a larger budget or fewer rows.",
        )
    return best


def shape_facts(arch: Architecture) -> dict[str, FactValue]:
    """Return the facts that tell this shape from others of its family."""
    facts: dict[str, FactValue] = {
        "model_family": arch.family,
        "params_total": count_parameters(arch).total,
        "n_layers": arch.n_layers,
        "d_model": arch.d_model,
        "n_heads": arch.n_heads,
        "n_kv_heads": arch.n_kv_heads,
        "head_dim": arch.head_dim,
        "d_ff": arch.d_ff,
        "glu": arch.glu,
        "tied_embeddings": arch.tied_embeddings,
    }
    if arch.vocab_size:
        facts["vocab_size"] = arch.vocab_size
    if arch.experts is not None:
        facts["params_active"] = count_parameters(arch).active
        facts["moe_d_ff"] = arch.experts.moe_d_ff
        facts["n_dense_layers"] = arch.experts.n_dense_layers
        if arch.experts.shared_expert_d_ff:
            facts["shared_expert_d_ff"] = arch.experts.shared_expert_d_ff
    return facts


def _candidates(
    arch: Architecture, params: float, heads_multiple: int, layers_multiple: int
) -> Iterator[Architecture]:
    """Yield shapes around the wanted size: every sensible width with two depths each."""
    outside = (arch.vocab_size * (1 if arch.tied_embeddings else 2)) * arch.d_model
    inside = max(1, count_parameters(arch).total - outside)
    scale = (params / inside) ** (1 / 3)
    head_dim = arch.head_dim
    while head_dim > _NARROWEST_HEAD and arch.d_model * scale < _FEWEST_HEADS * head_dim:
        head_dim //= 2
    per_width = arch.n_heads * arch.head_dim / arch.d_model
    middle = arch.d_model * scale * per_width / head_dim / heads_multiple
    fewest, most = max(1, math.floor(middle / 3)), math.ceil(middle * 1.6) + 1
    for shares in range(fewest, most + 1, 1 + (most - fewest) // _MOST_WIDTHS):
        heads = shares * heads_multiple
        multiple = head_dim if per_width == 1 else min(head_dim, _WIDTH_MULTIPLE)
        d_model = _nearest(heads * head_dim / per_width, multiple)
        thin = _with_width(arch, d_model, heads, head_dim)
        for blocks in _depths(thin, params, layers_multiple):
            yield _with_depth(thin, blocks * layers_multiple)


def _depths(arch: Architecture, params: float, multiple: int) -> set[int]:
    """Return the two depths between which `params` lie, in blocks of `multiple` layers."""
    # Sparse models begin with dense layers, so what one more layer adds is seen deep inside.
    period = multiple * (arch.experts.moe_every if arch.experts is not None else 1)
    deep = period * math.ceil((arch.n_layers + 1) / period)
    here = count_parameters(_with_depth(arch, deep)).total
    added = count_parameters(_with_depth(arch, deep + period)).total - here
    blocks = (deep + (params - here) / added * period) / multiple
    return {max(1, math.floor(blocks)), max(1, math.ceil(blocks))}


def _with_depth(arch: Architecture, n_layers: int) -> Architecture:
    experts = arch.experts
    if experts is not None:
        experts = replace(experts, n_dense_layers=min(experts.n_dense_layers, n_layers - 1))
    return replace(arch, n_layers=n_layers, experts=experts)


def _with_width(arch: Architecture, d_model: int, heads: int, head_dim: int) -> Architecture:
    """Return the model at another width; every other width keeps its ratio to it."""
    ratio = d_model / arch.d_model

    def scaled(width: int) -> int:
        return _nearest(width * ratio, _WIDTH_MULTIPLE if d_model >= 256 else 16)

    experts = arch.experts
    if experts is not None:
        shared = experts.shared_expert_d_ff
        experts = replace(
            experts,
            moe_d_ff=scaled(experts.moe_d_ff),
            shared_expert_d_ff=scaled(shared) if shared else 0,
        )
    whole_multiple = arch.d_ff % arch.d_model == 0
    return replace(
        arch,
        d_model=d_model,
        n_heads=heads,
        n_kv_heads=_key_value_heads(arch, heads),
        head_dim=head_dim,
        d_ff=d_model * (arch.d_ff // arch.d_model) if whole_multiple else scaled(arch.d_ff),
        experts=experts,
    )


def _key_value_heads(arch: Architecture, heads: int) -> int:
    """Return the largest divisor of `heads` that shares keys and values at least as widely."""
    if arch.n_kv_heads == 1:
        return 1
    most = max(1, heads * arch.n_kv_heads // arch.n_heads)
    return next(count for count in range(most, 0, -1) if heads % count == 0)


def _nearest(width: float, multiple: int) -> int:
    return max(1, round(width / multiple)) * multiple
