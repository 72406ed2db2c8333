"""What the layers store for the backward pass."""

import pytest
from memory_of import ONE, stored_bytes_per_element


def test_the_classic_shape_stores_34_bytes_per_element() -> None:
    # Korthikanti et al. 2022, equation 1 without the scores: 34·s·b·h per layer.
    facts = {**ONE, "model": None, "model_family": "gpt2", "n_layers": 24, "d_model": 2048}
    facts |= {"n_heads": 16, "vocab_size": 50_257, "framework": "megatron"}
    assert stored_bytes_per_element(**facts) == pytest.approx(34)
    # Equation 2 with t = 8 and sequence parallelism: an eighth.
    split = {**facts, "n_gpus": 8, "tp": 8}
    assert stored_bytes_per_element(**split) == pytest.approx(34 / 8)


def test_what_llama_3_stores_grows_from_full_to_selective_to_compiled_to_eager() -> None:
    # pytorch/ao float8nocompile, Llama-3-8B, 8 × H100, one sequence of 4,096: without
    # checkpointing 53.1 GiB eager and 46.6 compiled, 28.1 with full checkpointing. 31 layers
    # times 4,096 × 4,096 elements lie between: 54 and 40 bytes per element more.
    facts = {"model": "llama-3-8b", "sharding": "fsdp", "seq_len": 4096, "micro_batch_size": 1}
    eager = stored_bytes_per_element(**facts)
    compiled = stored_bytes_per_element(**facts, compile=True)
    assert eager == pytest.approx(54, rel=0.05)
    assert compiled == pytest.approx(40, rel=0.12)
    # pytorch/torchtitan, December 2024: 15 bytes with its per-operation checkpointing.
    selective = stored_bytes_per_element(**facts, activation_checkpointing="selective")
    assert selective == pytest.approx(15, rel=0.05)
    assert stored_bytes_per_element(**facts, activation_checkpointing="full") == 2


def test_selective_checkpointing_of_megatron_recomputes_the_attention_core_alone() -> None:
    facts = {"model": "gpt2-xl", "seq_len": 1024, "micro_batch_size": 1, "framework": "megatron"}
    flash = stored_bytes_per_element(**facts, attention="flash")
    selective = stored_bytes_per_element(
        **facts, attention="eager", activation_checkpointing="selective"
    )
    assert selective == flash
    assert stored_bytes_per_element(**facts, attention="eager") > flash


def test_pipeline_stages_store_as_many_micro_batches_as_are_in_flight() -> None:
    facts = {"model": "llama-2-7b", "n_gpus": 8, "sharding": "zero1", "micro_batch_size": 1}
    alone = stored_bytes_per_element(**facts)
    for accumulated, share in ((1, 1 / 4), (2, 2 / 4), (8, 1.0)):
        staged = stored_bytes_per_element(**facts, pp=4, grad_accum_steps=accumulated)
        assert staged == pytest.approx(alone * share)
