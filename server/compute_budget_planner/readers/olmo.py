"""OLMo's own trainer (allenai/OLMo).

`mlp_hidden_size` and `mlp_ratio` count both halves of a gated unit, so its width is half of them
(`ModelConfig`, `Activation.output_multiplier`). The embedding has `embedding_size` rows. A
scheduler's `t_max` is no length of training.
"""

from compute_budget_planner.readers.config_reading import Spelling
from compute_budget_planner.readers.direct_facts import DirectValue
from compute_budget_planner.readers.framework_reader import FrameworkReader, Settings, has_keys

_WIDTHS = ("model.mlp_hidden_size", "model.mlp_ratio")
_DEFAULT_MLP_RATIO = 4


def _spelling(settings: Settings) -> Spelling:
    moe = settings.text("model.block_type") == "moe"
    width = _feed_forward_width(settings)
    return Spelling(
        "olmo",
        "olmo",
        own=[
            settings.give("vocab_size", "model.embedding_size", "model.vocab_size"),
            settings.give("tied_embeddings", "model.weight_tying"),
            settings.give("n_kv_heads", "model.n_kv_heads"),
            settings.give("n_experts", "model.moe_num_experts"),
            settings.give("experts_per_token", "model.moe_top_k"),
            settings.give("seq_len", "model.max_sequence_length"),
            settings.give("framework_drop_last", "data.drop_last"),
        ],
        derived=[
            settings.say("d_ff", width, *_WIDTHS),
            settings.say("moe_d_ff", width if moe else None, *_WIDTHS),
            settings.say("glu", _gated(settings), "model.activation_type"),
            settings.say("model_family", _family(settings, moe=moe), "model.block_type", "model"),
            _sharding(settings),
        ],
        left_out=("evaluators", "scheduler", "data.paths", "wandb"),
        dropped=frozenset({"sharding"}),
    )


def _gated(settings: Settings) -> bool:
    return settings.text("model.activation_type").lower() in ("swiglu", "geglu", "")


def _feed_forward_width(settings: Settings) -> int | None:
    whole, width = settings.whole("model.mlp_hidden_size"), settings.whole("model.d_model")
    if whole is None and width is not None:
        whole = (settings.whole("model.mlp_ratio") or _DEFAULT_MLP_RATIO) * width
    if whole is None:
        return None
    return whole // 2 if _gated(settings) else whole


def _family(settings: Settings, *, moe: bool) -> str:
    if moe:
        return "olmoe"
    reordered = settings.scalar("model.norm_after") is True
    return "olmo2" if reordered and settings.scalar("model.attention_layer_norm") else "olmo"


def _sharding(settings: Settings) -> DirectValue:
    """FSDP unless the file names another strategy; older files have the `fsdp` block alone."""
    strategy = settings.text("distributed_strategy").lower()
    if strategy in ("fsdp", "ddp"):
        return settings.say("sharding", strategy, "distributed_strategy")
    return settings.say("sharding", "fsdp" if settings.node("fsdp") else None, "fsdp")


READER = FrameworkReader(
    "olmo",
    has_keys("max_duration", "global_train_batch_size", "model.d_model", "tokenizer.identifier"),
    _spelling,
)
