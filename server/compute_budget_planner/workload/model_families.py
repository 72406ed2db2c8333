"""What a family of models has in common: biases, norms, gating, tying, positions.

Widths and depths differ from model to model and are facts; what is listed here is the part of
the shape that the code of a family fixes and a name or a config file therefore leaves unsaid.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from compute_budget_planner.errors import FactError, nearest
from compute_budget_planner.guide.reference import spelling


@dataclass(frozen=True)
class Family:
    """Defaults of one family; `traits` are further fields of `Architecture` or `Experts`.

    `glu` None: the family does not fix it. `one_kv_head`: multi-query attention unless said.
    `experts` and `latent`: the facts of that part are essential and never assumed away.
    """

    name: str
    aliases: tuple[str, ...] = ()
    causal: bool = True
    glu: bool | None = True
    tied_embeddings: bool = False
    one_kv_head: bool = False
    experts: bool = False
    latent: bool = False
    patches: bool = False
    traits: Mapping[str, int | bool] = field(default_factory=dict)


_BIASED: dict[str, int | bool] = {
    "qkv_bias": True,
    "attention_out_bias": True,
    "mlp_bias": True,
    "norm_bias": True,
}
_BERT: dict[str, int | bool] = {**_BIASED, "embedding_norm": True, "final_norm": False}
_PARALLEL_BLOCK: dict[str, int | bool] = {"norms_per_layer": 1, "norm_bias": True}

_ALL = (
    Family("decoder", ("transformer", "gpt"), glu=None),
    Family(
        "gpt2",
        ("gpt-2", "nanogpt", "distilgpt2", "cerebras-gpt"),
        glu=False,
        tied_embeddings=True,
        traits={**_BIASED, "max_positions": 1024},
    ),
    Family(
        "gpt_neo",
        glu=False,
        tied_embeddings=True,
        traits={
            **_BIASED,
            "qkv_bias": False,
            "max_positions": 2048,
            "sliding_window": 256,
            "full_attention_every": 2,
        },
    ),
    Family(
        "gptj",
        ("gpt-j",),
        glu=False,
        traits={**_PARALLEL_BLOCK, "mlp_bias": True, "head_bias": True},
    ),
    Family("gpt_neox", ("neox", "pythia"), glu=False, traits=_BIASED),
    Family(
        "gpt_bigcode",
        ("starcoder", "santacoder"),
        glu=False,
        tied_embeddings=True,
        one_kv_head=True,
        traits={**_BIASED, "max_positions": 1024},
    ),
    Family("starcoder2", glu=False, tied_embeddings=True, traits=_BIASED),
    Family("opt", glu=False, tied_embeddings=True, traits={**_BIASED, "max_positions": 2050}),
    Family("bloom", glu=False, tied_embeddings=True, traits={**_BIASED, "embedding_norm": True}),
    Family("falcon", glu=False, tied_embeddings=True, one_kv_head=True, traits=_PARALLEL_BLOCK),
    Family("mpt", glu=False, tied_embeddings=True),
    Family(
        "llama",
        (
            "llama2",
            "llama3",
            "codellama",
            "vicuna",
            "tinyllama",
            "smollm",
            "smollm3",
            "yi",
            "internlm2",
        ),
    ),
    Family("mistral", ("ministral", "mistral3")),
    Family("mixtral", experts=True),
    Family("qwen2", ("qwen1.5", "qwen2.5"), traits={"qkv_bias": True}),
    Family("qwen3", traits={"qk_norm": True}),
    Family("qwen2_moe", experts=True, traits={"qkv_bias": True, "shared_expert_gate": True}),
    Family("qwen3_moe", experts=True, traits={"qk_norm": True}),
    Family("gemma", tied_embeddings=True),
    Family(
        "gemma2",
        tied_embeddings=True,
        traits={"norms_per_layer": 4, "sliding_window": 4096, "full_attention_every": 2},
    ),
    Family(
        "gemma3",
        ("gemma3_text",),
        tied_embeddings=True,
        traits={
            "norms_per_layer": 4,
            "qk_norm": True,
            "sliding_window": 1024,
            "full_attention_every": 6,
        },
    ),
    Family(
        "phi",
        ("phi1", "phi2", "phi-1.5"),
        glu=False,
        traits={**_BIASED, **_PARALLEL_BLOCK, "head_bias": True},
    ),
    Family("phi3", ("phi4",)),
    Family(
        "phimoe",
        experts=True,
        traits={
            "qkv_bias": True,
            "attention_out_bias": True,
            "norm_bias": True,
            "head_bias": True,
        },
    ),
    Family("olmo", traits={"norms_per_layer": 0, "final_norm": False}),
    Family("olmo2", ("olmo3",), traits={"qk_norm": True, "qk_norm_full_width": True}),
    Family("olmoe", experts=True, traits={"qk_norm": True, "qk_norm_full_width": True}),
    Family("stablelm", traits={"norm_bias": True}),
    Family("dbrx", experts=True),
    Family("deepseek", ("deepseek_moe",), experts=True),
    Family("deepseek_v2", experts=True, latent=True),
    # Its router adds a bias per expert to balance their load (arXiv:2412.19437 §2.1.2).
    Family(
        "deepseek_v3",
        ("deepseek_r1", "kimi_k2"),
        experts=True,
        latent=True,
        traits={"router_bias": True},
    ),
    Family(
        "gpt_oss",
        experts=True,
        traits={
            "qkv_bias": True,
            "attention_out_bias": True,
            "mlp_bias": True,
            "router_bias": True,
            "attention_sinks": True,
            "sliding_window": 128,
            "full_attention_every": 2,
        },
    ),
    Family(
        "bert",
        ("encoder",),
        causal=False,
        glu=False,
        tied_embeddings=True,
        traits={**_BERT, "max_positions": 512, "token_types": 2, "pooler": True},
    ),
    Family(
        "roberta",
        ("xlm-roberta", "camembert"),
        causal=False,
        glu=False,
        tied_embeddings=True,
        traits={**_BERT, "max_positions": 514, "token_types": 1, "pooler": True},
    ),
    Family(
        "distilbert",
        causal=False,
        glu=False,
        tied_embeddings=True,
        traits={**_BERT, "max_positions": 512},
    ),
    Family(
        "electra",
        causal=False,
        glu=False,
        tied_embeddings=True,
        traits={**_BERT, "max_positions": 512, "token_types": 2},
    ),
    # Its embedding norm stands in for the missing attention norm of the first layer.
    Family(
        "modernbert",
        causal=False,
        tied_embeddings=True,
        traits={"sliding_window": 128, "full_attention_every": 3},
    ),
    Family("vit", ("deit",), causal=False, glu=False, patches=True, traits=_BIASED),
)

FAMILIES: Mapping[str, Family] = {family.name: family for family in _ALL}

_BY_SPELLING = {spelling(word): f for f in _ALL for word in (f.name, *f.aliases)}


def find_family(name: str) -> Family | None:
    """Return the family of that name or alias, None when it is not known."""
    return _BY_SPELLING.get(spelling(name))


def family_named(name: str) -> Family:
    """Return the family of that name or alias.

    Raises:
        FactError: the family is unknown, so its shape cannot be counted.
    """
    family = find_family(name)
    if family is None:
        what = f"`model_family` is {name[:60]!r}, whose layers are not known here"
        raise FactError(
            what,
            remedy=nearest(name, FAMILIES)
            + " A plain decoder is `decoder`; for anything else give `params_total` and"
            " `flops_per_sample_forward`.",
        )
    return family
