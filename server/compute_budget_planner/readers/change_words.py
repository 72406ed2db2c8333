"""The words in which people name what an ablation changes, beside option names and facts."""

from compute_budget_planner.guide.reference import Reference, spelling
from compute_budget_planner.readers.option_values import fact_of_key, option_key
from compute_budget_planner.workload.vocabulary import VOCABULARY

_PLAIN_WORDS = {
    word.strip(): fact.strip()
    for line in """
    n_layers: layers; depth; number of layers; transformer layers
    d_model: hidden; hidden dim; hidden dimension; hidden width; model dim; model width; embed dim
    n_heads: heads; number of heads; attention heads
    n_kv_heads: kv heads; key value heads
    d_ff: ffn size; ffn width; ffn hidden size; mlp dim; mlp width; feed forward width
    seq_len: context; context size; context window; sequence
    image_size: image resolution; images size; input resolution
    max_steps: training steps; optimizer steps; number of steps
    epochs: epoch; training epochs; number of epochs
    train_tokens: tokens; training tokens; token budget
    dataset_examples: examples; training examples; training images; training samples
    learning_rate: peak learning rate; max learning rate
    vocab_size: vocab; vocabulary; vocabulary size
    n_experts: experts; number of experts
    experts_per_token: active experts; top k experts
    params_total: params; parameters
    patch_size: patch
    n_gpus: gpus; gpu count
    micro_batch_size: micro batch; per device batch; batch per gpu
    global_batch_size: global batch; effective batch; total batch; total batch size
    grad_accum_steps: accumulation
    activation_checkpointing: gradient checkpointing; activation recomputation
    compile: torch.compile; model compilation
    packing: sequence packing
    tied_embeddings: weight tying; tied embeddings
    fused_loss: fused cross entropy
    """.strip().splitlines()
    for fact, _, words in (line.partition(":"),)
    for word in words.split(";")
}
BATCH_WORDS = {"batch", "batch size", "bs", "batchsize", "train batch size"}
"""A batch nobody says of which: per device or of the whole job."""

DATA_WORDS = {
    *("data", "dataset", "data set", "training data", "training set", "train set", "train data"),
    *("examples", "training examples", "subset", "data subset", "corpus", "data size"),
    *("dataset size", "data fraction", "subset of data", "training subset"),
}

ACTIVATION_WORDS = {"activation", "activation function", "hidden act", "mlp", "ffn", "mlp type"}
ACTIVATIONS = {
    **dict.fromkeys(("swiglu", "geglu", "reglu", "glu"), True),
    **dict.fromkeys(("gelu", "relu", "silu", "swish", "relu2", "squared relu"), False),
}
"""Activation → is the feed-forward part gated (Shazeer, arXiv:2002.05202)."""

COST_WORDS = {
    *("cost", "compute", "cost multiplier", "multiplier", "gpu hours", "gpu-hours", "flops"),
    *("training cost", "training time", "total cost", "compute cost", "cost factor"),
}

_IMPLYING = ("precision", "optimizer", "method", "objective", "quantization", "attention")
_NO_PART_OF_A_CHANGE = ("limits", "measured")
_OWN_COLUMNS = {"seeds", "tuning_trials", "deadline"}


def fact_of_words(words: str) -> str | None:
    """Return the fact that words name (`hidden size`, `lr`, `train.seq_len`), or None.

    Limits, measurements, seeds and trials are no part of what a variant changes.
    """
    plain = " ".join(words.lower().replace("-", " ").replace("_", " ").split())
    key = option_key(plain.replace(" ", "_"))
    fact = key if key in VOCABULARY else _PLAIN_WORDS.get(plain) or fact_of_key(key, "")
    if fact is None or fact in _OWN_COLUMNS or VOCABULARY[fact].group in _NO_PART_OF_A_CHANGE:
        return None
    return fact


def implied_fact(value: str, reference: Reference, instead_of: str = "") -> str | None:
    """Return the one enumerated fact a value belongs to: `AdamW` is an optimizer.

    Alone, a value must be canonical or a spelling of several parts or with a digit, for words
    such as `half` and `full` say nothing. With the value it replaces, both must belong to the
    same fact.
    """
    word, other = spelling(value), spelling(instead_of)
    known = {fact: reference.choices.get(fact, {}) for fact in (*_IMPLYING, "sharding")}
    if other:
        both = [fact for fact, words in known.items() if {word, other} <= words.keys()]
        return both[0] if len(both) == 1 else None
    telling = [fact for fact in _IMPLYING if word in known[fact]]
    if len(telling) != 1 or word.isdigit():
        return None
    speaks = "-" in word or any(letter.isdigit() for letter in word)
    return telling[0] if speaks or known[telling[0]][word] == word else None
