"""A plausible shape for a language model of which only the size is known."""

from collections.abc import Iterator
from typing import NamedTuple

from compute_budget_planner.errors import FactError
from compute_budget_planner.workload.architecture import Architecture

TYPICAL_VOCAB_SIZE = 32_000
"""Rows of the LLaMA vocabulary (arXiv:2302.13971)."""

_WIDEST = 32_768
_TIED_UP_TO = 1536
_UNTIED_FROM = 1024


def typical_architecture(params_total: int, vocab_size: int = TYPICAL_VOCAB_SIZE) -> Architecture:
    """Return the LLaMA-like shape whose parameters come nearest to `params_total`.

    The shapes to choose from do not depend on the wish, so a larger wish never gives a smaller
    model. Widths are multiples of 32, 64 from 512 and 128 from 1024 on; width over depth grows
    from 64 at 768 to 128 at 4096 as in GPT-3 (arXiv:2005.14165, table 2.1) and LLaMA, give or
    take 15 % or three layers. Embeddings may be tied up to width 1536 and untied from 1024 on.

    Raises:
        FactError: no such shape comes within 5 %.
    """
    best = min(
        (_shape(d_model, n_layers, tied, vocab_size) for d_model, n_layers, tied in _choices()),
        key=lambda shape: (abs(shape.parameters - params_total), shape.parameters),
    )
    if abs(best.parameters - params_total) > 0.05 * params_total:
        size = f"{params_total} parameters and a vocabulary of {vocab_size}"
        raise FactError(
            "no usual language model has " + size,
            remedy="Give its shape (`n_layers`, `d_model`, `n_heads`, `vocab_size`), or"
            " `flops_per_sample_forward`.",
        )
    head_dim = next(width for width in (128, 64, 32) if best.d_model >= 8 * width or width == 32)
    n_heads = best.d_model // head_dim
    return Architecture(
        family="llama",
        n_layers=best.n_layers,
        d_model=best.d_model,
        n_heads=n_heads,
        n_kv_heads=n_heads,
        head_dim=head_dim,
        d_ff=_d_ff(best.d_model),
        glu=True,
        vocab_size=vocab_size,
        tied_embeddings=best.tied,
        causal=True,
    )


class _Shape(NamedTuple):
    parameters: int
    d_model: int
    n_layers: int
    tied: bool


def _choices() -> Iterator[tuple[int, int, bool]]:
    for d_model in _widths():
        for n_layers in _depths(d_model):
            if d_model <= _TIED_UP_TO:
                yield d_model, n_layers, True
            if d_model >= _UNTIED_FROM:
                yield d_model, n_layers, False


def _widths() -> list[int]:
    return [
        *range(32, 512, 32),
        *range(512, 1024, 64),
        *range(1024, 8192, 128),
        *range(8192, _WIDEST + 1, 512),
    ]


def _depths(d_model: int) -> range:
    ratio = min(128.0, max(32.0, 64 + (d_model - 768) * 64 / 3328))
    usual = d_model / ratio
    spread = max(3.0, 0.15 * usual)
    return range(max(1, round(usual - spread)), round(usual + spread) + 1)


def _d_ff(d_model: int) -> int:
    return -(-8 * d_model // (3 * 64)) * 64


def _shape(d_model: int, n_layers: int, tied: bool, vocab_size: int) -> _Shape:
    tables = vocab_size * d_model * (1 if tied else 2)
    layer = 4 * d_model * d_model + 3 * d_model * _d_ff(d_model) + 2 * d_model
    return _Shape(tables + n_layers * layer + d_model, d_model, n_layers, tied)
